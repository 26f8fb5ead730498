import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import type { Options } from '../../src/options.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { claimOptions } from '../support/claim-options.ts'
import { heldHttp, ok } from '../support/held-http.ts'
import { claimed } from '../support/claimed.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** An instance over a storage of its own or a given one, whose requests stay in flight until they are answered. */
async function instance(options: Options = {}) {
  const clock = fakeClock()
  const http = heldHttp()
  const storage = options.storage ?? memory()
  const create = makePosthorn({ ...portablePlatform, batches: true })
  const posthorn = create({ storage, clock, http, logger: quiet, ...options })
  if ((await posthorn.endpoints.list('default')).data.length === 0) {
    await posthorn.endpoints.create('default', { id: 'e', request: { url: 'https://a.test/' }, events: ['*'] })
  }
  const publish = (n = 0) => posthorn.events.create('default', { event_type: 'x', data: { n } })
  const statuses = async () =>
    (await posthorn.attempts.list('default', { sort: 'id.asc' })).data.map(({ status }) => status)
  return { posthorn, clock, http, storage, publish, statuses }
}

/** A promise that is settled from outside. */
function deferred() {
  let resolve = (): void => {}
  let reject = (_cause: Error): void => {}
  const promise = new Promise<void>((done, fail) => {
    resolve = done
    reject = fail
  })
  return { promise, resolve, reject }
}

/** A storage whose first claim that brings jobs answers when `answer` is called. */
function withLateClaim(storage: ReturnType<typeof memory>) {
  let answer = (): void => {}
  let isFirst = true
  const slow = intercepted(storage, async (call, next) => {
    const claims = await next()
    if (call === 'queue.claim' && isFirst && (claims as unknown[]).length > 0) {
      isFirst = false
      await new Promise<void>((resolve) => (answer = resolve))
    }
    return claims
  })
  return { slow, answer: () => answer() }
}

test('a tick lengthens the lease of a long request, while other deliveries end every few seconds', async () => {
  const storage = memory()
  const { posthorn, clock, http } = await instance({ storage })
  for (let n = 0; n < 15; n++) {
    const request = { url: `https://b${n}.test/`, timeout: 60_000 }
    await posthorn.endpoints.create('default', { request, events: ['*'] })
  }
  await posthorn.events.create('default', { event_type: 'y', data: {} })
  const ticked = posthorn.tick({ budgetMs: 100_000 })
  await expect.poll(() => http.inFlight.length).toBe(16)
  for (let n = 0; n < 15; n++) {
    await clock.advance('3s')
    http.inFlight[1]!.answer(ok)
    await clock.advance(0)
  }
  expect(await storage.queue.claim(claimOptions({ now: clock.now() }))).toEqual([]) // nobody else may have it
  http.inFlight[0]!.answer(ok)
  await clock.advance('1s')
  expect(await ticked).toMatchObject({ delivered: 16 })
})

describe('a claim that the queue answers late', () => {
  test('is not sent once its leases have ended: another process may have sent it by then', async () => {
    const storage = memory()
    const { slow, answer } = withLateClaim(storage)
    const here = await instance({ storage: slow })
    await here.publish()
    await here.posthorn.start()
    await here.clock.advance('31s')
    answer()
    await here.clock.advance(0)
    const [again] = await storage.queue.claim(claimOptions({ leaseMs: 5000, now: here.clock.now() }))
    expect(again).toBeDefined() // by another process, which sends it
    expect(here.http.sent).toHaveLength(0)
    await here.clock.advance('10s') // that one died
    expect(here.http.sent).toHaveLength(1)
    here.http.inFlight[0]!.answer(ok)
    await here.clock.advance(0)
    expect(await here.statuses()).toEqual(['SUCCESSFUL'])
    await here.posthorn.stop()
  })

  test('or never, does not keep the next start from claiming', async () => {
    const { slow, answer } = withLateClaim(memory())
    const { posthorn, clock, http, publish } = await instance({ storage: slow })
    await publish()
    await posthorn.start()
    await clock.advance('1s')
    const stopping = posthorn.stop({ timeoutMs: 1000 })
    await clock.advance('3s')
    await stopping
    await posthorn.start()
    await clock.advance('31s')
    expect(http.sent).toHaveLength(1)
    answer() // its jobs are leased to nobody by now
    await clock.advance(0)
    expect(http.sent).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await posthorn.stop()
  })

  test('is the only one under way, however many ticks begin meanwhile', async () => {
    let claims = 0
    let most = 0
    const slow = intercepted(memory(), async (call, next) => {
      if (call !== 'queue.claim') return await next()
      most = Math.max(most, ++claims)
      await new Promise((resolve) => setTimeout(resolve, 50))
      const answer = await next()
      claims--
      return answer
    })
    const http = { send: async () => ok }
    const { posthorn, publish, statuses } = await instance({ storage: slow, http })
    for (let n = 0; n < 20; n++) await publish(n)
    const first = posthorn.drain()
    await expect.poll(() => claims, { interval: 1 }).toBe(1)
    await Promise.all([first, posthorn.tick(), posthorn.drain()])
    await posthorn.drain()
    expect(most).toBe(1)
    expect(new Set(await statuses())).toEqual(new Set(['SUCCESSFUL']))
  })
})

