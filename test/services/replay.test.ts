import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/hooks'
const once = { config: { attempts: [0] } }

const withEndpoint = (posthorn: TestPosthorn, changes: object = {}) =>
  posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'], retry: once, ...changes })

/** Publishes events that all fail, and stops the failing then. */
async function failed(posthorn: TestPosthorn, count: number, event_type = 'order.created') {
  posthorn.receiver(url).answers(500)
  await Promise.all(
    Array.from({ length: count }, (_, n) => posthorn.events.create('default', { event_type, data: { n } })),
  )
  await posthorn.drain()
  posthorn.receiver(url).answers(200)
}

const manualOnes = async (posthorn: TestPosthorn) =>
  (await posthorn.attempts.list('default', { limit: 1000 })).data.filter(
    ({ trigger_mode }) => trigger_mode === 'MANUAL',
  )

describe('a replay', () => {
  test('makes a MANUAL attempt, due at once, for each delivery that ended without success', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await failed(posthorn, 3)
    await posthorn.events.create('default', { event_type: 'fine', data: {} })
    await posthorn.drain()
    expect(await posthorn.events.replay('default', {})).toEqual({ matched: 3, created: 3, next: null })
    expect(await manualOnes(posthorn)).toMatchObject(
      Array.from({ length: 3 }, () => ({ status: 'QUEUED', attempt_number: 1, scheduled_at: posthorn.clock.now() })),
    )
    await posthorn.drain()
    expect((await manualOnes(posthorn)).every(({ status }) => status === 'SUCCESSFUL')).toBe(true)
    expect(await posthorn.events.replay('default', {})).toEqual({ matched: 0, created: 0, next: null })
  })

  test('does nothing for a delivery that is still going on', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: { config: { attempts: [0, 60] } } })
    await failed(posthorn, 1)
    expect((await posthorn.events.replay('default', {})).matched).toBe(0)
  })

  test('only counts in a dry run', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await failed(posthorn, 3)
    const dry = { dryRun: true }
    expect(await posthorn.events.replay('default', {}, dry)).toEqual({ matched: 3, created: 0, next: null })
    expect(await manualOnes(posthorn)).toEqual([])
  })

  test('takes what its filters name: types, endpoint, status and times', async () => {
    const posthorn = createTestPosthorn()
    const begin = posthorn.clock.now()
    await withEndpoint(posthorn)
    await withEndpoint(posthorn, { id: 'other' })
    await failed(posthorn, 2, 'order.created')
    await posthorn.advance('1m')
    await posthorn.endpoints.update('default', 'other', { retry: { config: { attempts: [10] } } })
    await failed(posthorn, 1, 'invoice.paid')
    await posthorn.endpoints.update('default', 'other', { enabled: false })
    await posthorn.advance('1m')
    const matched = async (filter: object) =>
      (await posthorn.events.replay('default', filter, { dryRun: true })).matched
    expect(await matched({})).toBe(6)
    expect(await matched({ event_types: ['invoice.paid', 'unknown'] })).toBe(2)
    expect(await matched({ endpoint_id: 'shop' })).toBe(3)
    expect(await matched({ status: 'CANCELED' })).toBe(1)
    expect(await matched({ status: 'FAILED', endpoint_id: 'other' })).toBe(2)
    expect(await matched({ created_at: begin })).toBe(4)
    expect(await matched({ created_at: { gt: begin } })).toBe(2)
    expect(await matched({ created_at: { gte: begin, lt: begin + 60_000 } })).toBe(4)
    expect(await matched({ endpoint_id: 'unknown' })).toBe(0)
  })

  test('tells where it stopped, and goes on from there to the end', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await failed(posthorn, 7)
    const calls = []
    for (let after: string | null | undefined; after !== null;) {
      const report = await posthorn.events.replay('default', { limit: 3, ...(after !== undefined && { after }) })
      calls.push([report.matched, report.created])
      after = report.next
    }
    expect(calls).toEqual([
      [3, 3],
      [3, 3],
      [1, 1],
    ])
    expect(new Set((await manualOnes(posthorn)).map(({ event_id }) => event_id)).size).toBe(7)
  })

  test('does not take up again what failed again while it went on', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await failed(posthorn, 4)
    posthorn.receiver(url).answers(500)
    let made = 0
    let calls = 0
    for (let after: string | null | undefined; after !== null && calls < 10; calls++) {
      const report = await posthorn.events.replay('default', { limit: 2, ...(after !== undefined && { after }) })
      made += report.created
      after = report.next
      await posthorn.drain()
    }
    expect(made).toBe(4)
    expect(calls).toBeLessThan(10)
    expect((await posthorn.events.replay('default', {}, { dryRun: true })).matched).toBe(4)
  })

  test('takes at most 10,000 deliveries a call, 50 in a step', async () => {
    const store = memory()
    const steps: number[] = []
    const add: typeof store.attempts.add = (workspaceId, attempts, options) => {
      steps.push(attempts.length)
      return store.attempts.add(workspaceId, attempts, options)
    }
    const posthorn = createTestPosthorn({ storage: { ...store, attempts: { ...store.attempts, add } } })
    await withEndpoint(posthorn, { retry: { config: { attempts: [60] } } })
    const types = Array.from({ length: 10_001 })
    await Promise.all(types.slice(0, 6000).map(() => posthorn.events.create('default', { event_type: 'x', data: {} })))
    await Promise.all(types.slice(6000).map(() => posthorn.events.create('default', { event_type: 'x', data: {} })))
    await posthorn.endpoints.update('default', 'shop', { enabled: false })
    await posthorn.advance('1m')
    const first = await posthorn.events.replay('default', {})
    expect(first).toMatchObject({ matched: 10_000, created: 10_000 })
    expect(steps).toEqual(Array.from({ length: 200 }, () => 50))
    expect(await posthorn.events.replay('default', { after: first.next! })).toEqual({
      matched: 1,
      created: 1,
      next: null,
    })
  }, 60_000)
})

