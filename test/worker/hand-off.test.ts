import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Options } from '../../src/options.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { claimed } from '../support/claimed.ts'
import { heldHttp, ok, timedOut } from '../support/held-http.ts'

// Where the process that publishes also delivers and has room, it delivers without a claim.

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function instance({ storage = memory(), ...options }: Options = {}) {
  const clock = fakeClock()
  const http = heldHttp()
  const calls: string[] = []
  let fail: (name: string) => void = () => {}
  const engine = intercepted(storage, async (name, call) => {
    calls.push(name)
    fail(name)
    return await call()
  })
  const make = () =>
    makePosthorn({ ...portablePlatform, batches: true })({ storage: engine, clock, http, logger: quiet, ...options })
  const posthorn = make()
  await posthorn.endpoints.create('default', { id: 'e', request: { url: 'https://e.test/' }, events: ['e'] })
  await posthorn.endpoints.create('default', { id: 'f', request: { url: 'https://f.test/' }, events: ['f'] })
  const publish = (event_type: string) => posthorn.events.create('default', { event_type, data: {} })
  const answer = async () => {
    for (const held of http.inFlight.splice(0)) held.answer(ok)
    await clock.advance(0)
  }
  /** Both endpoints have answered, and nothing waits. */
  const settle = async () => {
    for (const type of ['e', 'f']) await publish(type)
    await clock.advance(0)
    await answer()
    await clock.advance(1000)
    calls.length = 0
    http.sent.length = 0
  }
  const statuses = async () =>
    (await posthorn.attempts.list('default', { sort: 'id.asc' })).data.map(({ status }) => status)
  return {
    posthorn,
    make,
    clock,
    http,
    calls,
    publish,
    answer,
    settle,
    statuses,
    failing: (on: typeof fail) => (fail = on),
  }
}

test('an event is sent as soon as it is stored: two calls of the storage, and no claim', async () => {
  const { posthorn, clock, http, calls, publish, answer, settle, statuses } = await instance()
  await posthorn.start()
  await settle()
  await publish('e')
  await clock.advance(0)
  expect(http.sent.map(({ url }) => url)).toEqual(['https://e.test/'])
  await answer()
  // The work of each minute, which reads workspaces, may fall in this moment.
  const ofDeliveries = calls.filter((name) => /^(events|attempts|queue)\./.test(name) && !name.endsWith('nextDueAt'))
  expect(ofDeliveries).toEqual(['events.ingest', 'attempts.settle'])
  expect(await statuses()).toEqual(['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL'])
  expect((await posthorn.status()).queue.size).toBe(0)
  await posthorn.stop()
})

test('an endpoint that was never tried is claimed, as one that did not answer', async () => {
  const { posthorn, clock, http, calls, publish, settle } = await instance()
  await posthorn.start()
  await publish('e')
  await clock.advance(0)
  expect(calls).toContain('attempts.load')
  http.inFlight.shift()!.answer(timedOut)
  await clock.advance(1000)
  await settle()
  await publish('f')
  await clock.advance(0)
  expect(calls).not.toContain('queue.claim')
  await posthorn.stop({ timeoutMs: 0 })
})

test('an event for many endpoints that were never tried: no claim brings a job that has no slot', async () => {
  const { posthorn, clock, http, calls, answer } = await instance({ deliver: { concurrency: 16 } })
  const endpoints = 40
  await posthorn.config.sync('default', {
    endpoints: Array.from({ length: endpoints }, (_, i) => ({
      name: `endpoint ${i}`,
      request: { url: `https://e${i}.test/` },
      events: ['many'],
    })),
  })
  await posthorn.start()
  await posthorn.events.create('default', { event_type: 'many', data: {} })
  for (let n = 0; n < endpoints; n++) {
    await clock.advance(10)
    await answer()
  }
  expect(new Set(http.sent.map(({ url }) => url)).size).toBe(endpoints)
  expect(calls).not.toContain('queue.release')
  await posthorn.stop({ timeoutMs: 0 })
})