describe('start', () => {
  test('delivers what is published afterwards, at once', async () => {
    const { posthorn, clock, http, publish, statuses } = await instance()
    await posthorn.start()
    await clock.advance(500)
    await publish()
    await clock.advance(0)
    expect(http.inFlight).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await clock.advance(0)
    expect(await statuses()).toEqual(['SUCCESSFUL'])
    await posthorn.stop()
  })

  test('twice is one start', async () => {
    const { posthorn, clock, http, publish } = await instance()
    await Promise.all([posthorn.start(), posthorn.start()])
    await publish()
    await clock.advance(0)
    expect(http.sent).toHaveLength(1)
    const stopped = posthorn.stop({ timeoutMs: 0 })
    await clock.advance(1000)
    await stopped
  })

  test('keeps holds that last longer than a lease', async () => {
    const { posthorn, clock, http, publish, statuses } = await instance()
    await posthorn.start()
    await publish()
    await clock.advance('3m')
    expect(http.sent).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await clock.advance(0)
    expect(await statuses()).toEqual(['SUCCESSFUL'])
    await posthorn.stop()
  })

  test('on memory warns once where the host says that it is in production', async () => {
    const warnings: string[] = []
    const logger = { ...quiet, warn: (message: string) => void warnings.push(message) }
    const create = (production: boolean) =>
      makePosthorn({ ...portablePlatform, production: () => production })({
        clock: fakeClock(),
        http: heldHttp(),
        logger,
      })
    for (const production of [false, true]) {
      const posthorn = create(production)
      await posthorn.start()
      await posthorn.stop()
    }
    expect(warnings).toEqual(['posthorn keeps everything in memory: nothing survives a restart of this process'])
  })

  test('refuses an engine that cannot serve, and may be tried again', async () => {
    const storage = memory()
    let old = true
    const verify = () => (old ? Promise.reject(new Error('run the migrations')) : Promise.resolve())
    const { posthorn } = await instance({ storage: { ...storage, verify } })
    await expect(posthorn.start()).rejects.toThrow('run the migrations')
    old = false
    await posthorn.start()
    await posthorn.stop()
  })
})

test('what a dead process held is sent by another within 30 seconds', async () => {
  const clock = fakeClock()
  const storage = memory()
  const dead = await instance({ storage, clock })
  await dead.publish()
  // A claim of a process that is no more: nobody lengthens it.
  await storage.queue.claim(claimOptions({ leaseMs: 30_000, now: clock.now() }))

  const heir = await instance({ storage, clock })
  await heir.posthorn.start()
  await clock.advance('29s')
  expect(heir.http.inFlight).toHaveLength(0)
  await clock.advance('1s')
  expect(heir.http.inFlight).toHaveLength(1)
  heir.http.inFlight[0]!.answer(ok)
  await clock.advance(0)
  expect(await heir.statuses()).toEqual(['SUCCESSFUL'])
  await heir.posthorn.stop()
})

test('an engine that fails between a claim and its load costs the length of the failure, not that of a lease', async () => {
  let claims = 0
  let fails = false
  const storage = intercepted(memory(), async (name, call) => {
    if (fails) throw new Error('connection terminated')
    const answer = await call()
    if (name === 'queue.claim' && (answer as readonly unknown[]).length > 0) fails = ++claims === 1
    return answer
  })
  const { posthorn, clock, http, publish } = await instance({ storage })
  await publish()
  await posthorn.start()
  await clock.advance('5s')
  expect([fails, http.sent.length]).toEqual([true, 0])
  fails = false
  await clock.advance('2s')
  expect(http.sent).toHaveLength(1)
  const stopped = posthorn.stop({ timeoutMs: 0 })
  await clock.advance('1s')
  await stopped
})

