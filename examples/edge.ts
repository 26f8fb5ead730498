// A Cloudflare Worker: requests come to `fetch`, and a cron trigger (`crons = ["* * * * *"]`) delivers what is due.
// Memory is that of one isolate and for trying out; a real one passes `storage`, Redis or PostgreSQL over TCP.
import { createPosthorn, type Posthorn } from 'posthorn'

import { isOperator } from './auth.ts'

interface Env {
  readonly ADMIN_TOKEN: string
}

// Made at the first request: Workers have neither clock nor randomness before it.
let made: Posthorn | undefined
const instance = () => (made ??= createPosthorn({ admin: { basePath: '/admin' }, gateway: { basePath: '/in' } }))

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const posthorn = instance()
    const { pathname } = new URL(request.url)
    if (pathname === '/status') return Response.json(await posthorn.status())
    if (pathname.startsWith('/in/')) return await posthorn.gateway.fetch(request)
    if (!pathname.startsWith('/admin/')) return new Response('Not found', { status: 404 })
    if (!(await isOperator(request.headers.get('authorization'), env.ADMIN_TOKEN))) {
      return new Response('Unauthorized', { status: 401 })
    }
    return await posthorn.admin.fetch(request)
  },

  async scheduled() {
    const { delivered, failed, remaining } = await instance().tick({ budgetMs: 20_000 })
    console.log(`delivered ${delivered}, failed ${failed}, remaining ${remaining}`)
  },
}
