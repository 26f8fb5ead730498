// How large the tables become: bytes for each event and attempt, and whether those of the queue stay as they are.
import { Pool } from 'pg'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { attempt, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { freshSchema, ownPostgres } from '../support/postgres.ts'
import { seconds, table } from './report.ts'

const deliveries = Number(process.env['DELIVERIES'] ?? 100_000)
const batch = 250
const server = await ownPostgres({ fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const pool = new Pool({ connectionString: server.url, max: 4 })
pool.on('error', () => {})

/** A kilobyte that does not compress to nothing. */
const data = JSON.stringify({
  text: Array.from({ length: 48 }, (_, i) => `${(i * 7919).toString(36)} order paid `).join(''),
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

/** Delivers through the adapter alone, and answers the sizes on the way. */
async function delivered(schema: string): Promise<readonly object[]> {
  const storage = postgres(pool, { schema, listen: false })
  const revision = await made(storage, 'w')
  const sizes: object[] = []
  for (let n = 0; n < deliveries; n += batch) {
    const now = start + n
    // As long as the ids that the library makes.
    const id = (prefix: string, i: number) => `${prefix}${String(n + i).padStart(25, '0')}`
    const entries = Array.from({ length: batch }, (_, i) =>
      entry('w', revision, event(id('e', i), { data }), [
        attempt(id('a', i), id('e', i), { endpoint_id: `ep${i % 50}`, scheduled_at: now }),
      ]),
    )
    await storage.events.ingest(entries, { enqueue: true })
    for (;;) {
      const claims = await storage.queue.claim({ limit: batch, cap: 16, busy: {}, leaseMs: 30_000, now })
      if (claims.length === 0) break
      const byId = new Map(claims.map((claim) => [claim.id, claim]))
      const loaded = await storage.attempts.load(claims.map((claim) => claim.id))
      const endings = loaded.map((delivery) =>
        settlement('w', delivery.attempt, { claim: byId.get(delivery.attempt.id)!, request, response, tally: true }),
      )
      await storage.attempts.settle(endings, { enqueue: true })
    }
    if ((n + batch) % (deliveries / 5) === 0) sizes.push({ delivered: n + batch, ...(await sizesOf(schema)) })
  }
  return sizes
}

async function sizesOf(schema: string): Promise<Record<string, string>> {
  const hot = ['jobs', 'open_attempts', 'groups', 'hints']
  const { rows } = await pool.query<{ name: string; kib: string; dead: string }>(
    `select relname as name, pg_total_relation_size(relid) / 1024 as kib, n_dead_tup as dead
     from pg_stat_user_tables where schemaname = $1 and relname = any($2) order by relname`,
    [schema, hot],
  )
  return Object.fromEntries(rows.map(({ name, kib, dead }) => [`${name} KiB/dead`, `${kib}/${dead}`]))
}

async function bytesOf(schema: string, tables: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ bytes: string }>(
    'select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables where schemaname = $1 and relname = any($2)',
    [schema, tables],
  )
  return (Number(rows[0]!.bytes) / deliveries).toFixed(0) // an aggregate is one row
}

for (const [what, naptime, settings] of [
  ['the settings that the schema brings, autovacuum_naptime 10 s', '10s', null],
  ['the settings that the schema brings, autovacuum_naptime 1 min (the default)', '60s', null],
  ['the settings of the server for all tables, autovacuum_naptime 10 s', '10s', 'reset'],
] as const) {
  await pool.query(`alter system set autovacuum_naptime = '${naptime}'`)
  await pool.query('select pg_reload_conf()')
  const schema = freshSchema()
  await migrate(pool, { schema })
  if (settings === 'reset') {
    for (const name of ['jobs', 'open_attempts', 'groups', 'hints', 'messages']) {
      await pool.query(
        `alter table ${schema}.${name} reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`,
      )
    }
  }
  const begun = Date.now()
  const sizes = await delivered(schema)
  console.log(`\n${what}: ${deliveries} deliveries in ${seconds(Date.now() - begun)} s`)
  console.log(table(sizes))
  console.log(
    `bytes an event with ${Buffer.byteLength(data)} of data: ${await bytesOf(schema, ['events', 'unique_ids'])}, ` +
      `bytes an attempt with its outcome: ${await bytesOf(schema, ['attempts', 'outcomes'])}`,
  )
  await pool.query(`drop schema ${schema} cascade`)
}
await pool.end()
await server.stop()