test('a job that was given back, and taken again before the answer to that came, is sent once', async () => {
  let loads = 0
  let releases = 0
  const storage = intercepted(claimed(memory()), async (name, call) => {
    if (name === 'attempts.load' && ++loads === 2) throw new Error('connection terminated')
    const answer = await call()
    if (name === 'queue.release' && ++releases === 1) throw new Error('connection terminated')
    return answer
  })
  const { posthorn, clock, http, publish, statuses } = await instance({ storage })
  await posthorn.start()
  await publish(1)
  await clock.advance(0)
  http.inFlight.shift()!.answer(ok)
  await clock.advance(0)

  await publish(2)
  await clock.advance('1m')
  expect([releases, http.sent.length]).toEqual([2, 2])
  http.inFlight[0]!.answer(ok)
  await clock.advance(0)
  expect(await statuses()).toEqual(['SUCCESSFUL', 'SUCCESSFUL'])
  await posthorn.stop()
})

describe('stop', () => {
  test('lets requests in flight finish, and gives back what is not sent', async () => {
    const { posthorn, clock, http, publish, statuses } = await instance({ deliver: { perEndpoint: 1 } })
    await posthorn.start()
    await publish(1)
    await publish(2)
    await clock.advance(0)
    expect(http.inFlight).toHaveLength(1)
    let stopped = false
    const stopping = posthorn.stop().then(() => (stopped = true))
    await clock.advance('5s')
    expect(stopped).toBe(false)
    http.inFlight[0]!.answer(ok)
    await clock.advance(1000)
    await stopping
    expect(http.sent).toHaveLength(1)
    expect(await statuses()).toEqual(['SUCCESSFUL', 'QUEUED'])
  })

  test('waits for a claim that is under way, gives back what it brings, and sends nothing afterwards', async () => {
    const storage = memory()
    const { slow, answer } = withLateClaim(storage)
    const { posthorn, clock, http, publish } = await instance({ storage: slow })
    await posthorn.start()
    await publish()
    await clock.advance(0)
    let stopped = false
    const stopping = posthorn.stop().then(() => (stopped = true))
    await clock.advance(100)
    expect(stopped).toBe(false)
    answer()
    await clock.advance(1000)
    await stopping
    await clock.advance(1000)
    expect(http.sent).toHaveLength(0)
    const again = await storage.queue.claim(claimOptions({ now: clock.now() }))
    expect(again).toHaveLength(1)
  })

  test('aborts what does not finish in time, and leaves its hold to lapse', async () => {
    const { posthorn, clock, http, publish, statuses } = await instance()
    await posthorn.start()
    await publish()
    await clock.advance(0)
    const { signal } = http.inFlight[0]!
    const stopping = posthorn.stop({ timeoutMs: 2000 })
    await clock.advance('3s')
    await stopping
    expect(signal.aborted).toBe(true)
    expect(await statuses()).toEqual(['QUEUED'])
  })

  test('tells plugins that still work by their signal', async () => {
    let given: AbortSignal | undefined
    const slow = definePlugin({
      name: 'slow',
      sides: ['outbound'],
      config: v.object({}),
      prepare: () => ({
        outbound(_request, { signal }) {
          given = signal
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('over'))))
        },
      }),
    })
    const { posthorn, clock, http, publish, statuses } = await instance({ plugins: [slow] })
    await posthorn.plugins.create('default', { name: 'slow', endpoint_id: 'e', config: {} })
    await posthorn.start()
    await publish()
    await clock.advance(0)
    expect(given?.aborted).toBe(false)
    const stopping = posthorn.stop({ timeoutMs: 2000 })
    await clock.advance('3s')
    await stopping
    expect(given?.aborted).toBe(true)
    expect(http.sent).toHaveLength(0)
    expect(await statuses()).toEqual(['QUEUED'])
  })

  test('twice is fine, before a start too; publishing works after it, and another start goes on', async () => {
    const { posthorn, clock, http, publish, statuses } = await instance()
    await posthorn.stop()
    await posthorn.start()
    await Promise.all([posthorn.stop(), posthorn.stop()])
    await publish()
    await clock.advance('1m')
    expect(http.sent).toHaveLength(0)
    await posthorn.start()
    await clock.advance(0)
    http.inFlight[0]!.answer(ok)
    await clock.advance(0)
    expect(await statuses()).toEqual(['SUCCESSFUL'])
    await posthorn.stop()
  })
})