describe('what an endpoint missed', () => {
  test('is sent once, while publishing and replays go on beside', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { id: 'other' })
    await withEndpoint(posthorn, { enabled: false, events: ['order.*'] })
    const publish = (count: number, event_type = 'order.created') =>
      Promise.all(Array.from({ length: count }, () => posthorn.events.create('default', { event_type, data: {} })))
    await publish(20)
    await publish(3, 'invoice.paid')
    await posthorn.endpoints.test('default', 'other', { event_type: 'order.test' })
    const missed = { missing: true, endpoint_id: 'shop' }
    expect(await posthorn.events.replay('default', missed, { dryRun: true })).toMatchObject({ matched: 20, created: 0 })
    await expect(posthorn.events.replay('default', missed)).rejects.toMatchObject({ code: 'validation' })
    await posthorn.endpoints.update('default', 'shop', { enabled: true })
    const replayAll = async () => {
      let created = 0
      for (let after: string | null | undefined; after !== null;) {
        const report = await posthorn.events.replay('default', { ...missed, limit: 3, ...(after && { after }) })
        created += report.created
        after = report.next
      }
      return created
    }
    const [created, more] = await Promise.all([replayAll(), replayAll(), publish(10)])
    expect(created + more).toBe(20)
    await posthorn.drain()
    const { data } = await posthorn.attempts.list('default', { endpoint_id: 'shop', limit: 1000 })
    expect(data.length).toBe(30)
    expect(new Set(data.map(({ event_id }) => event_id)).size).toBe(30)
    expect(await posthorn.events.replay('default', missed)).toEqual({ matched: 0, created: 0, next: null })
  })

  test('is bounded by the time of the event, and by what retention left', async () => {
    const posthorn = createTestPosthorn({ retention: { attemptsDays: 1 } })
    const begin = posthorn.clock.now()
    for (const n of [1, 2, 3]) {
      await posthorn.events.create('default', { event_type: 'a', data: { n } })
      await posthorn.advance('10h')
    }
    await withEndpoint(posthorn)
    const matched = async (filter: object = {}) =>
      (await posthorn.events.replay('default', { missing: true, endpoint_id: 'shop', ...filter }, { dryRun: true }))
        .matched
    expect(await matched()).toBe(2)
    expect(await matched({ created_at: { gt: begin + 36_000_000 } })).toBe(1)
  })
})

