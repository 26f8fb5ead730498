// Publishing inside a transaction of Kysely: the order and its event are both there, or neither.
import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres, type PostgresClient } from 'posthorn/postgres'

interface Shop {
  orders: { id: number }
}

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool)
await pool.query('create table if not exists orders (id integer primary key)')

const db = new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) })
const posthorn = createPosthorn({ storage: postgres(pool) })

const through = (tx: Transaction<Shop>): PostgresClient => ({
  query: (text, values) => tx.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values)),
})

async function placeOrder(id: number) {
  await db.transaction().execute(async (tx) => {
    await tx.insertInto('orders').values({ id }).execute()
    await posthorn.using(through(tx)).events.create('default', { event_type: 'order.created', data: { id } })
  })
}

await placeOrder(1)
await placeOrder(1).catch((error: Error) => console.log(error.message))
console.log(`events: ${(await posthorn.events.list('default')).data.length}`)
await pool.end()
