// Fastify 5, with @hono/node-server to make a Request of what Node gives.
import { getRequestListener } from '@hono/node-server'
import fastify from 'fastify'
import { createPosthorn, type Handler } from 'posthorn'

import { isOperator } from './auth.ts'

const posthorn = createPosthorn({ admin: { basePath: '/admin' }, gateway: { basePath: '/in' } })
await posthorn.start()

const app = fastify()
app.get('/status', () => posthorn.status())
app.post('/orders', async (request, reply) => {
  const event = await posthorn.events.create('default', { event_type: 'order.created', data: request.body as object })
  return await reply.code(201).send({ event: event.id })
})

/** A scope of its own, since there Posthorn reads the bodies itself. */
function mount(path: string, handler: Handler, guarded: boolean) {
  const listener = getRequestListener(handler.fetch, { overrideGlobalObjects: false })
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    if (guarded) {
      scope.addHook('onRequest', async (request, reply) => {
        const ok = await isOperator(request.headers.authorization, process.env['ADMIN_TOKEN'])
        return ok ? undefined : await reply.code(401).send({ message: 'Unauthorized' })
      })
    }
    scope.all(path, async (request, reply) => {
      reply.hijack()
      await listener(request.raw, reply.raw)
    })
  })
}
mount('/admin/*', posthorn.admin, true)
mount('/in/*', posthorn.gateway, false)
app.addHook('onClose', () => posthorn.stop())

console.log(await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' }))
process.once('SIGTERM', () => void app.close())
