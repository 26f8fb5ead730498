// What a tenant does to the publishes of another one on PostgreSQL: a `unique_id` that an open transaction of the host holds
// while others publish it too, and 160 creates at once in one workspace, each second. The 99th percentile of the other's
// publishes stays within twice that of the same publishes alone; a create costs at most five transactions. What is compared
// is measured in turns, since the machine may be busy otherwise.
import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres, type PostgresClient } from '../../adapters/postgres/index.ts'
import { ownPostgres } from '../support/postgres.ts'
import { table } from './report.ts'

const rounds = 3
const lastsMs = 4000
const everyMs = 10
const maxTimes = 2
const maxTransactions = 5
const creates = 160

const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const pool = new Pool({ connectionString: server.url, max: 20, connectionTimeoutMillis: 5000, keepAlive: true })
pool.on('error', () => {})
await migrate(pool)
let sent = 0
const counting: PostgresClient = {
  query(text, values) {
    sent++
    return pool.query(text, values)
  },
}
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const posthorn = createPosthorn({ storage: postgres(pool), logger })
const writer = createPosthorn({ storage: postgres(counting, { listen: false }), logger })
for (const id of ['quiet', 'loud']) await posthorn.workspaces.create({ id })

let published = 0
/** Publishes of the quiet tenant that failed. None may. */
let refused = 0
/** How long each publish of the quiet tenant took, milliseconds, one begun each 10 ms. */
async function publishes(): Promise<readonly number[]> {
  const all: Promise<number>[] = []
  const publish = async (): Promise<number> => {
    const began = performance.now()
    const event = { event_type: 'x', data: {}, unique_id: `own ${published++}` }
    await posthorn.events.create('quiet', event).catch(() => refused++)
    return performance.now() - began
  }
  for (const until = Date.now() + lastsMs; Date.now() < until; await sleep(everyMs)) all.push(publish())
  return await Promise.all(all)
}

/** A transaction of the host holds a `unique_id` that the loud tenant publishes four times at once, again and again. */
async function besideHeld(): Promise<readonly number[]> {
  const client = await pool.connect()
  await client.query('begin')
  const event = { event_type: 'x', data: {}, unique_id: `held ${published}` }
  await posthorn.using(client).events.create('loud', event)
  let isOver = false
  const insist = async (): Promise<void> => {
    while (!isOver) await posthorn.events.create('loud', event).catch(() => sleep(10))
  }
  const others = Array.from({ length: 4 }, insist)
  await sleep(200)
  const times = await publishes()
  isOver = true
  await client.query('commit')
  client.release()
  await Promise.all(others)
  return times
}

let transactions = 0
/** The loud tenant creates 160 endpoints at once, each second in a new workspace. */
async function besideCreates(): Promise<readonly number[]> {
  let isOver = false
  const creating = (async () => {
    for (; !isOver; await sleep(1000)) {
      const { id } = await writer.workspaces.create({})
      const before = sent
      await Promise.all(
        Array.from({ length: creates }, (_, n) =>
          writer.endpoints.create(id, { name: `e${n}`, request: { url: 'https://a.test/' }, events: ['*'] }),
        ),
      )
      transactions = Math.max(transactions, (sent - before) / creates)
    }
  })()
  const times = await publishes()
  isOver = true
  await creating
  return times
}

const p99 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!

await publishes() // statements are prepared, and pages are warm
const measured: { alone: number[]; held: number[]; creates: number[] } = { alone: [], held: [], creates: [] }
for (let round = 0; round < rounds; round++) {
  measured.alone.push(...(await publishes()))
  measured.held.push(...(await besideHeld()))
  measured.creates.push(...(await besideCreates()))
}
const alone = p99(measured.alone)
const rows = Object.entries(measured).map(([beside, times]) => ({
  beside,
  publishes: times.length,
  p99Ms: p99(times).toFixed(1),
  times: (p99(times) / alone).toFixed(2),
  broken: p99(times) > maxTimes * alone ? 'p99' : '',
}))
console.log(table(rows))
console.log(
  `transactions of a create: ${transactions.toFixed(2)}, publishes of the quiet tenant that failed: ${refused}`,
)
await posthorn.stop()
await writer.stop()
await pool.end()
await server.stop()
process.exit(rows.every(({ broken }) => broken === '') && transactions <= maxTransactions && refused === 0 ? 0 : 1)
