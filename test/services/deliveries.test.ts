import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { deliveryOf } from '../../src/core/delivery.ts'
import type { StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import { deliveryStatuses } from '../../src/schema/delivery.ts'
import { random } from '../../src/testing/random.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { clients, schemasOf } from '../support/postgres.ts'
import { clients as redisClients, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const url = 'https://shop.test/hooks'
/** Random histories for each engine. `HISTORIES=200` takes more. */
const histories = Number(process.env['HISTORIES'] ?? 40)

describe('deliveries', () => {
  test('are one row for an event and an endpoint, and tell what became of them', async () => {
    const posthorn = createTestPosthorn()
    const begin = posthorn.clock.now()
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    const { id } = await posthorn.events.create('default', { event_type: 'a', unique_id: 'u', data: {} })
    const row = async () => (await posthorn.deliveries.list('default')).data[0]
    const open = { event_id: id, endpoint_id: 'shop', event_type: 'a', unique_id: 'u', created_at: begin }
    const nothing = { tries: 0, last_attempted_at: null, next_attempt_at: begin, last: null }
    expect(await row()).toEqual({ ...open, ...nothing, status: 'PENDING' })
    posthorn.receiver(url).answers(500, 200)
    await posthorn.drain()
    expect(await row()).toMatchObject({
      status: 'RETRYING',
      tries: 1,
      last_attempted_at: begin,
      next_attempt_at: begin + 60_000,
      last: { status: 'FAILED', response_status: 500, error_code: null },
    })
    await posthorn.advance('1m')
    expect(await row()).toMatchObject({
      status: 'DELIVERED',
      tries: 2,
      next_attempt_at: null,
      last: { response_status: 200 },
    })
    const { attempts, ...delivery } = await posthorn.deliveries.get('default', id, 'shop')
    expect(delivery).toEqual(await row())
    expect(attempts.map(({ status, final, event_type }) => [status, final, event_type])).toEqual([
      ['FAILED', false, 'a'],
      ['SUCCESSFUL', true, 'a'],
    ])
    posthorn.receiver(url).answers(500)
    expect(await posthorn.deliveries.retry('default', id, 'shop')).toMatchObject({ trigger_mode: 'MANUAL' })
    await posthorn.drain()
    expect(await row()).toMatchObject({ status: 'DELIVERED', tries: 3 })
  })

  test('a test delivery makes none', async () => {
    const posthorn = createTestPosthorn()
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: [] })
    const { event_id } = await posthorn.endpoints.test('default', 'shop')
    expect(await posthorn.deliveries.list('default')).toEqual({ data: [], next: null, prev: null })
    await expect(posthorn.deliveries.get('default', event_id, 'shop')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('over HTTP have cursors and no other mode', async () => {
    const posthorn = createTestPosthorn()
    for (const id of ['a', 'b', 'c'])
      await posthorn.endpoints.create('default', { id, request: { url }, events: ['*'] })
    const { id } = await posthorn.events.create('default', { id: 'e', event_type: 'a', data: {} })
    const ask = async (path: string, method = 'GET') => {
      const answer = await posthorn.admin.fetch(new Request(`http://admin.test${path}`, { method }))
      return {
        ...((await answer.json()) as { data: { endpoint_id: string }[]; next: string; prev: string }),
        code: answer.status,
      }
    }
    const first = await ask('/deliveries?limit=2')
    expect(first.data.map(({ endpoint_id }) => endpoint_id)).toEqual(['c', 'b'])
    expect(first.prev).toBe(null)
    const second = await ask(first.next)
    expect([second.data.map(({ endpoint_id }) => endpoint_id), second.next]).toEqual([['a'], null])
    expect((await ask(second.prev)).data).toEqual(first.data)
    expect(await ask(`/workspaces/default/deliveries/${id}/b`)).toMatchObject({
      endpoint_id: 'b',
      attempts: [{ final: false }],
    })
    expect(await ask('/deliveries/e/nobody')).toMatchObject({ code: 404 })
    expect(await ask('/deliveries/e/b/retry', 'POST')).toMatchObject({ code: 200, endpoint_id: 'b' })
    expect(await ask('/deliveries?after=x')).toMatchObject({ code: 400 })
    expect(await ask('/deliveries?status=INIT')).toMatchObject({ code: 400 })
  })
})

/** Histories: publishes, failures, retries by hand, disabled endpoints, time that passes, purges. */
async function history(posthorn: TestPosthorn, storage: Storage, seed: number): Promise<void> {
  const { below, of } = random(seed)
  const retry = { config: { attempts: [0, 60] } }
  for (const id of ['x', 'y', 'z']) {
    await posthorn.endpoints.create('default', {
      id,
      request: { url: `${url}/${id}` },
      events: [of(['*', 'a', 'b'])],
      retry,
    })
  }
  const events: string[] = []
  for (let step = 0; step < 6 + below(6); step++) {
    const roll = below(10)
    const endpoint = of(['x', 'y', 'z'])
    if (roll < 4 || events.length === 0) {
      const given = below(4) === 0 ? { id: `own-${seed}-${below(1000)}-${step}` } : {}
      events.push((await posthorn.events.create('default', { ...given, event_type: of(['a', 'b']), data: {} })).id)
    } else if (roll < 6) {
      posthorn.receiver(`${url}/${endpoint}`).answers(of([200, 500, 500, 404]))
      await posthorn.advance(of([0, 1, 61_000]))
    } else if (roll < 8) {
      await posthorn.events.retry('default', of(events), endpoint).catch(() => {}) // purged
    } else if (roll < 9) {
      await posthorn.endpoints.update('default', endpoint, { enabled: below(2) === 0 })
    } else {
      const before = posthorn.clock.now() - 60_000
      await storage.purge({ eventsBefore: below(2) === 0 ? before : null, attemptsBefore: before, limit: 100 })
    }
  }
}

/** The rows as a fold of all attempts. */
async function folded(storage: Storage) {
  const everything = { limit: 1000, page: null, after: null, before: null, descending: false }
  const { rows: attempts } = await storage.attempts.list('default', everything)
  const { rows: events } = await storage.events.list('default', { ...everything, maxBytes: Infinity })
  const of = (id: string): StoredAttempt[] => attempts.filter(({ event_id }) => event_id === id)
  return events
    .flatMap((event) => {
      const own = of(event.id).filter(({ trigger_mode }) => trigger_mode !== 'TEST')
      const endpoints = [...new Set(own.map(({ endpoint_id }) => endpoint_id))]
      return endpoints.map((endpoint) =>
        deliveryOf(
          event,
          own.filter(({ endpoint_id }) => endpoint_id === endpoint),
        ),
      )
    })
    .toSorted(
      (a, b) => b.created_at - a.created_at || compare(b.event_id, a.event_id) || compare(b.endpoint_id, a.endpoint_id),
    )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

describe('of random histories the list is a fold of the attempts', () => {
  const postgresUrl = inject('postgresUrl')
  let pg: ReturnType<(typeof clients)[number]['open']>
  let schemas: ReturnType<typeof schemasOf>
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let client: TestClient
  beforeAll(async () => {
    pg = clients[0]!.open(postgresUrl!)
    schemas = schemasOf(pg.handle)
    server = await sharedRedis()
    client = await redisClients[0]!.open(server.url)
  })
  afterAll(async () => {
    await schemas.drop()
    await pg.close()
    client.close()
    await server.stop()
  })
  const engines: [string, number, () => Promise<{ subject: Storage; close(): Promise<void> }>][] = [
    ['memory', histories, async () => ({ subject: memory(), close: async () => {} })],
    [
      'redis',
      histories,
      async () => {
        const subject = redis(client.client, { namespace: freshNamespace() })
        return { subject, close: () => subject.close() }
      },
    ],
    ['postgres', histories, () => schemas.open({ listen: false })],
  ]

  test.skipIf(postgresUrl === null).each(engines)('%s, %i histories', { timeout: 120_000 }, async (_, count, open) => {
    const { subject, close } = await open()
    let seen = 0
    for (let seed = 0; seed < count; seed++) {
      const posthorn = createTestPosthorn({ storage: subject, startAt: Date.parse('2026-01-01') + seed * 86_400_000 })
      await history(posthorn, subject, seed)
      const expected = await folded(subject)
      seen += expected.length
      const { of } = random(seed)
      const filters = [
        {},
        { status: of(deliveryStatuses) },
        { endpoint_id: of(['x', 'y', 'z']) },
        { event_type: 'a', status: 'DELIVERED' },
        { response_status: of([200, 404, 500]) },
        { response_status: 500, status: 'RETRYING' },
      ] as const
      for (const filter of filters) {
        const wanted = expected.filter((row) =>
          Object.entries(filter).every(
            ([name, value]) =>
              (name === 'response_status' ? row.last?.response_status : row[name as 'status']) === value,
          ),
        )
        const rows = []
        for await (const row of posthorn.deliveries.each('default', { ...filter, limit: of([1, 5, 20]) }))
          rows.push(row)
        expect(rows, `seed ${seed}, ${JSON.stringify(filter)}`).toEqual(wanted)
      }
      await posthorn.events.erase('default', { created_at: { gte: 0 } })
      for (const id of ['x', 'y', 'z']) await posthorn.endpoints.delete('default', id)
    }
    expect(seen).toBeGreaterThan(2 * count)
    await close()
  })
})
