import { Pool } from 'pg'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { program } from './program.ts'

const atOnce = 4
const maxOrders = 20
const longestMs = 5
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What was there after shops were killed. */
export interface ShopReport {
  readonly killed: number
  readonly orders: number
  /** Orders without an event, and events without an order. */
  readonly halves: number
  /** Orders whose event reached its receiver, and how often more than once. */
  readonly delivered: number
  readonly repeated: number
}

/**
 * Opens the shop of `examples/transactional-order.ts` so many times, in a database of its own, each time kills it (as
 * kill -9 does) in the middle of one of its first orders, and then delivers.
 */
export async function killShops(server: string, { times }: { times: number }): Promise<ShopReport> {
  const name = `shop_${process.pid}_${Date.now().toString(36)}`
  const admin = new Pool({ connectionString: server, max: 1 })
  await admin.query(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = new Pool({ connectionString: url.href, max: 5 })
  pool.on('error', () => {})
  await migrate(pool)
  const received = new Map<number, number>()
  const posthorn = createPosthorn({
    storage: postgres(pool),
    logger: quiet,
    http: {
      async send({ body }) {
        const { id } = JSON.parse(String(body)) as { id: number } // as the example writes it
        received.set(id, (received.get(id) ?? 0) + 1)
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true }
      },
    },
  })
  try {
    await posthorn.endpoints.create('default', { request: { url: 'https://receiver.test/' }, events: ['order.*'] })
    let left = times
    const open = async (): Promise<void> => {
      while (left-- > 0) {
        const shop = program(process.execPath, ['.build/examples/transactional-order.js'], {
          env: { DATABASE_URL: url.href, ORDERS: '1000000' },
        })
        await shop.says(new RegExp(`^order ${1 + Math.floor(Math.random() * maxOrders)}$`))
        await new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs))
        await shop.kill()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, open))
    await allHungUp(pool)
    await posthorn.drain()
    const { rows } = await pool.query<{ orders: string; halves: string }>(`
      select count(o.id) as orders, count(*) filter (where o.id is null or e.id is null) as halves
      from orders o full join posthorn.events e on e.unique_id = 'order-' || o.id`)
    const { rows: known } = await pool.query<{ id: string }>('select id from orders')
    return {
      killed: times,
      orders: Number(rows[0]!.orders),
      halves: Number(rows[0]!.halves),
      delivered: known.filter(({ id }) => received.has(Number(id))).length,
      repeated: [...received.values()].filter((count) => count > 1).length,
    }
  } finally {
    await pool.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

/** The server hears of a death a little later, and may commit till then. */
async function allHungUp(pool: Pool): Promise<void> {
  const busy = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  while ((await pool.query(busy)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 20))
}
