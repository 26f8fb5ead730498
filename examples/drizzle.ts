// Publishing inside a transaction of Drizzle: the order and its event are both there, or neither.
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres, type PostgresClient } from 'posthorn/postgres'

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool)
await pool.query('create table if not exists orders (id integer primary key)')

const db = drizzle(pool)
const orders = pgTable('orders', { id: integer().primaryKey() })
const posthorn = createPosthorn({ storage: postgres(pool) })

/** Drizzle takes no text with $1, $2, ... beside its values, so they are put into their places again. */
const through = (tx: Pick<typeof db, 'execute'>): PostgresClient => ({
  query: (text, values) =>
    tx.execute(
      sql.join(
        text.split(/\$(\d+)/).map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1]))),
      ),
    ),
})

async function placeOrder(id: number) {
  await db.transaction(async (tx) => {
    await tx.insert(orders).values({ id })
    await posthorn.using(through(tx)).events.create('default', { event_type: 'order.created', data: { id } })
  })
}

await placeOrder(1)
await placeOrder(1).catch((error: Error) => console.log(error.message))
console.log(`events: ${(await posthorn.events.list('default')).data.length}`)
await pool.end()
