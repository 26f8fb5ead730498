import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { TimelineQuery } from '../../src/contracts/storage/events.ts'
import type { Delivery, Posthorn } from '../../src/exports.ts'
import { start } from '../../src/testing/storage/rows.ts'
import { fill, spanUntil } from '../bench/lists-fill.ts'
import { plansOf, type PostgresStorage } from '../faults/plans.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const stored = 10_000
const span = spanUntil(start)

const filters: readonly Readonly<Record<string, string | number>>[] = [
  { status: 'FAILED' },
  { status: 'CANCELED' },
  { status: 'PENDING' },
  { status: 'RETRYING' },
  { endpoint_id: 'ep3' },
  { endpoint_id: 'seldom' },
  { endpoint_id: 'ep3', status: 'FAILED' },
  { endpoint_id: 'ep3', event_type: 'order.paid' },
  { event_type: 'order.paid', status: 'FAILED' },
  { response_status: 500 },
  { response_status: 418 },
]

describe.skipIf(url === null)('lists of deliveries on PostgreSQL', { timeout: 60_000 }, () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let schema: string
  let posthorn: Posthorn
  let storage: PostgresStorage
  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
    schemas = schemasOf(pool)
    schema = (await schemas.open({ listen: false })).schema
    storage = postgres(pool, { schema, listen: false })
    posthorn = createPosthorn({ storage })
    await posthorn.workspaces.ensure({ id: 'default', name: 'default' })
    await fill(storage, stored, span)
    await pool.query(
      `vacuum analyze ${['events', 'attempts', 'outcomes', 'jobs'].map((name) => `${schema}.${name}`).join(', ')}`,
    )
  }, 120_000)
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  const pages = async (query: object): Promise<readonly Delivery[]> => {
    const found: Delivery[] = []
    for (let after: string | null | undefined; after !== null;) {
      const page = await posthorn.deliveries.list('default', { ...query, limit: 100, ...(after && { after }) })
      found.push(...page.data)
      after = page.next
    }
    return found
  }
  const keys = (rows: readonly Delivery[]) => rows.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`)
  const isAsked = (query: Readonly<Record<string, string | number>>) => (row: Delivery) =>
    Object.entries({ ...row, response_status: row.last?.response_status }).every(
      ([field, value]) => query[field] === undefined || query[field] === value,
    )

  test('each filter answers what all pages tell, also of a range and backwards', async () => {
    const all = await pages({})
    expect(all).toHaveLength(stored)
    const range = { gte: span.at(0.3), lt: span.at(0.6) }
    for (const filter of filters) {
      const expected = all.filter(isAsked(filter))
      expect(expected.length, JSON.stringify(filter)).toBeGreaterThan(0)
      expect(keys(await pages(filter)), JSON.stringify(filter)).toEqual(keys(expected))
      const within = expected.filter(({ created_at: at }) => at >= range.gte && at < range.lt)
      expect(keys(await pages({ ...filter, created_at: range })), JSON.stringify(filter)).toEqual(keys(within))
      const last = expected.at(-1)!
      const before = [last.created_at, last.event_id, last.endpoint_id].join('.')
      const { data } = await posthorn.deliveries.list('default', { ...filter, limit: 40, before })
      expect(keys(data), `${JSON.stringify(filter)} backwards`).toEqual(keys(expected.slice(0, -1).slice(-40)))
    }
  })

  const soughts: readonly (readonly [name: string, query: Partial<TimelineQuery>])[] = [
    ['failed', { having: { status: 'FAILED', exhausted: true } }],
    ['failed, of a range', { having: { status: 'FAILED', exhausted: true }, created_at: { lt: span.at(0.4) } }],
    ['canceled', { having: { status: 'CANCELED' } }],
    ['retried', { having: { status: 'OPEN', retried: true } }],
    ['answered by 418', { having: { status: 'FAILED', response_status: 418 } }],
    ['failed, of an endpoint', { having: { status: 'FAILED', endpoint_id: 'ep3' } }],
    ['failed, of a type', { having: { status: 'FAILED', exhausted: true }, event_type: 'order.paid' }],
  ]
  test.each(soughts)('deliveries that are sought, %s, are read in their order', async (name, query) => {
    const asked = { from: null, descending: true, limit: 21, ...query }
    const run = (engine: PostgresStorage) => engine.events.timeline('default', asked)
    for (const { whole, maxRows, text } of await plansOf(pool, schema, { name, run }, 0)) {
      expect(whole, text).toEqual([])
      expect(maxRows, text).toBeLessThan(100)
    }
  })

  test.each([
    ['waiting', { status: 'OPEN', retried: false }],
    ['of an endpoint', { endpoint_id: 'seldom' }],
  ] as const)('deliveries that are %s are looked for among few', async (name, having) => {
    const run = (engine: PostgresStorage) =>
      engine.events.timeline('default', { having, from: null, descending: true, limit: 21 })
    for (const { whole, maxRows, text } of await plansOf(pool, schema, { name, run }, 0)) {
      expect(
        whole.filter((table) => table !== 'jobs' && table !== 'open_attempts'),
        text,
      ).toEqual([]) // these have few rows here
      expect(maxRows, text).toBeLessThan(1100)
    }
  })

  test.each([true, false])('attempts by due time are read where they are (newest first: %s)', async (descending) => {
    const scheduled_at = { gte: span.at(0.5), lt: span.at(0.55) }
    const query = { scheduled_at, limit: 20, page: null, after: null, before: null, descending }
    const run = (engine: PostgresStorage) => engine.attempts.list('default', query)
    for (const { whole, maxRows, text } of await plansOf(pool, schema, { name: 'due', run }, 0)) {
      expect(whole, text).toEqual([])
      expect(maxRows, text).toBeLessThan(200)
    }
  })

  test('outcomes that the version before wrote are found after migrate()', async () => {
    const before = await pages({ status: 'FAILED' })
    const retrying = await pages({ status: 'RETRYING' })
    const standing = async () => {
      const { rows } = await pool.query<{ id: string }>(
        `select attempt_id || ' ' || stands as id from ${schema}.outcomes where stands is not null order by attempt_id`,
      )
      return rows.map(({ id }) => id)
    }
    const stood = await standing()
    await pool.query(
      `update ${schema}.outcomes set stands = null, event_at = null, event_id = null, endpoint_id = null`,
    )
    await pool.query(`drop index ${schema}.outcomes_stands`)
    await pool.query(`delete from ${schema}.expansions where version >= 13`)
    await pool.query(`delete from ${schema}.migrations where version >= 13`)
    await pool.query(`drop view ${schema}.open_anywhere`)
    await migrate(pool, { schema })
    expect(await standing()).toEqual(stood)
    expect(keys(await pages({ status: 'FAILED' }))).toEqual(keys(before))
    expect(keys(await pages({ status: 'RETRYING' }))).toEqual(keys(retrying))
  })

  test('where first attempts are purged, their deliveries are found by those that are left', async () => {
    while ((await storage.purge({ eventsBefore: null, attemptsBefore: span.at(0.5), limit: 1000 })) > 0);
    const all = await pages({})
    expect(all.length).toBeLessThan(stored)
    for (const filter of filters.slice(2, 6)) {
      expect(keys(await pages(filter)), JSON.stringify(filter)).toEqual(keys(all.filter(isAsked(filter))))
    }
  })
})
