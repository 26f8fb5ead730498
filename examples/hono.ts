// Hono: its handlers take the same Request that Posthorn takes.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { createPosthorn } from 'posthorn'

import { isOperator } from './auth.ts'

const posthorn = createPosthorn({ admin: { basePath: '/admin' }, gateway: { basePath: '/in' } })
await posthorn.start()

const app = new Hono()
app.use('/admin/*', bearerAuth({ verifyToken: (token) => isOperator(`Bearer ${token}`, process.env['ADMIN_TOKEN']) }))
app.all('/admin/*', (context) => posthorn.admin.fetch(context.req.raw))
app.all('/in/*', (context) => posthorn.gateway.fetch(context.req.raw))
app.get('/status', async (context) => context.json(await posthorn.status()))

const port = Number(process.env['PORT'] ?? 3000)
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) => {
  console.log(`http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => {
  server.close()
  void posthorn.stop()
})
