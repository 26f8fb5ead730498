import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { postgres } from '../../adapters/postgres/index.ts'
import type { AttemptQuery } from '../../src/contracts/storage.ts'
import { attempt, event, entry, everything, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const rows = 20_000

/** Tables that no statement of the hot path and no page may read as a whole. */
const large = ['events', 'attempts', 'open_attempts', 'outcomes', 'jobs', 'unique_ids', 'messages']

describe.skipIf(url === null)('what PostgreSQL reads at twenty thousand attempts', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let opened: Awaited<ReturnType<ReturnType<typeof schemasOf>['open']>>
  let revision: number
  /** The plans of the statements that were sent while it was listening. */
  let plans: string[] = []

  const client = {
    async query(text: string, values: unknown[]) {
      if (/^\s*(with|select|insert|update|delete)/.test(text)) {
        const connection = await pool.connect()
        await connection.query('begin')
        const { rows } = await connection.query(`explain analyze ${text}`, values)
        plans.push(rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n'))
        await connection.query('rollback')
        connection.release()
      }
      return pool.query(text, values)
    },
  }
  const explained = () => postgres(client, { schema: opened.schema })
  const readsByIndex = async (act: (storage: ReturnType<typeof explained>) => Promise<unknown>) => {
    plans = []
    await act(explained())
    expect(plans.length).toBeGreaterThan(0)
    for (const plan of plans) for (const table of large) expect(plan).not.toMatch(new RegExp(`Seq Scan on ${table}\\b`))
  }

  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
    schemas = schemasOf(pool)
    opened = await schemas.open({ listen: false })
    revision = await made(opened.subject, 'w')
    const t = (table: string) => `${opened.schema}.${table}`
    const series = `from generate_series(1, ${rows}) i, ${t('workspaces')} w`
    const ep = `'ep' || i % 100`
    for (const statement of [
      `insert into ${t('events')} (id, workspace, event_type, unique_id, data, ingested_at, created_at, updated_at)
        select 'e' || i, w.key, 'order.paid', 'u' || i, '{}', i, i, i ${series}`,
      `insert into ${t('unique_ids')} select w.key, 'u' || i, 'e' || i ${series}`,
      `insert into ${t('attempts')} select 'a' || i, w.key, 'e' || i, ${ep}, 1, 'INITIAL', i, i ${series}`,
      `insert into ${t('open_attempts')} select 'a' || i, w.key, ${ep}, i ${series} where i % 2 = 0`,
      `insert into ${t('jobs')} select 'a' || i, ${ep}, i ${series} where i % 2 = 0`,
      `insert into ${t('groups')} select group_id, min(due_at) from ${t('jobs')} group by group_id`,
      `insert into ${t('outcomes')} select 'a' || i, w.key, case when i % 1001 = 0 then 'FAILED' else 'SUCCESSFUL' end,
        true, i, i ${series} where i % 2 = 1`,
      `insert into ${t('messages')} (id, workspace_id, event_type, data, received_at)
        select 'm' || i, 'w', 'order.paid', '{}', i ${series}`,
    ]) {
      await pool.query(statement)
    }
    await pool.query(`analyze ${large.map(t).join(', ')}`)
  }, 60_000)
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test('ingest, also of what is there already', () =>
    readsByIndex(async (storage) => {
      const entries = Array.from({ length: 100 }, (_, i) =>
        entry('w', revision, event(`n${i}`, { unique_id: i % 2 === 0 ? `u${i}` : `new${i}` }), [
          attempt(`na${i}`, `n${i}`),
        ]),
      )
      await storage.events.ingest(entries, { enqueue: true })
    }))

  test('claim, extend, release, complete', () =>
    readsByIndex(async ({ queue }) => {
      const claims = await queue.claim({ limit: 64, cap: 16, busy: { ep2: 16 }, leaseMs: 1000, now: start })
      expect(claims).toHaveLength(64)
      await queue.extend(claims, start + 2000)
      await queue.release(claims.slice(0, 32))
      await queue.complete(claims.slice(32))
    }))

  test('load and settle', () =>
    readsByIndex(async ({ attempts }) => {
      const deliveries = await attempts.load(Array.from({ length: 64 }, (_, i) => `a${2 * i + 2}`))
      expect(deliveries).toHaveLength(64)
      const settlements = deliveries.map((delivery, i) =>
        settlement('w', delivery.attempt, { tally: true, next: { ...delivery.attempt, id: `next${i}` } }),
      )
      await attempts.settle(settlements, { enqueue: true })
    }))

  test('overdue, a page at a time', () =>
    readsByIndex(({ attempts }) => attempts.overdue({ before: start, after: [5000, 'a5000'], limit: 100 })))

  test('take from the inbox', () => readsByIndex(({ inbox }) => inbox.take({ limit: 50, leaseMs: 1, now: start })))

  test.each<[string, Partial<AttemptQuery>]>([
    ['by id', {}],
    ['by event', { event_id: 'e77' }],
    ['by endpoint', { endpoint_id: 'ep7' }],
    ['by a rare status', { status: 'FAILED' }],
    ['by a common status', { status: 'SUCCESSFUL' }],
    ['of open ones', { status: 'OPEN' }],
    ['by time', { created_at: { gte: 100, lt: 120 } }],
  ])('a page of attempts %s', (_, filter) =>
    readsByIndex(({ attempts }) =>
      attempts.list('w', { ...everything, limit: 20, page: null, descending: true, after: 'a5', ...filter }),
    ),
  )

  test.each([
    ['by id', {}],
    ['by unique id', { unique_id: 'u5' }],
    ['by time', { created_at: { gte: 100, lt: 120 } }],
  ])('a page of events %s', (_, filter) =>
    readsByIndex(({ events }) =>
      events.list('w', { ...everything, limit: 20, page: null, descending: true, after: 'e5', ...filter }),
    ),
  )
})