test('a process that does not deliver stores jobs for those that do', async () => {
  const { posthorn, make, clock, http, calls, publish, settle } = await instance()
  await posthorn.start()
  await settle()
  await posthorn.stop()
  calls.length = 0
  await publish('e')
  await clock.advance(1000)
  expect(http.sent).toHaveLength(0)
  const other = make()
  await other.start()
  await clock.advance(1000)
  expect(http.sent).toHaveLength(1)
  await other.stop({ timeoutMs: 0 })
})

test('what is published while replayed events wait is sent before them, without a claim', async () => {
  const { posthorn, clock, http, calls, publish, answer, settle } = await instance({
    deliver: { concurrency: 64, perEndpoint: 4 },
  })
  await posthorn.endpoints.patch('default', 'e', { enabled: false })
  for (let n = 0; n < 40; n++) await publish('e')
  await posthorn.endpoints.patch('default', 'e', { enabled: true })
  await posthorn.start()
  await settle()
  await posthorn.events.replay('default', { missing: true, endpoint_id: 'e' })
  for (let n = 0; n < 3; n++) {
    await clock.advance(20)
    await answer()
  }
  expect(http.sent.length).toBeLessThan(30)
  calls.length = 0
  const { id } = await publish('e')
  await clock.advance(0)
  expect(http.sent.at(-1)!.headers['webhook-event-id'] ?? http.sent.at(-1)!.headers['webhook-id']).toBe(id)
  expect(calls).not.toContain('queue.claim')
  await posthorn.stop({ timeoutMs: 0 })
})

test('an event of a workspace that uses few slots is sent without a claim, while another has its share of them in use', async () => {
  const { posthorn, clock, http, calls, publish, answer, settle } = await instance({
    deliver: { concurrency: 64, perEndpoint: 64 },
  })
  await posthorn.workspaces.create({ id: 'busy' })
  await posthorn.endpoints.create('busy', { request: { url: 'https://busy.test/' }, events: ['*'] })
  const busy = () => posthorn.events.create('busy', { event_type: 'e', data: {} })
  await posthorn.start()
  await busy()
  await clock.advance(0)
  await answer()
  await settle()
  await Promise.all(Array.from({ length: 80 }, busy))
  await clock.advance(1000)
  expect(http.inFlight).toHaveLength(48)
  calls.length = 0
  await publish('e')
  await publish('f')
  await clock.advance(0)
  expect(http.sent.slice(-2).map(({ url }) => url)).toEqual(['https://e.test/', 'https://f.test/'])
  await busy()
  await clock.advance(0)
  expect(http.inFlight).toHaveLength(50)
  expect(calls).not.toContain('attempts.load')
  await posthorn.stop({ timeoutMs: 0 })
})

test('what comes behind jobs that wait in the queue is claimed after them', async () => {
  const { posthorn, make, clock, http, calls, publish, answer, settle } = await instance({
    deliver: { concurrency: 64, perEndpoint: 2 },
  })
  await posthorn.start()
  await settle()
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.push((await make().events.create('default', { event_type: 'e', data: {} })).id)
  await clock.advance(20)
  expect(http.sent).toHaveLength(2)
  for (let n = 0; n < 3; n++) {
    await answer()
    if (n === 0) ids.push((await publish('e')).id)
    await clock.advance(20)
  }
  await answer()
  expect(http.sent.map(({ headers }) => headers['webhook-event-id'] ?? headers['webhook-id'])).toEqual(ids)
  expect(calls).toContain('queue.claim')
  calls.length = 0
  await clock.advance(1000)
  calls.length = 0
  await publish('e')
  await clock.advance(0)
  expect(calls).not.toContain('queue.claim') // nothing waits any more
  await posthorn.stop({ timeoutMs: 0 })
})

