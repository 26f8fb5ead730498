// Express 5, with @hono/node-server to make a Request of what Node gives.
// oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 handles their rejections
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { createPosthorn } from 'posthorn'

import { isOperator } from './auth.ts'

const posthorn = createPosthorn({ admin: { basePath: '/admin' }, gateway: { basePath: '/in' } })
await posthorn.start()

const app = express()
// Before any body parser, since Posthorn reads bodies itself; by `all`, since `use` would cut the prefix off.
app.all('/in/*path', getRequestListener(posthorn.gateway.fetch, { overrideGlobalObjects: false }))
app.all(
  ['/admin', '/admin/*path'],
  async (request, response, next) => {
    if (await isOperator(request.headers.authorization, process.env['ADMIN_TOKEN'])) next()
    else response.sendStatus(401)
  },
  getRequestListener(posthorn.admin.fetch, { overrideGlobalObjects: false }),
)
app.use(express.json())
app.get('/status', async (_, response) => {
  response.json(await posthorn.status())
})
app.post('/orders', async (request, response) => {
  const event = await posthorn.events.create('default', { event_type: 'order.created', data: request.body as object })
  response.status(201).json({ event: event.id })
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once('SIGTERM', () => {
  server.close()
  void posthorn.stop()
})