describe('start and stop together', () => {
  /** A storage of which a method hangs until it is let go. */
  function hanging(method: 'verify' | 'onChanged') {
    const gate = deferred()
    const storage = memory()
    let open = 0
    return {
      gate,
      open: () => open,
      storage: {
        ...storage,
        verify: async () => void (method === 'verify' && (await gate.promise)),
        onChanged: async () => {
          if (method === 'onChanged') await gate.promise
          open++
          return async () => void open--
        },
      },
    }
  }

  test('of two starts both fail when the start fails, and the next one may succeed', async () => {
    const { storage, gate } = hanging('verify')
    const { posthorn } = await instance({ storage })
    const both = Promise.allSettled([posthorn.start(), posthorn.start()])
    gate.reject(new Error('schema too old'))
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(posthorn.start()).rejects.toThrow('schema too old')
    await posthorn.stop()
  })

  test('a stop during a start waits for it, and leaves no listener', async () => {
    const { storage, gate, open } = hanging('onChanged')
    const { posthorn, clock, http, publish } = await instance({ storage })
    const starting = posthorn.start()
    await clock.advance(10)
    const stopping = posthorn.stop()
    await clock.advance(10)
    gate.resolve()
    await Promise.all([starting, stopping])
    expect(open()).toBe(0)
    await publish()
    await clock.advance('1m')
    expect(http.sent).toHaveLength(0)
  })

  test('a start that hangs is given up when the time of the stop is over, and cleans up when it goes on', async () => {
    const { storage, gate, open } = hanging('onChanged')
    const { posthorn, clock } = await instance({ storage })
    const starting = posthorn.start()
    const seen = Promise.allSettled([starting])
    await clock.advance(10)
    const stopping = posthorn.stop({ timeoutMs: 2000 })
    await clock.advance(3000)
    await stopping
    expect(await seen).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }])
    gate.resolve()
    await clock.advance(0)
    expect(open()).toBe(0)
  })

  test('a start during a stop begins when that has ended', async () => {
    const { posthorn, clock, http, publish } = await instance()
    await posthorn.start()
    await publish()
    await clock.advance(0)
    const stopping = posthorn.stop()
    const starting = posthorn.start()
    expect(posthorn.start()).toBeInstanceOf(Promise)
    await publish()
    await clock.advance(100)
    expect(http.sent).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await clock.advance(1)
    await Promise.all([stopping, starting])
    await clock.advance(0)
    expect(http.sent).toHaveLength(2)
    http.inFlight[0]!.answer(ok)
    await posthorn.stop()
  })

  test('a stop with less time shortens the one that is under way', async () => {
    const { posthorn, clock, http, publish } = await instance()
    await posthorn.start()
    await publish()
    await clock.advance(0)
    expect(http.inFlight).toHaveLength(1)
    let stopped = 0
    const stopping = [60_000, 0, 30_000].map((timeoutMs) => posthorn.stop({ timeoutMs }).then(() => stopped++))
    await clock.advance(1000)
    expect(stopped).toBe(3)
    await Promise.all(stopping)
    expect(http.inFlight).toEqual([])
  })

  test('a start that waits for a stop does not begin when another stop was asked for', async () => {
    const { posthorn, clock, http, publish } = await instance()
    await posthorn.start()
    await publish()
    await clock.advance(0)
    const first = posthorn.stop({ timeoutMs: 60_000 })
    const starting = posthorn.start().catch((cause: unknown) => cause)
    const second = posthorn.stop({ timeoutMs: 0 })
    await clock.advance(1000)
    await Promise.all([first, second])
    expect(await starting).toMatchObject({ code: 'unavailable' })
    await publish()
    await clock.advance('1m')
    expect(http.sent).toHaveLength(1)
    await posthorn.start()
    await clock.advance(0)
    expect(http.sent.length).toBeGreaterThan(1)
    const last = posthorn.stop({ timeoutMs: 0 })
    await clock.advance(1000)
    await last
  })

  test('of starts between stops the last one counts', async () => {
    const { posthorn, clock, http, publish } = await instance()
    await posthorn.start()
    const stops = [posthorn.stop()]
    const starts = [posthorn.start()]
    stops.push(posthorn.stop())
    starts.push(posthorn.start())
    const outcomes = Promise.allSettled(starts)
    await clock.advance(1000)
    await Promise.all(stops)
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    await publish()
    await clock.advance(0)
    expect(http.sent).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await clock.advance(1000)
    await posthorn.stop()
  })

  test('a claim that answers after a stop that was out of time is sent by nobody, until the next start', async () => {
    const { slow, answer } = withLateClaim(memory())
    const { posthorn, clock, http, publish } = await instance({ storage: slow })
    await posthorn.start()
    await publish()
    await clock.advance(0)
    const stopping = posthorn.stop({ timeoutMs: 1000 })
    await clock.advance(2000)
    await stopping
    answer()
    await clock.advance('1s')
    expect(http.sent).toEqual([])
    await posthorn.start()
    await clock.advance('1s')
    expect(http.sent).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await clock.advance(1000)
    await posthorn.stop()
  })

  test('a client of HTTP that cannot be closed does not keep a stop from its end', async () => {
    const { posthorn, clock, http } = await instance()
    Object.assign(http, { close: () => Promise.reject(new Error('no')) })
    await posthorn.start()
    let isStopped = false
    const stopping = posthorn.stop().then(() => (isStopped = true))
    await clock.advance(0)
    await clock.advance(1)
    expect(isStopped).toBe(true)
    await stopping
  })

  test('a stop keeps to its time though the engine is silent: callers that wait get `unavailable`, publishing works after it', async () => {
    const engine = memory()
    let isSilent = false
    const storage = intercepted(engine, async (_, call) => (isSilent ? new Promise(() => {}) : call()))
    const { posthorn, clock, http, publish, statuses } = await instance({ storage })
    await posthorn.start()
    await publish()
    await clock.advance(0)
    isSilent = true
    http.inFlight[0]!.answer(ok)
    const published = Promise.allSettled(Array.from({ length: 50 }, () => publish()))
    await clock.advance(100)
    let stoppedAt = 0
    const since = clock.now()
    const stopping = posthorn.stop({ timeoutMs: 2000 }).then(() => (stoppedAt = clock.now()))
    const again = posthorn.stop({ timeoutMs: 2000 })
    await clock.advance(3000)
    await Promise.all([stopping, again])
    expect(stoppedAt - since).toBeLessThanOrEqual(3000)
    const reasons = (await published).map((each) =>
      each.status === 'rejected' ? (each.reason as { code: string }).code : 'stored',
    )
    expect(new Set(reasons)).toEqual(new Set(['unavailable']))
    isSilent = false
    await publish()
    expect((await statuses()).every((status) => status === 'QUEUED')).toBe(true)
  })
})

