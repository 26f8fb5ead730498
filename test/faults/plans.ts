import type { Pool } from 'pg'

import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { AttemptQuery } from '../../src/contracts/storage/attempts.ts'
import type { EventQuery } from '../../src/contracts/storage/events.ts'
import { attempt, counted, entry, event, everything, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'

export type PostgresStorage = ReturnType<typeof postgres>

/** Tables that no statement of the hot path and no page may read as a whole. */
export const large = ['events', 'attempts', 'open_attempts', 'outcomes', 'jobs', 'unique_ids', 'messages']

/** A plan as PostgreSQL made and ran it. */
export interface Plan {
  readonly text: string
  /** Large tables that were read as a whole. */
  readonly whole: readonly string[]
  /** The most rows that one step came upon, those that it passed over included. */
  readonly maxRows: number
  /** The most pages that one step came upon, each as often as it did. */
  readonly pages: number
  readonly ms: number
}

export interface Operation {
  readonly name: string
  run(storage: PostgresStorage, revision: number): Promise<unknown>
}

/** Fills a schema: every attempt of an event of its own, half of them open, of a hundred endpoints. Answers the revision. */
export async function filled(pool: Pool, schema: string, rows: number): Promise<number> {
  const revision = await made(postgres(pool, { schema, listen: false }), 'w')
  const series = `from generate_series(1, ${rows}) i join ${schema}.workspaces w on w.id = 'w'`
  const endpoint = `'ep' || i % 100`
  for (const statement of [
    `insert into events (id, workspace, event_type, unique_id, data, ingested_at, created_at, updated_at)
      select 'e' || i, w.key, 'order.paid', 'u' || i, '{}', i, i, i ${series}`,
    `insert into unique_ids select w.key, 'u' || i, 'e' || i ${series}`,
    `insert into attempts select 'a' || i, w.key, 'e' || i, ${endpoint}, 1, 'INITIAL', i, i ${series}`,
    `insert into open_attempts select 'a' || i, w.key, ${endpoint}, i ${series} where i % 8 = 0`,
    `insert into jobs (id, group_id, due_at, workspace)
      select 'a' || i, ${endpoint}, i, case when i % 8 > 0 then w.key end ${series} where i % 2 = 0`,
    `insert into groups (id, workspace, next_at) select group_id, 'w', min(due_at) from ${schema}.jobs group by group_id`,
    `insert into lines (workspace, ready_at) select workspace, min(ready_at) from ${schema}.groups group by workspace`,
    `insert into outcomes select 'a' || i, w.key, case when i % 1001 = 0 then 'FAILED' else 'SUCCESSFUL' end,
      true, i, i ${series} where i % 2 = 1`,
    `insert into messages (id, workspace_id, event_type, data, received_at)
      select 'm' || i, 'w', 'order.paid', '{}', i ${series}`,
  ]) {
    await pool.query(statement.replace('into ', `into ${schema}.`))
  }
  return revision
}

/** Gives PostgreSQL the statistics that autovacuum gives it in its next run. */
export async function analyzed(pool: Pool, schema: string): Promise<void> {
  await pool.query(`analyze ${large.map((table) => `${schema}.${table}`).join(', ')}`)
}

/** Runs an operation and answers the plans of its statements. Each is run twice: once to be explained, and undone. */
export async function plansOf(
  pool: Pool,
  schema: string,
  { run }: Operation,
  revision: number,
): Promise<readonly Plan[]> {
  const plans: Plan[] = []
  const client: PostgresClient = {
    async query(text, values) {
      if (/^\s*(with|select|insert|update|delete)/.test(text)) {
        const connection = await pool.connect()
        await connection.query('begin')
        const { rows } = await connection.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, values)
        await connection.query('rollback')
        connection.release()
        plans.push(planOf(rows.map((row) => row['QUERY PLAN']).join('\n')))
      }
      return await pool.query<Row>(text, values)
    },
  }
  await run(postgres(client, { schema }), revision)
  return plans
}

function planOf(text: string): Plan {
  return {
    text,
    whole: large.filter((table) => new RegExp(`Seq Scan on ${table}\\b`).test(text)),
    maxRows: Math.max(
      0,
      ...[...text.matchAll(/actual .*rows=(\d+) loops=(\d+)|Removed by Filter: (\d+)/g)].map(rowsOf),
    ),
    pages: Math.max(0, ...[...text.matchAll(/Buffers: shared hit=(\d+)/g)].map((found) => Number(found[1]))),
    ms: Number(/Execution Time: ([\d.]+)/.exec(text)?.[1] ?? 0),
  }
}

