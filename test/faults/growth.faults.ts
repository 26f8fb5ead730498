// How large the tables become: bytes for each event and attempt, and whether those of open work stay as they are through a
// million deliveries, with autovacuum as a server has it and, side by side on another one, as is recommended.
import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import type { Settlement } from '../../src/contracts/storage/attempts.ts'
import { attempt, counted, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { freshSchema, ownPostgres } from '../support/postgres.ts'
import { seconds } from './report.ts'
import { claimOptions } from '../support/claim-options.ts'

const deliveries = Number(process.env['DELIVERIES'] ?? 1_000_000)
/** Of which the bytes of one are told. */
const weighed = 20_000
const batch = 500
/** How far the publisher is ahead of the workers, at most. */
const backlog = 2000
const hot = ['jobs', 'open_attempts', 'groups', 'lines', 'hints']

/** A kilobyte that does not compress to nothing. */
const data = JSON.stringify({
  text: Array.from({ length: 63 }, (_, i) => `${(i * 7919).toString(36)} order paid `).join(''),
})
const request = {
  method: 'POST',
  url: 'https://receiver.example/hooks/orders',
  headers: {
    'user-agent': 'Posthorn/0.1.0',
    'content-type': 'application/json; charset=utf-8',
    'accept-encoding': 'identity',
    'webhook-id': '01k3zv9q2m8r5t7w1x3y5z7b9d',
    'webhook-event-type': 'order.paid',
    'webhook-delivery-id': '01k3zv9q2m8r5t7w1x3y5z7b9e',
    'webhook-attempt': '1',
    'webhook-timestamp': '1767225600',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  body: null,
  fromEvent: true,
}
const response = {
  status: 200,
  latency: 41.5,
  headers: { 'content-type': 'application/json', 'content-length': '11', date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
  body: '{"ok":true}',
}

interface Load {
  readonly deliveries: number
  readonly data: string
  /** What is recorded of each request and its answer. */
  readonly outcome: Partial<Settlement>
}

/** Delivers through the adapter alone: one publisher and two workers, side by side. */
function delivering(pool: Pool, schema: string, { deliveries: all, data: text, outcome }: Load) {
  const storage = postgres(pool, { schema, listen: false })
  const progress = { published: 0, settled: 0 }
  // As long as the ids that the library makes.
  const id = (prefix: string, n: number) => `${prefix}${String(n).padStart(25, '0')}`

  const publish = async (revision: number): Promise<void> => {
    while (progress.published < all) {
      const entries = Array.from({ length: batch }, (_, i) => {
        const n = progress.published + i
        const scheduled = { endpoint_id: `ep${n % 50}`, scheduled_at: start + n }
        return entry('w', revision, event(id('e', n), { data: text }), [attempt(id('a', n), id('e', n), scheduled)])
      })
      await storage.events.ingest(entries, { enqueue: true })
      progress.published += batch
      while (progress.published - progress.settled > backlog) await sleep(1)
    }
  }
  const work = async (): Promise<void> => {
    while (progress.settled < all) {
      const now = start + progress.published
      const claims = await storage.queue.claim(claimOptions({ limit: batch, cap: 16, leaseMs: 30_000, now }))
      if (claims.length === 0) await sleep(1)
      const byId = new Map(claims.map((claim) => [claim.id, claim]))
      const loaded = await storage.attempts.load(claims.map((claim) => claim.id))
      const endings = loaded.map((delivery) =>
        settlement('w', delivery.attempt, { claim: byId.get(delivery.attempt.id)!, ...outcome, counted }),
      )
      await storage.attempts.settle(endings, { enqueue: true })
      progress.settled += endings.length
    }
  }
  const done = made(storage, 'w').then((revision) => Promise.all([publish(revision), work(), work()]))
  return { progress, done }
}

/** Looks on twice a second, and tells for each tenth of the deliveries the largest sizes and the most dead rows seen. */
async function watched(
  what: string,
  { pool, schema }: Place,
  { progress, done }: ReturnType<typeof delivering>,
): Promise<void> {
  let most = new Map<string, { kib: number; dead: number }>()
  let tenths = 0
  const look = async (): Promise<void> => {
    const { rows } = await pool.query<{ name: string; kib: string; dead: string }>(
      `select relname as name, pg_total_relation_size(relid) / 1024 as kib, n_dead_tup as dead
       from pg_stat_user_tables where schemaname = $1 and relname = any($2)`,
      [schema, hot],
    )
    for (const { name, kib, dead } of rows) {
      const before = most.get(name) ?? { kib: 0, dead: 0 }
      most.set(name, { kib: Math.max(before.kib, Number(kib)), dead: Math.max(before.dead, Number(dead)) })
    }
    if (progress.settled < ((tenths + 1) * deliveries) / 10) return
    tenths++
    const cells = hot.map((name) => `${name} ${most.get(name)?.kib} KiB, ${most.get(name)?.dead} dead`)
    console.log(`${what}: ${progress.settled} delivered; ${cells.join('; ')}`)
    most = new Map()
  }
  let over = false
  const watching = (async () => {
    for (; !over; await sleep(500)) await look()
    await look()
  })()
  await done.finally(() => (over = true))
  await watching
}

interface Place {
  readonly pool: Pool
  readonly schema: string
}

/** Works in a fresh schema of a server of its own. */
async function within(settings: Readonly<Record<string, string>>, work: (place: Place) => Promise<void>) {
  const server = await ownPostgres({ fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB', ...settings })
  if (server === null) throw new Error('PostgreSQL is not installed here')
  const pool = new Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  const schema = freshSchema()
  await migrate(pool, { schema })
  await work({ pool, schema })
  await pool.end()
  await server.stop()
}

await within({}, async ({ pool, schema }) => {
  await delivering(pool, schema, { deliveries: weighed, data, outcome: { request, response } }).done
  const bytesOf = async (...tables: readonly string[]): Promise<number> => {
    const { rows } = await pool.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(relid)) as bytes
       from pg_stat_user_tables where schemaname = $1 and relname = any($2)`,
      [schema, tables],
    )
    return Math.round(Number(rows[0]!.bytes) / weighed) // an aggregate is one row
  }
  console.log(
    `an event with ${Buffer.byteLength(data)} bytes of data: ${await bytesOf('events', 'unique_ids')} bytes; ` +
      `an attempt with its outcome: ${await bytesOf('attempts', 'outcomes')} bytes`,
  )
})

await Promise.all(
  ['1min', '10s'].map((naptime) =>
    within({ autovacuum_naptime: naptime }, async ({ pool, schema }) => {
      const what = `autovacuum_naptime ${naptime}`
      const begun = Date.now()
      // Little data, since the sizes of these tables do not depend on it.
      await watched(what, { pool, schema }, delivering(pool, schema, { deliveries, data: '{}', outcome: {} }))
      const took = Date.now() - begun
      console.log(`${what}: ${seconds(took)} s, ${Math.round((deliveries * 1000) / took)} deliveries a second`)
    }),
  ),
)