test('a paused, limited or full endpoint keeps its rules', async () => {
  const { posthorn, clock, http, publish, settle } = await instance()
  await posthorn.start()
  await settle()
  await posthorn.endpoints.patch('default', 'e', { rate_limit: { quota: 1, period: 60 } })
  await posthorn.endpoints.patch('default', 'f', { paused: true })
  for (const type of ['e', 'e', 'e', 'f']) await publish(type)
  await clock.advance(1000)
  expect(http.sent.map(({ url }) => url)).toEqual(['https://e.test/'])
  await posthorn.stop({ timeoutMs: 0 })
})

test('an answer that asks for a pause is heeded by what is published then', async () => {
  const { posthorn, clock, http, publish, settle } = await instance()
  await posthorn.start()
  await settle()
  await publish('e')
  await clock.advance(0)
  http.inFlight
    .shift()!
    .answer({ kind: 'response', status: 429, headers: { 'retry-after': '30' }, body: '', ended: true })
  await clock.advance(1000)
  await publish('e')
  await clock.advance('28s')
  expect(http.sent).toHaveLength(1)
  await clock.advance('5s')
  expect(http.sent).toHaveLength(2)
  await posthorn.stop({ timeoutMs: 0 })
})

test('a configuration that moved on is matched again, and what was taken over before is let go', async () => {
  const { posthorn, make, clock, http, publish, answer, settle } = await instance()
  const other = make()
  await posthorn.start()
  await settle()
  await other.endpoints.patch('default', 'e', { request: { url: 'https://new.test/' } })
  await publish('e')
  await clock.advance(1000)
  expect(http.sent.map(({ url }) => url)).toEqual(['https://new.test/'])
  await answer()
  expect((await posthorn.status()).queue.size).toBe(0)
  await posthorn.stop()
})

test('where nobody knows whether an event was stored, the job is given back, and sent once', async () => {
  const storage = memory()
  let isLost = false
  const losing = intercepted(storage, async (name, call) => {
    const done = await call()
    if (name === 'events.ingest' && isLost) throw new Error('connection terminated')
    return done
  })
  const { posthorn, clock, http, publish, answer, settle, statuses } = await instance({ storage: losing })
  await posthorn.start()
  await settle()
  isLost = true
  await expect(publish('e')).rejects.toThrow('connection terminated')
  isLost = false
  await clock.advance('1m')
  expect(http.sent).toHaveLength(1)
  await answer()
  expect(await statuses()).toEqual(['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL'])
  await posthorn.stop()
})

test('where the engine goes away with the answer, the job is given back as soon as the engine is there again', async () => {
  const storage = memory()
  let isAway = false
  const dying = intercepted(storage, async (name, call) => {
    const done = isAway && name !== 'events.ingest' ? undefined : await call()
    if (isAway) throw new Error('connection terminated')
    return done
  })
  const { posthorn, clock, http, publish, settle } = await instance({ storage: dying })
  await posthorn.start()
  await settle()
  isAway = true
  await expect(publish('e')).rejects.toThrow('connection terminated')
  await clock.advance('4s')
  isAway = false
  await clock.advance('1s')
  expect(http.sent).toHaveLength(1)
  await posthorn.stop({ timeoutMs: 0 })
})

test('an event that is being stored while leases are lengthened is sent when it is stored', async () => {
  const storage = memory()
  let stored = Promise.resolve()
  const slow = intercepted(storage, async (name, call) => {
    if (name === 'events.ingest') await stored
    return await call()
  })
  const { posthorn, clock, http, publish, settle } = await instance({ storage: slow })
  await posthorn.start()
  await settle()
  let store = (): void => {}
  for (const waitMs of [9500, 500]) {
    stored = new Promise((resolve) => (store = resolve))
    const publishing = publish('e')
    await clock.advance(waitMs)
    store()
    await publishing
    await clock.advance(0)
  }
  expect(http.sent).toHaveLength(2)
  await clock.advance('29s')
  expect(http.sent).toHaveLength(2)
  await posthorn.stop({ timeoutMs: 0 })
})

