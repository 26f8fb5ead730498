import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import pg from 'pg'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { startPostgres } from '../support/postgres.ts'

// What one publish inside a host's transaction costs beside a bare insert of the same bytes, and how long after the
// commit the request arrives. PostgreSQL as it is installed, durable at every commit; all in one process.

const rounds = 10
const perRound = 50
const samples = 30

const { url, stop } = await startPostgres({ max_connections: '50' })
if (url === null) throw new Error('There is no PostgreSQL to bench on')
const pool = new pg.Pool({ connectionString: url, max: 10 })
pool.on('error', () => {})
await migrate(pool)
await pool.query('create table bare (id bigint generated always as identity primary key, data text not null)')

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const data = { id: 'x'.repeat(32), text: 'y'.repeat(940) }
const text = JSON.stringify(data)
const plain = createPosthorn({ storage: postgres(pool, { listen: false }) })
const guarded = createPosthorn({ storage: postgres(pool, { listen: false }), requireTransaction: true })
await plain.endpoints.create('default', { request: { url: 'https://receiver.test/' }, events: ['bench.*'] })

// What a process published outside of transactions, or delivered, made it know the configuration.
const event = { event_type: 'bench.event', data }
for (const warm of [plain, guarded]) await warm.events.create('default', event)
const unaware = createPosthorn({ storage: postgres(pool, { listen: false }) })

const client = await pool.connect()
let statements = 0
const counting = {
  query(statement: string, values: unknown[]) {
    statements++
    return client.query(statement, values)
  },
}
const inserted = () => client.query('insert into bare (data) values ($1)', [text])
const published = (bound: ReturnType<typeof plain.using>, unique_id: string | null = null) =>
  bound.events.create('default', { ...event, unique_id })
let unique = 0

/** What happens between begin and commit. */
const contents: Readonly<Record<string, () => Promise<unknown>>> = {
  'a bare insert': inserted,
  'a publish': () => published(plain.using(counting)),
  'a publish, wake: false': () => published(plain.using(counting, { wake: false })),
  'a publish that reads the configuration': () => published(unaware.using(counting)),
  'a publish with a unique_id': () => published(plain.using(counting), `unique-${++unique}`),
  'a publish, requireTransaction': () => published(guarded.using(counting)),
  'a second publish through the same handle': async () => {
    const bound = guarded.using(counting)
    await published(bound)
    statements = 0
    await published(bound)
  },
}

const times = new Map<string, number[]>()
const counts = new Map<string, number>()
for (let round = 0; round < rounds; round++) {
  for (const [name, act] of Object.entries(contents)) {
    for (let i = 0; i < perRound; i++) {
      await client.query('begin')
      statements = 0
      const startedAt = performance.now()
      await act()
      const microseconds = (performance.now() - startedAt) * 1000
      await client.query('commit')
      counts.set(name, statements)
      times.set(name, [...(times.get(name) ?? []), microseconds])
    }
  }
}
client.release()

const bare = median(times.get('a bare insert')!)
console.log(`Inside a transaction, 1 KB, one endpoint, median of ${rounds * perRound} (begin and commit not counted)`)
for (const [name, values] of times) {
  const over = median(values) - bare
  // What a second publish takes is what both take less what one takes.
  const own = name.startsWith('a second')
    ? median(values) - median(times.get('a publish, requireTransaction')!)
    : median(values)
  console.log(
    `  ${name.padEnd(42)} ${String(counts.get(name) || 1)} statements ${own.toFixed(0).padStart(6)} µs` +
      (over === 0 ? '' : `   ${(own - bare).toFixed(0).padStart(6)} µs over the insert`),
  )
}

/** Milliseconds from the commit to the request, of transactions at random moments, half a second to three seconds apart. */
async function arrivals(options: { listen: boolean; committed: boolean }): Promise<number[]> {
  const schema = `arrivals_${options.listen}_${options.committed}`
  await migrate(pool, { schema })
  let arrived = (_at: number): void => {}
  const server = createServer((request, response) => {
    arrived(performance.now())
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo // it listens on a port
  const storage = postgres(pool, { schema, ...(!options.listen && { listen: false }) })
  const worker = createPosthorn({ storage, deliver: { allow: ['127.0.0.1'] } })
  const publisher = options.committed ? worker : createPosthorn({ storage: postgres(pool, { schema, listen: false }) })
  await worker.endpoints.create('default', { request: { url: `http://127.0.0.1:${port}/` }, events: ['*'] })
  await worker.start()
  const took: number[] = []
  for (let i = 0; i < samples; i++) {
    await sleep(500 + Math.random() * 2500)
    const arrival = new Promise<number>((resolve) => (arrived = resolve))
    const tx = await pool.connect()
    await tx.query('begin')
    const bound = publisher.using(tx, { wake: options.listen })
    await published(bound)
    await tx.query('commit')
    const committedAt = performance.now()
    tx.release()
    if (options.committed) await bound.committed()
    took.push((await arrival) - committedAt)
  }
  await worker.stop()
  server.close()
  return took.toSorted((a, b) => a - b)
}

console.log(`From the commit to the arrival of the request, ${samples} transactions after idle times of 0.5 to 3 s`)
const ways = {
  'another process, with listen': { listen: true, committed: false },
  'another process, without listen (polls)': { listen: false, committed: false },
  'the same process, committed()': { listen: false, committed: true },
}
const latencies = await Promise.all(Object.values(ways).map((way) => arrivals(way)))
for (const [i, name] of Object.keys(ways).entries()) {
  const sorted = latencies[i]!
  const at = (part: number): string =>
    `${sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)]!.toFixed(1)} ms`
  console.log(
    `  ${name.padEnd(42)} p50 ${at(0.5).padStart(9)}   p90 ${at(0.9).padStart(9)}   longest ${at(1).padStart(9)}`,
  )
}
await pool.end()
await stop()