test('a failed test delivery is never replayed', async () => {
  const posthorn = createTestPosthorn()
  await withEndpoint(posthorn)
  posthorn.receiver(url).answers(500)
  await posthorn.endpoints.test('default', 'shop')
  expect(await posthorn.events.replay('default', {})).toEqual({ matched: 0, created: 0, next: null })
})

describe('over HTTP', () => {
  const post = async (posthorn: TestPosthorn, path: string, body?: string) => {
    const response = await posthorn.admin.fetch(
      new Request(`http://admin.test${path}`, { method: 'POST', ...(body !== undefined && { body }) }),
    )
    return [response.status, await response.json()]
  }

  test('a small limit costs no more steps: a call goes on behind the last one that was taken', async () => {
    const store = memory()
    let steps = 0
    const missing: typeof store.attempts.missing = (...asked) => {
      steps++
      return store.attempts.missing(...asked)
    }
    const posthorn = createTestPosthorn({ storage: { ...store, attempts: { ...store.attempts, missing } } })
    await withEndpoint(posthorn, { enabled: false, events: ['wanted'] })
    for (let i = 0; i < 40; i++) {
      await posthorn.events.create('default', { event_type: i % 10 === 9 ? 'wanted' : 'other', data: { i } })
    }
    await posthorn.endpoints.update('default', 'shop', { enabled: true })
    const asked = { missing: true, endpoint_id: 'shop', limit: 3 }
    const first = await posthorn.events.replay('default', asked)
    expect(first).toMatchObject({ matched: 3, created: 3, next: expect.any(String) })
    expect(await posthorn.events.replay('default', { ...asked, after: first.next! })).toEqual({
      matched: 1,
      created: 1,
      next: null,
    })
    expect(steps).toBe(2)
  })

  test('a replay is asked for with its filter as the body, which may be missing', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await failed(posthorn, 3)
    const path = '/workspaces/default/events/replay'
    expect(await post(posthorn, `${path}?dry_run=true`)).toEqual([200, { matched: 3, created: 0, next: null }])
    const [status, body] = await post(posthorn, path, '{"endpoint_id":"shop","limit":2}')
    expect([status, body]).toEqual([200, { matched: 2, created: 2, next: expect.any(String) }])
    const next = JSON.stringify({ after: (body as { next: string }).next })
    expect(await post(posthorn, '/events/replay', next)).toEqual([200, { matched: 1, created: 1, next: null }])
  })

  test.each([
    ['{"limit":0}', { limit: 'number must be at least 1' }],
    ['{"limit":10001}', { limit: 'number must be at most 10000' }],
    ['{"status":"SUCCESSFUL"}', { status: 'value is not one of the allowed values ["FAILED","CANCELED"]' }],
    ['{"event_types":[]}', { event_types: 'minimum number of items is 1' }],
    ['{"created_at":{"gt":"x"}}', { created_at: { gt: 'value must be an integer' } }],
    ['{"after":"x"}', { after: 'invalid cursor' }],
    ['{"after":"a.b"}', { after: 'invalid cursor' }],
    ['{"missing":true}', { endpoint_id: 'required with missing' }],
    ['{"missing":true,"endpoint_id":"nobody"}', { endpoint_id: 'endpoint not found' }],
    ['{"endpoint_id":7}', { endpoint_id: 'value must be a string' }],
  ])('the filter %s is refused', async (body, fields) => {
    const posthorn = createTestPosthorn()
    expect(await post(posthorn, '/events/replay', body)).toEqual([
      400,
      { message: 'Request Validation', error: { message: 'request validation', fields } },
    ])
  })
})