test('a process that dies with what it took over leaves a lease: another process sends after it', async () => {
  const { posthorn, make, clock, http, publish, settle } = await instance()
  await posthorn.start()
  await settle()
  await publish('e')
  await clock.advance(0)
  expect(http.sent).toHaveLength(1)
  await posthorn.stop({ timeoutMs: 0 }) // the request was sent, and nobody knows what came of it
  const other = make()
  await other.start()
  await clock.advance('20s')
  expect(http.sent).toHaveLength(1)
  await clock.advance('15s')
  expect(http.sent).toHaveLength(2)
  await other.stop({ timeoutMs: 0 })
})

test('a queue of another engine gets the job as held before the request is sent', async () => {
  const { queue } = memory()
  const added: unknown[] = []
  let isAway = false
  const { posthorn, clock, http, publish, answer, settle, statuses } = await instance({
    queue: {
      ...queue,
      async add(jobs) {
        if (isAway) throw new Error('connection terminated')
        added.push(...jobs)
        return await queue.add(jobs)
      },
    },
  })
  await posthorn.start()
  await settle()
  added.length = 0
  await publish('e')
  await clock.advance(0)
  expect(added).toMatchObject([{ group: 'e', lease: { until: expect.any(Number) as number } }])
  expect(http.sent).toHaveLength(1)
  await answer()
  expect((await queue.stats(clock.now())).size).toBe(0)

  isAway = true
  await publish('e')
  await clock.advance(100)
  isAway = false
  expect(http.sent).toHaveLength(1)
  await clock.advance('10s') // the attempt is found among those that are overdue
  expect(http.sent).toHaveLength(2)
  await answer()
  expect(await statuses()).toEqual(['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL'])
  await posthorn.stop()
})

test('a queue of another engine that went away with its answer gets its jobs back as soon as it is there again', async () => {
  const { queue } = memory()
  let isAway = false
  let askedBack: number[] = []
  const { posthorn, clock, http, publish, settle } = await instance({
    queue: intercepted({ queue }, async (name, call, [claims]) => {
      if (name === 'queue.release') askedBack.push((claims as readonly unknown[]).length)
      const done = isAway && name !== 'queue.add' ? undefined : await call()
      if (isAway) throw new Error('connection terminated')
      return done
    }).queue,
  })
  await posthorn.start()
  await settle()
  isAway = true
  for (let n = 0; n < 3; n++) await publish('e')
  await clock.advance(100)
  askedBack = []
  await clock.advance('4s')
  expect(new Set(askedBack)).toEqual(new Set([3])) // all in one call
  expect(askedBack).toHaveLength(16)
  expect(http.sent).toHaveLength(0)
  isAway = false
  await clock.advance('1s')
  expect(http.sent).toHaveLength(3)
  await posthorn.stop({ timeoutMs: 0 })
})

test('what a claim brought too many of is given back as soon as the engine is there again', async () => {
  const storage = memory()
  let isAway = true
  const dying = intercepted(storage, async (name, call) => {
    if (name === 'queue.release' && isAway) throw new Error('connection terminated')
    return await call()
  })
  const { posthorn, clock, http, publish, answer } = await instance({ storage: dying })
  for (let n = 0; n < 3; n++) await publish('e')
  await posthorn.start()
  await clock.advance(0)
  expect(http.sent).toHaveLength(1) // a new endpoint gets a single request
  await answer()
  await clock.advance('4s')
  expect(http.sent).toHaveLength(1)
  isAway = false
  await clock.advance('1s')
  expect(http.sent).toHaveLength(3)
  await posthorn.stop({ timeoutMs: 0 })
})

test('an engine whose queue takes no leases is claimed from', async () => {
  const { posthorn, clock, http, calls, publish, settle } = await instance({ storage: claimed(memory()) })
  await posthorn.start()
  await settle()
  await publish('e')
  await clock.advance(0)
  expect(calls).toContain('queue.claim')
  expect(http.sent).toHaveLength(1)
  await posthorn.stop({ timeoutMs: 0 })
})
