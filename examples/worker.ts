// A process that only delivers. Others on the same database publish and answer HTTP, and never call `start`.
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres } from 'posthorn/postgres'

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
pool.on('error', (error) => console.error(error.message))
await migrate(pool)

const posthorn = createPosthorn({ storage: postgres(pool) })
posthorn.on('exhausted', ({ attempt }) => {
  console.log(`gave up on event ${attempt.event_id}: ${attempt.error_message ?? attempt.response?.status}`)
})
await posthorn.start()
console.log('delivering')

process.once('SIGTERM', () => void posthorn.stop().then(() => pool.end()))
