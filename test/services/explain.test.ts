import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const start = '2026-01-01T00:00:00.000Z'

const withEndpoint = (posthorn: TestPosthorn, changes: object = {}) =>
  posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['order.*'], ...changes })

const publish = (posthorn: TestPosthorn) =>
  posthorn.events.create('default', { event_type: 'order.created', data: { n: 1 } })

async function explained(posthorn: TestPosthorn, eventId: string) {
  const [first] = await posthorn.events.explain('default', eventId)
  return first!
}

describe('an endpoint that got nothing is explained:', () => {
  test.each([
    [{ enabled: false }, 'the endpoint is disabled'],
    [{ events: [] }, 'the endpoint names no events'],
    [{ events: ['invoice.*'] }, "none of its events matches 'order.created'"],
  ])('%o', async (changes, reason) => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { name: 'Shop', ...changes })
    const { id } = await publish(posthorn)
    expect(await posthorn.events.explain('default', id)).toEqual([
      { endpoint_id: 'shop', endpoint_name: 'Shop', matched: false, reason, attempts: [], next_due_at: null, tries: 0 },
    ])
  })

  test('it came after the event', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await publish(posthorn)
    await withEndpoint(posthorn)
    expect(await explained(posthorn, id)).toMatchObject({
      matched: false,
      reason: 'the endpoint matches now, but did not when the event was accepted',
    })
  })
})

describe('an endpoint that got the event is explained:', () => {
  test('delivered, with its attempts', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500, 200)
    const { id } = await publish(posthorn)
    await posthorn.advance('1h')
    const { attempts, ...rest } = await explained(posthorn, id)
    expect(rest).toMatchObject({ matched: true, reason: 'delivered', next_due_at: null })
    expect(attempts.map(({ status }) => status)).toEqual(['FAILED', 'SUCCESSFUL'])
  })

  test('when its next attempt is due', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500)
    const { id } = await publish(posthorn)
    await posthorn.drain()
    expect(await explained(posthorn, id)).toMatchObject({
      reason: 'attempt 2 is due at 2026-01-01T00:01:00.000Z',
      next_due_at: Date.parse(start) + 60_000,
    })
  })

  test('disabled while an attempt was waiting', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: { config: { attempts: [60] } } })
    const { id } = await publish(posthorn)
    await posthorn.endpoints.update('default', 'shop', { enabled: false })
    expect((await explained(posthorn, id)).reason).toMatch(/^the endpoint is disabled: attempt 1 is due at .* canceled/)
    await posthorn.advance('2m')
    expect((await explained(posthorn, id)).reason).toBe('canceled: the endpoint was disabled when the attempt fell due')
  })

  test('left alone as it asked', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers({ status: 429, headers: { 'retry-after': '600' } })
    const { id } = await publish(posthorn)
    await posthorn.drain()
    const later = await publish(posthorn)
    await posthorn.drain()
    const until = Date.parse(start) + 600_000
    expect(await explained(posthorn, later.id)).toMatchObject({
      matched: true,
      reason: 'waits until 2026-01-01T00:10:00.000Z: the endpoint asked to be left alone',
      next_due_at: until,
    })
    expect(await explained(posthorn, id)).toMatchObject({ next_due_at: until })
  })

  test('held by its rate limit', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { rate_limit: { quota: 1, period: 30 } })
    await publish(posthorn)
    const { id } = await publish(posthorn)
    await posthorn.drain()
    expect(await explained(posthorn, id)).toMatchObject({
      reason: expect.stringMatching(/^waits until 2026-01-01T00:00:30.000Z: its rate limit is used up/),
      next_due_at: Date.parse(start) + 30_000,
    })
  })

  test('denied by the rules of this instance', async () => {
    const storage = memory()
    const posthorn = createTestPosthorn({ storage, logger: silent })
    const http = { send: async () => ({ kind: 'denied', message: '10.0.0.1 may not be sent to' }) as const }
    const { createPosthorn } = await import('../../src/index.ts')
    const sender = createPosthorn({ storage, http, clock: posthorn.clock, logger: silent })
    await withEndpoint(posthorn)
    const { id } = await publish(posthorn)
    await sender.drain()
    expect((await explained(posthorn, id)).reason).toBe('denied: 10.0.0.1 may not be sent to')
  })

  test.each([
    [404, 'failed and nothing follows: status 404'],
    ['reset', 'failed and nothing follows: read ECONNRESET'],
  ] as const)('given up after %s', async (reaction, reason) => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: { config: { attempts: [0] } } })
    posthorn.receiver(url).answers(reaction)
    const { id } = await publish(posthorn)
    await posthorn.drain()
    expect(await explained(posthorn, id)).toMatchObject({ matched: true, reason, next_due_at: null })
  })

  test('what is next counts where a retry by hand ended before the chain did', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500, 200)
    const { id } = await publish(posthorn)
    await posthorn.drain()
    await posthorn.events.retry('default', id, 'shop')
    await posthorn.drain()
    const { attempts, reason } = await explained(posthorn, id)
    expect(attempts.map(({ status }) => status)).toEqual(['FAILED', 'QUEUED', 'SUCCESSFUL'])
    expect(reason).toMatch(/^attempt 2 is due/)
  })

  test('due later than a date can say', async () => {
    const storage = memory()
    const posthorn = createTestPosthorn({ storage })
    await withEndpoint(posthorn)
    // As it was written before tries were bounded.
    const [found] = (await storage.configuration('default'))!.endpoints
    const retry = { strategy: 'fixed', config: { attempts: [Number.MAX_SAFE_INTEGER], jitter: 0 } } as const
    await storage.endpoints.update('default', { ...found!.row, retry }, found!.revision)
    const { id } = await publish(posthorn)
    expect((await explained(posthorn, id)).reason).toBe(`attempt 1 is due at ${Number.MAX_SAFE_INTEGER}`)
  })
})

