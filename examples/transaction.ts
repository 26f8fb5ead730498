// An order and its event in one transaction: both are there, or neither.
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres } from 'posthorn/postgres'

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool)
await pool.query('create table if not exists orders (id integer primary key)')
const posthorn = createPosthorn({ storage: postgres(pool) })

async function placeOrder(id: number) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('insert into orders (id) values ($1)', [id])
    await posthorn.using(client).events.create('default', { event_type: 'order.created', data: { id } })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

await placeOrder(1)
await placeOrder(1).catch((error: Error) => console.log(error.message))
const events = await posthorn.events.list('default')
console.log(`events: ${events.data.length}`)
await pool.end()