describe('tick', () => {
  test('delivers also after a stop', async () => {
    const posthorn = createTestPosthorn()
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    await posthorn.start()
    await posthorn.stop()
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    expect(await posthorn.tick()).toEqual({ delivered: 1, failed: 0, remaining: 0 })
  })

  test('does one pass of everything and tells what came of it', async () => {
    const posthorn = createTestPosthorn()
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    posthorn.receiver('https://a.test/').answers(200, 500)
    for (const n of [1, 2]) await posthorn.events.create('default', { event_type: 'x', data: { n } })
    expect(await posthorn.tick()).toEqual({ delivered: 1, failed: 1, remaining: 1 })
    expect(await posthorn.tick()).toEqual({ delivered: 0, failed: 0, remaining: 1 })
  })

  test('claims nothing once its budget is used up', async () => {
    const posthorn = createTestPosthorn()
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    expect(await posthorn.tick({ budgetMs: 0 })).toEqual({ delivered: 0, failed: 0, remaining: 1 })
  })
})

describe('drain', () => {
  test('leaves what is due later', async () => {
    const posthorn = createTestPosthorn()
    const retry = { config: { attempts: [60] } }
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'], retry })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(0)
    const start = posthorn.clock.now()
    await posthorn.drain({ until: start + 60_000 })
    expect(posthorn.deliveries).toHaveLength(1)
    expect(posthorn.clock.now()).toBe(start + 60_000)
  })
})
