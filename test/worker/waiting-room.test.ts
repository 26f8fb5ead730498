import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Options } from '../../src/options.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { heldHttp, ok, timedOut } from '../support/held-http.ts'

// A burst of events that finds no free slot waits for one in the process that published it, and needs no claim.

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** An engine in memory that the worker takes for a server: of the engine of its own process it claims, which costs little. */
const engineApart = () => ({ ...memory(), inProcess: false })

/** A worker with 8 slots, 4 for each endpoint, whose endpoints e and f answer. */
async function instance({ storage = engineApart(), ...options }: Options = {}) {
  const clock = fakeClock()
  const http = heldHttp()
  const calls: string[] = []
  const engine = intercepted(storage, async (name, call) => {
    calls.push(name)
    return await call()
  })
  const make = (own: Options = {}) =>
    makePosthorn({ ...portablePlatform, batches: true })({
      storage: engine,
      clock,
      http,
      logger: quiet,
      deliver: { concurrency: 8, perEndpoint: 4 },
      ...options,
      ...own,
    })
  const posthorn = make()
  for (const id of ['e', 'f']) {
    await posthorn.endpoints.create('default', { id, request: { url: `https://${id}.test/` }, events: [id] })
  }
  const publish = (event_type: string, workspace = 'default') =>
    posthorn.events.create(workspace, { event_type, data: {} })
  const answer = async (count = Infinity) => {
    for (const held of http.inFlight.slice(0, count)) held.answer(ok)
    await clock.advance(0)
  }
  const begin = async ({ takesMs = 0 } = {}) => {
    await posthorn.start()
    for (const type of ['e', 'f']) await publish(type)
    await clock.advance(takesMs)
    await answer()
    await clock.advance(1000)
    calls.length = 0
    http.sent.length = 0
  }
  const ids = () => http.sent.map(({ headers }) => headers['webhook-event-id'] ?? headers['webhook-id'])
  return { posthorn, make, clock, http, calls, publish, answer, begin, ids }
}

test('what a burst has no slot for begins when slots fall free, in its order and without a claim', async () => {
  const { posthorn, clock, http, calls, publish, answer, begin, ids } = await instance()
  await begin()
  const published: string[] = []
  for (let n = 0; n < 10; n++) published.push((await publish('e')).id)
  expect(http.inFlight).toHaveLength(4)
  for (let n = 0; n < 10; n++) await answer(1)
  expect(ids()).toEqual(published)
  expect(calls).not.toContain('queue.claim')
  await clock.advance(100) // outcomes are stored together
  expect((await posthorn.status()).queue.size).toBe(0)
  await posthorn.stop()
})

test('a workspace gets three quarters of the slots, and one that comes later a slot at once', async () => {
  const { posthorn, clock, http, publish, answer, begin } = await instance()
  await posthorn.workspaces.create({ id: 'small' })
  await posthorn.endpoints.create('small', { id: 's', request: { url: 'https://s.test/' }, events: ['*'] })
  await begin()
  await publish('x', 'small')
  await clock.advance(0)
  await answer()
  for (const type of ['e', 'f']) for (let n = 0; n < 8; n++) await publish(type)
  expect(http.inFlight).toHaveLength(6)
  await publish('x', 'small')
  await clock.advance(0)
  expect(http.inFlight.at(-1)!.request.url).toBe('https://s.test/')
  await posthorn.stop({ timeoutMs: 0 })
})

test.each([
  ['alone', false],
  ['beside another process, which might send the others', true],
])('more waits here while a process works %s', async (_, isBeside) => {
  const storage = engineApart()
  const { posthorn, make, clock, http, publish, begin } = await instance({ storage })
  await begin({ takesMs: 100 })
  if (isBeside) {
    const other = make({ deliver: { concurrency: 1 } })
    await other.start()
    await clock.advance('1m')
    await other.stop()
  }
  for (let n = 0; n < 4 + 10 + 6; n++) await publish('e')
  expect(http.inFlight).toHaveLength(4)
  const busy = { workspaces: new Map(), groups: new Map(), low: new Map() }
  const all = { limit: 100, free: 100, cap: 100, busy, leaveOut: new Set<string>(), leaseMs: 1, now: clock.now() }
  const inQueue = await storage.queue.claim(all)
  expect(inQueue).toHaveLength(isBeside ? 6 : 0) // ten requests of 100 ms begin in 250 ms, with four at a time
  await posthorn.stop({ timeoutMs: 0 })
})

