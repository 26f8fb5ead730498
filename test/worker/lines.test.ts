import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { claimed } from '../support/claimed.ts'
import { heldHttp, ok, timedOut } from '../support/held-http.ts'

// Jobs that are claimed before their endpoint has a slot for them.

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const perEndpoint = 4

/** An endpoint with a backlog of 200, all of them replayed where `low`, and requests that were answered at once. */
async function backlog({ answerMs = 1, low = false, perEndpoint: cap = perEndpoint } = {}) {
  const clock = fakeClock()
  const http = heldHttp()
  const calls: string[] = []
  const engine = claimed(memory())
  const storage = intercepted(engine, async (name, call) => {
    calls.push(name)
    return await call()
  })
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
    storage,
    clock,
    http,
    logger: quiet,
    deliver: { concurrency: 64, perEndpoint: cap },
  })
  const url = 'https://e.test/'
  await posthorn.endpoints.create('default', { id: 'e', request: { url }, events: ['*'], enabled: !low })
  for (let n = 0; n < 200; n++) await posthorn.events.create('default', { event_type: 'x', data: { n } })
  if (low) {
    await posthorn.endpoints.patch('default', 'e', { enabled: true })
    await posthorn.events.replay('default', { missing: true, endpoint_id: 'e' })
  }
  await posthorn.start()
  await clock.advance(0)
  const answer = async (count = Infinity) => {
    for (const held of http.inFlight.slice(0, count)) held.answer(ok)
    await clock.advance(0)
  }
  for (let n = 0; n < 10; n++) {
    await clock.advance(answerMs)
    await answer()
  }
  const heldJobs = async () => {
    const now = clock.now()
    const { size } = await engine.queue!.stats(now)
    return size - (await engine.queue!.dueOf!('e', now))
  }
  return { posthorn, clock, http, calls, answer, heldJobs }
}

test('more jobs are held than are in flight, and each begins when one has ended, without a claim', async () => {
  const { posthorn, http, calls, answer, heldJobs } = await backlog()
  expect(http.inFlight).toHaveLength(perEndpoint)
  const held = await heldJobs()
  expect(held).toBeGreaterThan(perEndpoint + 2)
  expect(held).toBeLessThanOrEqual(perEndpoint * 4)
  calls.length = 0
  const before = http.sent.length
  await answer(1)
  expect(http.sent.length).toBe(before + 1)
  expect(http.inFlight).toHaveLength(perEndpoint)
  expect(calls).not.toContain('queue.claim')
  await posthorn.stop({ timeoutMs: 0 })
})

test('a backlog takes a claim for several times the slots', async () => {
  const { posthorn, clock, http, calls, answer } = await backlog()
  calls.length = 0
  const before = http.sent.length
  for (let n = 0; n < 30; n++) {
    await clock.advance(1)
    await answer()
  }
  const sent = http.sent.length - before
  expect(sent).toBeGreaterThanOrEqual(100)
  const claims = calls.filter((name) => name === 'queue.claim').length
  expect(sent / claims).toBeGreaterThan(1.5 * perEndpoint)
  await posthorn.stop({ timeoutMs: 0 })
})

test('an endpoint whose answers take a second gets no job ahead', async () => {
  const { posthorn, clock, http, heldJobs } = await backlog({ answerMs: 1000 })
  await clock.advance(100)
  expect(http.inFlight).toHaveLength(perEndpoint)
  expect(await heldJobs()).toBe(perEndpoint)
  await posthorn.stop({ timeoutMs: 0 })
})

test('where answers stop coming, others may send what waits here half a second later', async () => {
  const { posthorn, clock, http, answer, heldJobs } = await backlog()
  expect(await heldJobs()).toBeGreaterThan(perEndpoint)
  await clock.advance(600)
  expect(await heldJobs()).toBe(perEndpoint)
  await clock.advance(5000)
  expect(await heldJobs()).toBe(perEndpoint)
  expect(http.inFlight).toHaveLength(perEndpoint)

  for (let n = 0; n < 100 && (await heldJobs()) <= perEndpoint; n++) {
    await answer(1)
    await clock.advance(1)
  }
  expect(await heldJobs()).toBeGreaterThan(perEndpoint) // answers come again
  await posthorn.stop({ timeoutMs: 0 })
})

test('an endpoint that becomes slow keeps a single job', async () => {
  const { posthorn, clock, http, heldJobs } = await backlog()
  for (const held of http.inFlight.splice(0)) held.answer(timedOut)
  await clock.advance(200)
  expect(http.inFlight.length).toBeLessThanOrEqual(1)
  const retries = perEndpoint // their jobs are due later
  expect(await heldJobs()).toBeLessThanOrEqual(1 + retries)
  await posthorn.stop({ timeoutMs: 0 })
})

test('an endpoint that is turned off gets nothing that waited here', async () => {
  const { posthorn, clock, http, answer } = await backlog()
  await posthorn.endpoints.patch('default', 'e', { enabled: false })
  const before = http.sent.length
  for (let n = 0; n < 5; n++) {
    await clock.advance(10)
    await answer()
  }
  expect(http.sent.length).toBe(before)
  const page = await posthorn.attempts.list('default', { status: 'CANCELED', page_no: 1, page_size: 1 })
  expect('total' in page && page.total).toBeGreaterThan(100)
  await posthorn.stop({ timeoutMs: 0 })
})

test('stop gives back what waits, and sends none of it', async () => {
  const { posthorn, clock, http, heldJobs } = await backlog()
  const before = http.sent.length
  const stopping = posthorn.stop({ timeoutMs: 5000 })
  await clock.advance(0)
  expect(await heldJobs()).toBe(perEndpoint)
  for (const held of http.inFlight.splice(0)) held.answer(ok)
  await clock.advance(1000)
  await stopping
  expect(http.sent.length).toBe(before)
  expect(await heldJobs()).toBe(0)
})

test('of replayed events a quarter of the slots is in flight, and more wait here, behind all fresh ones', async () => {
  const cap = 8
  const { posthorn, clock, http, calls, answer, heldJobs } = await backlog({ low: true, perEndpoint: cap })
  expect(http.inFlight).toHaveLength(cap / 4)
  expect(await heldJobs()).toBeGreaterThan(cap / 4 + 2)
  expect(await heldJobs()).toBeLessThanOrEqual(cap)
  calls.length = 0
  for (let n = 0; n < 20; n++) {
    await answer(1)
    expect(http.inFlight).toHaveLength(cap / 4)
  }
  expect(calls.filter((name) => name === 'queue.claim').length).toBeLessThanOrEqual(10)

  for (let n = 0; n < cap; n++) await posthorn.events.create('default', { event_type: 'fresh', data: { n } })
  await clock.advance(0)
  const types = () => http.inFlight.map(({ request }) => JSON.stringify(request))
  expect(types().filter((text) => text.includes('fresh'))).toHaveLength(cap - cap / 4)
  expect(http.inFlight).toHaveLength(cap)
  await answer(2) // of the replayed ones
  expect(types().filter((text) => text.includes('fresh'))).toHaveLength(cap)
  await posthorn.stop({ timeoutMs: 0 })
})
