// The three faces on ports of their own: `npm start`. Settings come from the environment.
import { serve } from '@hono/node-server'
import { createPosthorn, type Options } from 'posthorn'
import { eventValidation } from 'posthorn/event-validation'
import { functionPlugin } from 'posthorn/function'

const env = process.env
const port = (name: string, byDefault: number) => Number(env[name] ?? byDefault)
const bytes = (name: string) => (env[name] === undefined ? {} : { maxBodyBytes: Number(env[name]) })

const engines: string[] = []
const closing: (() => Promise<unknown>)[] = []
let engine: Pick<Options, 'storage' | 'queue' | 'inbox' | 'limiter'> = {}

if (env.REDIS_URL) {
  const { openRedis } = await import('posthorn/redis')
  const store = await openRedis(env.REDIS_URL) // closed by posthorn.stop()
  engine = env.DATABASE_URL ? { queue: store.queue, inbox: store.inbox, limiter: store.limiter } : { storage: store }
  engines.push('redis')
}
if (env.DATABASE_URL) {
  const { openPostgres } = await import('posthorn/postgres')
  const storage = openPostgres(env.DATABASE_URL, { max: 20 })
  await storage.migrate()
  engine = { ...engine, storage }
  engines.unshift('postgres')
}

const posthorn = createPosthorn({
  ...engine,
  // A page of the web can give its own name our address; under that name nothing is answered.
  admin: { ...bytes('MAX_ADMIN_BODY_BYTES'), allowedHosts: ['127.0.0.1', 'localhost'] },
  gateway: bytes('MAX_BODY_BYTES'),
  deliver: env.DENY === undefined ? {} : { deny: env.DENY.split(',').filter((rule) => rule !== '') },
  ...(env.POSTHORN_COMPATIBLE && { compatible: env.POSTHORN_COMPATIBLE as 'webhookx' }), // anything else is an error
  plugins: [eventValidation(), functionPlugin()],
})
await posthorn.start()

const faces = [
  { name: 'admin', handler: posthorn.admin, port: port('PORT_ADMIN', 9601) },
  { name: 'gateway', handler: posthorn.gateway, port: port('PORT_GATEWAY', 9600) },
  { name: 'status', handler: posthorn.statusHandler, port: port('PORT_STATUS', 9602) },
]
console.log(`Posthorn on ${engines.length > 0 ? engines.join(' and ') : 'memory: nothing survives a restart'}`)
const servers = faces.map(({ name, handler, port }) =>
  serve({ fetch: (request) => handler.fetch(request), hostname: '127.0.0.1', port }, (address) =>
    console.log(`${name.padEnd(8)} http://127.0.0.1:${address.port}`),
  ),
)

let stopping = false
async function stop() {
  if (stopping) return
  stopping = true
  // No new requests; those being answered end, or are cut off with the process after ten seconds.
  setTimeout(() => process.exit(0), 9_500).unref()
  for (const server of servers) server.close()
  await posthorn.stop({ timeoutMs: 8_000 })
  for (const close of closing) await close()
  process.exit(0)
}
process.on('SIGTERM', () => void stop())
process.on('SIGINT', () => void stop())
