import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Options } from '../../src/options.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

function setUp(breaker: Options['breaker'], rest: Options = {}) {
  const posthorn = createTestPosthorn({ logger: silent, ...rest, ...(breaker && { breaker }) })
  const told: unknown[] = []
  posthorn.on('endpoint.disabled', (signal) => told.push(signal))
  const endpoint = () =>
    posthorn.endpoints.create('default', {
      id: 'shop',
      request: { url },
      events: ['*'],
      retry: { config: { attempts: [0] } },
    })
  return { posthorn, told, endpoint }
}

async function outcomes(posthorn: TestPosthorn, ...statuses: number[]) {
  for (const status of statuses) {
    posthorn.receiver(url).answers(status)
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
  }
}

const enabled = async (posthorn: TestPosthorn) => (await posthorn.endpoints.get('default', 'shop')).enabled
const many = (count: number, status: number) => Array.from({ length: count }, () => status)

describe('the circuit breaker', () => {
  test('is off unless it is asked for', async () => {
    const { posthorn, endpoint } = setUp(undefined)
    await endpoint()
    await outcomes(posthorn, ...many(150, 500))
    await posthorn.advance('5m')
    expect(await enabled(posthorn)).toBe(true)
  })

  test('disables an endpoint within a minute of failing too often, and tells why', async () => {
    const { posthorn, told, endpoint } = setUp({ minimum: 4, failurePercent: 75 })
    await endpoint()
    await outcomes(posthorn, 200, 500, 500, 500)
    expect(await enabled(posthorn)).toBe(true)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(false)
    expect(told).toEqual([{ workspace_id: 'default', endpoint_id: 'shop', reason: 'breaker' }])
    await posthorn.advance('5m')
    expect(told).toHaveLength(1)
  })

  test.each([
    ['fewer outcomes than the minimum', [500, 500, 500]],
    ['a smaller share of failures', [500, 500, 200, 200]],
  ])('leaves an endpoint with %s alone', async (_, statuses) => {
    const { posthorn, endpoint } = setUp({ minimum: 4, failurePercent: 75 })
    await endpoint()
    await outcomes(posthorn, ...statuses)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(true)
  })

  test('with {} judges a hundred outcomes of an hour by 80 %', async () => {
    const { posthorn, endpoint } = setUp({})
    await endpoint()
    await outcomes(posthorn, ...many(20, 200), ...many(79, 500))
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(true)
    await outcomes(posthorn, 500)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(false)
  })

  test('forgets what is older than its window', async () => {
    const { posthorn, endpoint } = setUp({ windowSeconds: 120, minimum: 4 })
    await endpoint()
    await outcomes(posthorn, 500, 500, 500)
    await posthorn.advance('4m')
    await outcomes(posthorn, 500)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(true)
  })

  test('gives an endpoint that was enabled again a fresh start', async () => {
    const { posthorn, told, endpoint } = setUp({ minimum: 3 })
    await endpoint()
    await outcomes(posthorn, 500, 500, 500)
    await posthorn.advance('90s')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(false)
    await posthorn.endpoints.update('default', 'shop', { enabled: true })
    await posthorn.advance('1m')
    await outcomes(posthorn, 500, 500)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(true)
    await outcomes(posthorn, 500)
    await posthorn.advance('1m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(false)
    expect(told).toHaveLength(2)
  })

  test('counts what other processes saw, and one of them judges in each minute', async () => {
    const storage = memory()
    const one = setUp({ minimum: 4 }, { storage })
    const other = setUp({ minimum: 4 }, { storage })
    await one.endpoint()
    await outcomes(one.posthorn, 500, 500)
    await outcomes(other.posthorn, 500, 500)
    for (const { posthorn } of [one, other]) {
      await posthorn.advance('1m')
      await posthorn.tick()
    }
    expect(await enabled(other.posthorn)).toBe(false)
    expect([...one.told, ...other.told]).toHaveLength(1)
  })

  test('does not count attempts that were canceled', async () => {
    const { posthorn, endpoint } = setUp({ minimum: 2 })
    await endpoint()
    await posthorn.endpoints.update('default', 'shop', { retry: { config: { attempts: [60] } } })
    for (let n = 0; n < 3; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.endpoints.update('default', 'shop', { enabled: false })
    await posthorn.advance('2m')
    await posthorn.endpoints.update('default', 'shop', { enabled: true })
    await posthorn.advance('2m')
    await posthorn.tick()
    expect(await enabled(posthorn)).toBe(true)
  })

  test.each([{ windowSeconds: 59 }, { windowSeconds: 604_801 }, { failurePercent: 0 }, { minimum: 0 }])(
    'refuses %o',
    (breaker) => {
      expect(() => createTestPosthorn({ breaker })).toThrow('createPosthorn')
    },
  )
})

describe('the minute’s work', () => {
  test('goes on beside a purge that takes hours', async () => {
    const clock = fakeClock()
    const storage = memory()
    const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
      storage: {
        ...storage,
        purge: async () => {
          await clock.sleep(100)
          return 1000
        },
      },
      clock,
      logger: silent,
      http: { send: async () => ({ kind: 'response', status: 500, headers: {}, body: '', ended: true }) },
      breaker: { minimum: 4, failurePercent: 75 },
      retention: { eventsDays: 1 },
    })
    await posthorn.endpoints.create('default', {
      id: 'shop',
      request: { url },
      events: ['*'],
      retry: { config: { attempts: [0] } },
    })
    await posthorn.start()
    for (let n = 0; n < 5; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    await clock.advance('2m')
    expect((await posthorn.endpoints.get('default', 'shop')).enabled).toBe(false)
    const stopping = posthorn.stop()
    await clock.advance(1000)
    await stopping
  })

  /** An instance whose purges take a second each, and never find an end. */
  function endlessPurge(fails = false) {
    const clock = fakeClock()
    const storage = memory()
    const done: string[] = []
    const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
      storage: {
        ...storage,
        turn: async (work, ...rest) => {
          if (fails && work === 'expired-secrets') throw new Error('no')
          return await storage.turn(work, ...rest)
        },
        purge: async () => {
          await clock.sleep(1000)
          done.push('purge')
          return 1000
        },
      },
      clock,
      logger: silent,
      http: {
        send: async () => {
          done.push('delivery')
          return { kind: 'response', status: 200, headers: {}, body: '', ended: true }
        },
      },
      retention: { eventsDays: 1 },
    })
    return { clock, posthorn, done }
  }

  test('of a tick delays no delivery by a purge, which has what is left of the budget', async () => {
    const { clock, posthorn, done } = endlessPurge()
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    const ticked = posthorn.tick({ budgetMs: 3500 })
    await clock.advance('5s')
    expect(await ticked).toMatchObject({ delivered: 1 })
    expect(done).toEqual(['delivery', 'purge', 'purge', 'purge', 'purge'])
  })

  test('of a tick fails alone: what comes after is done', async () => {
    const { clock, posthorn, done } = endlessPurge(true)
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    const ticked = posthorn.tick({ budgetMs: 0 })
    await clock.advance('5s')
    await ticked
    expect(done).toEqual(['purge']) // without a budget a tick purges a step, and claims nothing
  })

  test('is done by `advance` at each minute, in order with what falls due', async () => {
    const { posthorn, told, endpoint } = setUp({ minimum: 3, failurePercent: 100, windowSeconds: 3600 })
    await endpoint()
    posthorn.on('endpoint.disabled', () => told.push(posthorn.clock.now()))
    await posthorn.advance(60_000 - (posthorn.clock.now() % 60_000) + 10_000)
    const start = posthorn.clock.now()
    await outcomes(posthorn, 500, 500, 500)
    posthorn.receiver(url).answers(200, 200)
    await posthorn.advance('30m')
    expect(told).toEqual([{ workspace_id: 'default', endpoint_id: 'shop', reason: 'breaker' }, start + 50_000])
  })

  test('of retention removes what grows too old while time passes, and a month passes quickly', async () => {
    const posthorn = createTestPosthorn({ retention: { eventsDays: 2 } })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.advance('47h')
    expect((await posthorn.events.list('default')).data).toHaveLength(1)
    await posthorn.advance('61m')
    expect((await posthorn.events.list('default')).data).toHaveLength(0)
    await posthorn.advance('30d')
  })
})
