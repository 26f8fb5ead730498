// A shop that writes an order and tells of it in one transaction. Kill it whenever you like: there is never an order
// without its event, nor an event without its order. Deliveries go on when a worker starts again.
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres } from 'posthorn/postgres'

const orders = Number(process.env['ORDERS'] ?? 10)
const counters = 4
let placed = 0

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool)
// Of several that start at once, one makes the table: "if not exists" alone lets two collide.
await pool.query(`
  begin;
  select pg_advisory_xact_lock(6474);
  create table if not exists orders (id bigint generated always as identity primary key, total integer);
  commit`)
const posthorn = createPosthorn({ storage: postgres(pool) })

async function placeOrder(total: number) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: string }>('insert into orders (total) values ($1) returning id', [total])
    const bound = posthorn.using(client)
    await bound.events.create('default', {
      event_type: 'order.created',
      data: { id: Number(rows[0]!.id), total },
      unique_id: `order-${rows[0]!.id}`,
    })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

async function serveCustomers() {
  while (placed < orders) {
    await placeOrder(100)
    console.log(`order ${++placed}`)
  }
}

await Promise.all(Array.from({ length: counters }, serveCustomers))
await pool.end()
