// What PostgreSQL reads at a million attempts, and what a hanging endpoint's backlog costs the others.
import { Pool } from 'pg'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { everything, start } from '../../src/testing/storage/rows.ts'
import { freshSchema, ownPostgres } from '../support/postgres.ts'
import { analyzed, filled, operations, plansOf } from './plans.ts'
import { seconds, table } from './report.ts'
import { claimOptions } from '../support/claim-options.ts'

const rows = 1_000_000
const backlog = 100_000
const server = await ownPostgres({ fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB', autovacuum: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const pool = new Pool({ connectionString: server.url, max: 4 })
pool.on('error', () => {})
const schema = freshSchema()
await migrate(pool, { schema })

const begun = Date.now()
const revision = await filled(pool, schema, rows)
await analyzed(pool, schema)
console.log(`${rows} attempts in ${seconds(Date.now() - begun)} s`)

let bad = false
const results = []
for (const operation of operations) {
  const plans = await plansOf(pool, schema, operation, revision)
  for (const { whole, text } of plans) {
    if (whole.length === 0) continue
    bad = true
    console.error(`${operation.name} reads ${whole.join(', ')} as a whole:\n${text}`)
  }
  const slowest = Math.max(...plans.map(({ ms }) => ms))
  const maxRows = Math.max(...plans.map((plan) => plan.maxRows))
  results.push({ operation: operation.name, statements: plans.length, maxRows, slowestMs: slowest.toFixed(1) })
}
const storage = postgres(pool, { schema, listen: false })
const listed = performance.now()
await storage.attempts.list('w', { ...everything, limit: 20, page: 1, descending: true })
results.push({
  operation: 'a page of attempts with its total',
  statements: 1,
  maxRows: rows,
  slowestMs: (performance.now() - listed).toFixed(1),
})
console.log(table(results))

/** The median time of a claim for other endpoints while one is full, over a hundred claims. */
async function claimMs(full: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const before = performance.now()
    const claims = await storage.queue.claim(
      claimOptions({ limit: 64, cap: 16, leaveOut: new Set(full), leaseMs: 30_000, now: start }),
    )
    times.push(performance.now() - before)
    await storage.queue.release(claims)
  }
  return times.toSorted((a, b) => a - b)[50]! // of a hundred
}
await claimMs([])
const without = await claimMs([])
await pool.query(
  `insert into ${schema}.jobs (id, group_id, due_at) select 'h' || i, 'hanging', 0 from generate_series(1, $1) i`,
  [backlog],
)
await pool.query(`insert into ${schema}.hints values ('hanging', 0)`)
await claimMs(['hanging'])
const beside = await claimMs(['hanging'])
console.log(
  table([
    {
      claim: `beside ${backlog} due jobs of one full endpoint`,
      withoutMs: without.toFixed(2),
      besideMs: beside.toFixed(2),
      ratio: (beside / without).toFixed(2),
    },
  ]),
)
await pool.end()
await server.stop()
process.exit(bad || beside / without > 1.5 ? 1 : 0)
