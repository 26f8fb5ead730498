// Plain node:http, with @hono/node-server to make a Request of what Node gives.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { createPosthorn } from 'posthorn'

import { isOperator } from './auth.ts'

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

const listener = getRequestListener(handle)
const server = createServer((request, response) => void listener(request, response))
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once('SIGTERM', () => {
  server.close()
  void posthorn.stop()
})