function rowsOf([, rows = '0', loops = '1', passedOver = '0']: RegExpMatchArray): number {
  return Number(rows) * Number(loops) + Number(passedOver)
}

const page = { ...everything, limit: 20, page: null, descending: true }
const attempts = (name: string, filter: Partial<AttemptQuery>): Operation => ({
  name: `a page of attempts ${name}`,
  run: (storage) => storage.attempts.list('w', { ...page, after: 'a5', ...filter }),
})
const events = (name: string, filter: Partial<EventQuery>): Operation => ({
  name: `a page of events ${name}`,
  run: (storage) => storage.events.list('w', { ...page, after: 'e5', ...filter }),
})
const purge = (name: string, bounds: { eventsBefore?: number; attemptsBefore?: number }): Operation => ({
  name: `purge of ${name}`,
  run: (storage) => storage.purge({ eventsBefore: null, attemptsBefore: null, limit: 1000, ...bounds }),
})

/** All that runs often, and all that a person asks. */
export const operations: readonly Operation[] = [
  {
    name: 'ingest, also of what is there already',
    run: (storage, revision) =>
      storage.events.ingest(
        Array.from({ length: 100 }, (_, i) =>
          entry('w', revision, event(`n${i}`, { unique_id: i % 2 === 0 ? `u${i}` : `new${i}` }), [
            attempt(`na${i}`, `n${i}`),
          ]),
        ),
        { enqueue: true },
      ),
  },
  {
    name: 'claim, extend, release, complete',
    async run({ queue }) {
      const claims = await queue.claim(claimOptions({ limit: 64, cap: 16, leaveOut: new Set(['ep2']), now: start }))
      if (claims.length !== 64) throw new Error(`${claims.length} claims`)
      await queue.extend(claims, start + 2000)
      await queue.release(claims.slice(0, 32))
      await queue.complete(claims.slice(32))
    },
  },
  {
    name: 'load and settle',
    async run(storage) {
      const deliveries = await storage.attempts.load(Array.from({ length: 64 }, (_, i) => `a${2 * i + 2}`))
      if (deliveries.length !== 64) throw new Error(`${deliveries.length} deliveries`)
      const settlements = deliveries.map((delivery, i) =>
        settlement('w', delivery.attempt, { counted, next: { ...delivery.attempt, id: `next${i}` } }),
      )
      await storage.attempts.settle(settlements, { enqueue: true })
    },
  },
  {
    name: 'overdue',
    run: (storage) => storage.attempts.overdue({ before: start, after: [5000, 'a5000'], limit: 100, unqueued: true }),
  },
  {
    name: 'take from the inbox',
    run: ({ inbox }) => inbox.take({ limit: 50, maxBytes: 1_000_000, leaseMs: 1, now: start }),
  },
  {
    name: 'settle tries of deliveries that were tried before',
    async run(storage) {
      const later = Array.from({ length: 64 }, (_, i) =>
        attempt(`z${i}`, `e${2 * i + 1}`, { endpoint_id: `ep${2 * i + 1}`, trigger_mode: 'MANUAL' }),
      )
      await storage.attempts.add('w', later, { enqueue: true })
      await storage.attempts.settle(
        later.map((each) => settlement('w', each, { counted })),
        { enqueue: true },
      )
    },
  },
  {
    name: 'what an endpoint misses',
    run: (storage) => storage.attempts.missing('w', { endpoint_id: 'none', after: 'e5', limit: 50 }),
  },
  {
    name: 'what failed',
    run: (storage) => storage.attempts.undelivered('w', { after: 'a5', limit: 10 }),
  },
  {
    name: 'the attempts of some events at an endpoint',
    run: (storage) => storage.attempts.ofEvents('w', ['e5', 'e6', 'e7'], { endpointId: 'ep6', limit: 100 }),
  },
  attempts('by id', {}),
  attempts('by event', { event_id: 'e77' }),
  attempts('by endpoint', { endpoint_id: 'ep7' }),
  attempts('of a delivery', { event_id: 'e77', endpoint_id: 'ep77' }),
  attempts('by a rare status', { status: 'FAILED' }),
  attempts('by a common status', { status: 'SUCCESSFUL' }),
  attempts('of open ones', { status: 'OPEN' }),
  attempts('by time', { created_at: { gte: 100, lt: 120 } }),
  events('by id', {}),
  events('by unique id', { unique_id: 'u5' }),
  events('by time', { created_at: { gte: 100, lt: 120 } }),
  purge('events', { eventsBefore: 10_000 }),
  purge('attempts', { attemptsBefore: 10_000 }),
]