test('explain goes through endpoints in pages, and counts all tries of each', async () => {
  const posthorn = createTestPosthorn()
  await Promise.all(['a', 'b', 'c'].map((id) => withEndpoint(posthorn, { id, retry: { config: { attempts: [0] } } })))
  const { id } = await publish(posthorn)
  await Promise.all(Array.from({ length: 30 }, () => posthorn.events.retry('default', id, 'b')))
  await posthorn.drain()
  const first = await posthorn.events.explain('default', id, { limit: 2 })
  expect(first.map(({ endpoint_id, tries }) => [endpoint_id, tries])).toEqual([
    ['a', 1],
    ['b', 31],
  ])
  expect(first[1]!.attempts.length).toBe(20)
  const ask = async (query: string) =>
    (await posthorn.admin.fetch(new Request(`http://admin.test/events/${id}/explain?${query}`))).json()
  expect(await ask('limit=2&after=b')).toMatchObject([{ endpoint_id: 'c', matched: true, tries: 1 }])
  expect(await ask('limit=0')).toMatchObject({
    error: { fields: { '@params': ['limit: number must be at least 1'] } },
  })
})

test('every endpoint of the workspace is explained, over HTTP as well', async () => {
  const posthorn = createTestPosthorn()
  await withEndpoint(posthorn)
  await withEndpoint(posthorn, { id: 'other', events: [] })
  await posthorn.workspaces.create({ id: 'elsewhere' })
  await posthorn.endpoints.create('elsewhere', { request: { url }, events: ['*'] })
  const { id } = await publish(posthorn)
  await posthorn.drain()
  const ask = (path: string) => posthorn.admin.fetch(new Request(`http://admin.test${path}`))
  const response = await ask(`/workspaces/default/events/${id}/explain`)
  expect(response.status).toBe(200)
  const body = await response.json()
  expect(body).toEqual(await posthorn.events.explain('default', id))
  expect(body).toMatchObject([
    { endpoint_id: 'other', matched: false },
    { endpoint_id: 'shop', matched: true },
  ])
  for (const unknown of [`/workspaces/elsewhere/events/${id}/explain`, '/events/%00/explain', '/events/no/explain']) {
    const refused = await ask(unknown)
    expect([refused.status, await refused.json()]).toEqual([404, { message: 'Not found' }])
  }
})
