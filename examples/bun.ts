// Bun.serve takes the handlers as they are: `bun` this file.
import { createPosthorn } from 'posthorn'

import { isOperator } from './auth.ts'

declare const Bun: { serve(options: object): { port: number; stop(): Promise<void> } } // of the runtime's own types

const posthorn = createPosthorn({ admin: { basePath: '/admin' }, gateway: { basePath: '/in' } })
await posthorn.start()

async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/status') return Response.json(await posthorn.status())
  if (pathname.startsWith('/in/')) return await posthorn.gateway.fetch(request)
  if (!pathname.startsWith('/admin/')) return new Response('Not found', { status: 404 })
  if (!(await isOperator(request.headers.get('authorization'), process.env['ADMIN_TOKEN']))) {
    return new Response('Unauthorized', { status: 401 })
  }
  return await posthorn.admin.fetch(request)
}

const server = Bun.serve({ hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000), fetch: handle })
console.log(`http://127.0.0.1:${server.port}`)