test('what waits for eight seconds goes back to the queue, and is sent from there once, in order', async () => {
  const { posthorn, clock, calls, publish, answer, begin, ids } = await instance()
  await begin()
  const published: string[] = []
  for (let n = 0; n < 6; n++) published.push((await publish('e')).id)
  await clock.advance(7900)
  expect(calls).not.toContain('queue.release')
  await clock.advance(400)
  expect(calls).toContain('queue.release')
  published.push((await publish('e')).id)
  for (let n = 0; n < 3; n++) {
    await answer()
    await clock.advance(50)
  }
  expect(ids()).toEqual(published)
  expect(calls).toContain('queue.claim')
  await posthorn.stop({ timeoutMs: 0 })
})

test('what waits too long of many endpoints goes back in few calls', async () => {
  const { posthorn, clock, calls, publish, answer, begin } = await instance()
  const many = 300
  for (let i = 0; i < many; i++) {
    await posthorn.endpoints.create('default', { request: { url: `https://many${i}.test/` }, events: ['wide'] })
  }
  await begin()
  const wide = await publish('wide')
  for (let n = 0; n < many; n++) {
    await answer()
    await clock.advance(20)
  }
  expect(await posthorn.attempts.list('default', { event_id: wide.id, status: 'SUCCESSFUL' })).toMatchObject({
    total: many,
  })
  await publish('wide') // all endpoints are known to answer, and now do not
  calls.length = 0
  await clock.advance('9s')
  const givenBack = calls.filter((name) => name === 'queue.release')
  expect(givenBack.length).toBeGreaterThan(0)
  expect(givenBack.length).toBeLessThanOrEqual(4)
  await posthorn.stop({ timeoutMs: 0 })
})

test('beside another process what waits for half a second goes back', async () => {
  const { posthorn, make, clock, calls, publish, begin } = await instance()
  await begin()
  const other = make({ deliver: { concurrency: 1 } })
  await other.start()
  await clock.advance('1m')
  await other.stop()
  for (let n = 0; n < 6; n++) await publish('e')
  calls.length = 0
  await clock.advance(400)
  expect(calls).not.toContain('queue.release')
  await clock.advance(400)
  expect(calls).toContain('queue.release')
  await posthorn.stop({ timeoutMs: 0 })
})

test('beside another workspace a burst has 12 quick requests in flight, and alone as many as it has slots', async () => {
  const { posthorn, clock, http, publish, answer, begin } = await instance({
    deliver: { concurrency: 100, perEndpoint: 100 },
  })
  await posthorn.workspaces.create({ id: 'small' })
  await posthorn.endpoints.create('small', { id: 's', request: { url: 'https://s.test/' }, events: ['*'] })
  await begin()
  await publish('x', 'small')
  await clock.advance(0)
  await answer()
  for (let n = 0; n < 40; n++) await publish('e')
  expect(http.inFlight).toHaveLength(12)
  await answer(1)
  expect(http.inFlight).toHaveLength(12)
  await clock.advance(1100)
  await answer()
  expect(http.inFlight).toHaveLength(0)
  for (let n = 0; n < 40; n++) await publish('e')
  expect(http.inFlight).toHaveLength(40)
  await posthorn.stop({ timeoutMs: 0 })
})

