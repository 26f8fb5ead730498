// Functions that live as long as a request: publish and deliver before the answer, and let a schedule do the retries.
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres } from 'posthorn/postgres'

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 2,
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool) // or in a step of your deployment
const posthorn = createPosthorn({ storage: postgres(pool, { listen: false }) })

/** Answers when the event is stored and all that was due has been tried once. */
export async function POST(request: Request): Promise<Response> {
  const data = (await request.json()) as object
  const event = await posthorn.events.create('default', { event_type: 'order.created', data })
  await posthorn.drain()
  return Response.json({ event: event.id }, { status: 201 })
}

/** To be called each minute. What it does not get done within its budget, the next call does. */
export async function scheduled() {
  return await posthorn.tick({ budgetMs: 20_000 })
}
