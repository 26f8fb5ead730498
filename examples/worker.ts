// A process that only delivers. Others on the same database publish and answer HTTP, and never call `start`.
import { createPosthorn } from 'posthorn'
import { openPostgres } from 'posthorn/postgres'

const storage = openPostgres(process.env['DATABASE_URL'] ?? '', { max: 10 })
await storage.migrate()

const posthorn = createPosthorn({ storage })
posthorn.on('exhausted', ({ attempt }) => {
  console.log(`gave up on event ${attempt.event_id}: ${attempt.error_message ?? attempt.response?.status}`)
})
await posthorn.start()
console.log('delivering')

process.once('SIGTERM', () => void posthorn.stop())