test('a claim that leaves out many endpoints is not followed by one for each of them', async () => {
  const { posthorn, clock, http, calls, publish, answer, begin } = await instance({
    deliver: { concurrency: 64, perEndpoint: 4 },
  })
  const endpoints = Array.from({ length: 100 }, (_, i) => `many ${i}`)
  await posthorn.config.sync('default', {
    endpoints: endpoints.map((name) => ({ name, request: { url: 'https://many.test/' }, events: ['many'] })),
  })
  await posthorn.workspaces.create({ id: 'small' })
  await posthorn.endpoints.create('small', { id: 's', request: { url: 'https://s.test/' }, events: ['*'] })
  await begin()
  await publish('many')
  for (let n = 0; n < endpoints.length; n++) {
    await clock.advance(10)
    await answer()
  }
  http.sent.length = calls.length = 0
  await publish('many')
  expect(http.sent).toHaveLength(48)
  await publish('x', 'small') // nobody knows whether it answers: it is claimed, and the claim leaves out what waits here
  await clock.advance(0)
  expect(calls.filter((name) => name === 'queue.claim').length).toBeGreaterThan(0)
  calls.length = 0
  while (http.inFlight.length > 0) await answer(1)
  expect(http.sent).toHaveLength(endpoints.length + 1)
  expect(calls.filter((name) => name === 'queue.claim').length).toBeLessThan(20)
  await posthorn.stop({ timeoutMs: 0 })
})

test('an endpoint that stops to answer has one request at a time again', async () => {
  const { posthorn, clock, http, publish, begin } = await instance()
  await begin()
  for (let n = 0; n < 8; n++) await publish('e')
  expect(http.inFlight).toHaveLength(4)
  for (const held of http.inFlight.slice()) held.answer(timedOut)
  await clock.advance(1000)
  expect(http.inFlight).toHaveLength(1)
  await posthorn.stop({ timeoutMs: 0 })
})

test('what waits is sent as the configuration says when it begins', async () => {
  const { posthorn, clock, http, publish, answer, begin } = await instance()
  await begin()
  for (let n = 0; n < 6; n++) await publish('e')
  await posthorn.endpoints.patch('default', 'e', { request: { url: 'https://new.test/' } })
  await answer()
  await clock.advance(50)
  expect(http.inFlight.map(({ request }) => request.url)).toEqual(['https://new.test/', 'https://new.test/'])
  await posthorn.stop({ timeoutMs: 0 })
})

test('a stop gives back what waits', async () => {
  const { posthorn, make, clock, http, publish, begin } = await instance()
  await begin()
  for (let n = 0; n < 6; n++) await publish('e')
  const stopping = posthorn.stop()
  for (const held of http.inFlight.slice()) held.answer(ok)
  await stopping
  const other = make()
  await other.start()
  await clock.advance(100)
  expect(http.sent.length).toBeGreaterThan(4)
  await other.stop({ timeoutMs: 0 })
})

test('a retry that falls due in the queue has its turn, however long the burst goes on', async () => {
  const { posthorn, clock, http, publish, answer, begin } = await instance()
  await begin()
  const { id } = await publish('e')
  await clock.advance(0)
  http.inFlight[0]!.answer({ kind: 'response', status: 500, headers: {}, body: '', ended: true })
  await clock.advance(0)
  let isRetried = false
  for (let ms = 0; ms < 70_000 && !isRetried; ms += 50) {
    for (let n = 0; n < 4; n++) await publish('e')
    http.sent.length = 0
    await answer(4)
    await clock.advance(50)
    isRetried = http.sent.some(({ headers }) => (headers['webhook-event-id'] ?? headers['webhook-id']) === id)
  }
  expect(isRetried).toBe(true)
  await posthorn.stop({ timeoutMs: 0 })
})

test('a job takes places by its bytes, so that large events do not fill the memory', async () => {
  const { posthorn, clock, http, calls, begin } = await instance()
  await begin()
  const data = { text: 'x'.repeat(200_000) } // 25 places of 64
  for (let n = 0; n < 8; n++) await posthorn.events.create('default', { event_type: 'e', data })
  await clock.advance(10)
  expect(http.inFlight).toHaveLength(4)
  expect(calls.filter((name) => name === 'events.ingest')).toHaveLength(8)
  expect((await posthorn.status()).queue.size).toBe(8)
  await posthorn.stop({ timeoutMs: 0 })
})
