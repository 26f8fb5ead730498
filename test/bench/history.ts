import { once } from 'node:events'
import { connect } from 'node:net'

import { Redis } from 'ioredis'
import { Pool, type PoolClient } from 'pg'

import { postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { attempt, entry, event, revisionOf, settlement } from '../../src/testing/storage/rows.ts'
import type { NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { sideBySide } from './compare.ts'
import type { Place } from './engines.ts'

// What a storage holds after some days: ended attempts with their events. The storage itself writes a first block of
// them; the server's rows or keys of that block are then copied, each copy with ids and times of its own. So all is
// shaped and indexed as the storage does it.

/** Attempts of one block, of 800 events: every fourth event took two. */
export const blockSize = 1000
const eventsOfBlock = 800

/** How many endpoints the history has: `endpointId(0)` and on. */
export const endpointCount = 20
export const endpointId = (n: number): string => `endpoint-${String(n).padStart(2, '0')}`
export const eventTypes = ['order.paid', 'order.sent', 'invoice.paid', 'customer.updated'] as const

/** Ids have the length of those that the service makes, and sort by block and before all of today. */
const blockName = (block: number): string => `00BLOCK${String(block).padStart(6, '0')}`
export const eventId = (block: number, n: number): string => `${blockName(block)}E${String(n).padStart(12, '0')}`
export const attemptId = (block: number, n: number): string => `${blockName(block)}A${String(n).padStart(12, '0')}`

/** The time over which the history spreads, however many attempts it has. It ends an hour ago. */
export const spanMs = 5 * 24 * 3_600_000
const spreadOf = (stored: number) => ({ blocks: stored / blockSize, stepMs: Math.floor((spanMs * blockSize) / stored) })

/** Fills a namespace of Redis, whose workspace `default` is there. */
export async function fillRedis({ redis: url, schema }: Place, stored: number): Promise<void> {
  const { blocks, stepMs } = spreadOf(stored)
  const client = new Redis(url)
  // Where the log was rewritten is chance, and would be counted against one run.
  await client.call('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0')
  const storage = redis(client, { namespace: schema })
  await writeBlock(storage)
  const text = (await commandsOf(client, `{${schema}}`)).map(wireForm).join('')
  // Names of blocks and times are as long in every copy, so what the protocol says of lengths stays true.
  const pieces = text.split(/(00BLOCK000000|\b\d{13}\b)/)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let refused = ''
  socket.on('data', (reply) => (refused ||= /^-.*/m.exec(reply.toString())?.[0] ?? ''))
  for (let block = 1; block < blocks; block++) {
    const copied = pieces.map((piece, i) => {
      if (i % 2 === 0) return piece
      return piece.startsWith('00') ? blockName(block) : String(Number(piece) + block * stepMs)
    })
    if (!socket.write(copied.join(''))) await once(socket, 'drain')
  }
  socket.end('*1\r\n$4\r\nQUIT\r\n')
  await once(socket, 'close')
  if (refused !== '') throw new Error(`Redis refused to be filled: ${refused}`)
  await storage.close()
  client.disconnect()
}

/** Fills a migrated schema of PostgreSQL, whose workspace `default` is there. */
export async function fillPostgres({ postgres: url, schema }: Place, stored: number): Promise<void> {
  const { blocks, stepMs } = spreadOf(stored)
  const pool = new Pool({ connectionString: url, max: 4 })
  const storage = postgres(pool, { schema, listen: false })
  await writeBlock(storage)
  const connection = await pool.connect()
  await connection.query('set session_replication_role = replica') // what is copied refers to what is copied
  for (const table of ['events', 'unique_ids', 'attempts', 'outcomes']) {
    await copyRows(connection, schema, table, blocks, stepMs)
    await connection.query(`vacuum analyze ${schema}.${table}`)
  }
  await connection.query('checkpoint')
  connection.release(true)
  await storage.close()
  await pool.end()
}

/** Blocks that one statement copies. */
const blocksTogether = 50

async function copyRows(
  connection: PoolClient,
  schema: string,
  table: string,
  blocks: number,
  stepMs: number,
): Promise<void> {
  await connection.query(`create temporary table block_${table} as table ${schema}.${table}`)
  const { rows } = await connection.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = $1 and table_name = $2 order by ordinal_position`,
    [schema, table],
  )
  const moved = rows.map(({ name, type }) => {
    if (type === 'text') return `replace(${name}, '${blockName(0)}', '00BLOCK' || lpad(block::text, 6, '0'))`
    return name.endsWith('_at') ? `${name} + block * ${stepMs}::bigint` : name
  })
  for (let from = 1; from < blocks; from += blocksTogether) {
    await connection.query(
      `insert into ${schema}.${table} (${rows.map(({ name }) => name).join(', ')})
       select ${moved.join(', ')} from block_${table} b, generate_series($1::int, $2::int) block
       order by block, b.ctid`,
      [from, Math.min(from + blocksTogether, blocks) - 1],
    )
  }
}

/** Stores events with their attempts and ends these, as ingest and deliver would. */
async function writeBlock(storage: Storage): Promise<void> {
  const begun = Date.now() - 3_600_000 - spanMs
  const revision = await revisionOf(storage, 'default')
  const events = Array.from({ length: eventsOfBlock }, (_, n) => chainOf(n, begun + n * 10))
  await sideBySide(events.length / 100, 1, (part) => {
    const entries = events.slice(part * 100, part * 100 + 100)
    return storage.events.ingest(
      entries.map(({ of, first }) => entry('default', revision, of, [first.attempt])),
      { enqueue: false },
    )
  })
  for (const settlements of [events.map(({ first }) => first), events.flatMap(({ second }) => second ?? [])]) {
    const answers = await storage.attempts.settle(settlements, { enqueue: false })
    if (answers.some(({ settled }) => !settled)) throw new Error('an attempt of the history was not settled')
  }
}

/** An event and how it was delivered: every fourth failed at first, some of these again, and a few were canceled. */
function chainOf(n: number, at: number) {
  const id = eventId(0, n)
  const times = { ingested_at: at, created_at: at, updated_at: at }
  const data = JSON.stringify({ order: id, currency: 'EUR', amount: n, note: 'n'.repeat(32) }) // about 100 bytes
  const unique_id = n % 2 === 0 ? `order-${id}` : null
  const of = event(id, { ...times, event_type: eventTypes[n % eventTypes.length]!, data, unique_id })
  const planned = { endpoint_id: endpointId(n % endpointCount), scheduled_at: at, created_at: at }
  const attempted = attempt(attemptId(0, 2 * n), id, planned)
  if (n % 4 !== 0) {
    return { of, first: n % 100 === 1 ? canceled(attempted) : answered(attempted, 200), second: null }
  }
  const later = { ...planned, scheduled_at: at + 60_000, created_at: at + 40 }
  const next = attempt(attemptId(0, 2 * n + 1), id, { ...later, attempt_number: 2, trigger_mode: 'AUTOMATIC' })
  const first: Settlement = { ...answered(attempted, 500), next, exhausted: false }
  return { of, first, second: answered(next, n % 200 === 0 ? 500 : 200) }
}

function canceled(of: NewAttempt): Settlement {
  const why = { error_code: 'ENDPOINT_DISABLED', error_message: 'the endpoint is disabled' } as const
  return settlement('default', of, { status: 'CANCELED', attempted_at: null, settled_at: of.scheduled_at + 5, ...why })
}

function answered(of: NewAttempt, status: number): Settlement {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Posthorn/1.0.0',
    'webhook-id': of.event_id,
    'webhook-event-type': 'order.paid',
    'webhook-timestamp': '1790000000',
    'webhook-signature': `v1,${'s'.repeat(44)}`,
  }
  const answer = { 'content-type': 'application/json', 'content-length': '11', connection: 'keep-alive' }
  return settlement('default', of, {
    status: status === 200 ? 'SUCCESSFUL' : 'FAILED',
    exhausted: status !== 200,
    attempted_at: of.scheduled_at + 10,
    settled_at: of.scheduled_at + 30,
    request: { method: 'POST', url: 'https://example.com/hook', headers, body: null, fromEvent: true },
    response: { status, latency: 18.25, headers: answer, body: status === 200 ? '{"ok":true}' : '{"ok":false}' },
    counted: { event_type: 'order.paid', told: false },
  })
}

/** Commands that write all keys, fields and members that name the first block. */
async function commandsOf(client: Redis, tag: string): Promise<readonly (readonly string[])[]> {
  const commands: (readonly string[])[] = []
  for (const key of await client.keys(`${tag}:*`)) {
    const type = await client.type(key)
    if (type !== 'hash' && type !== 'zset') continue
    // Scans answer alike in every version of the protocol.
    const [, flat] =
      type === 'hash' ? await client.hscan(key, 0, 'COUNT', 10_000) : await client.zscan(key, 0, 'COUNT', 10_000)
    const pairs = Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!] as const)
    const own = key.includes(blockName(0))
    const named = pairs
      .filter((pair) => own || pair.join(' ').includes(blockName(0)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    if (named.length === 0) continue
    commands.push(
      type === 'hash'
        ? ['HSET', key, ...named.flat()]
        : ['ZADD', key, ...named.flatMap(([member, score]) => [score, member])],
    )
  }
  return commands
}

/** A command as Redis reads it. All of it is ASCII. */
function wireForm(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`
}
