import { describe, expect, test } from 'vitest'

import { backoff } from '../../src/core/backoff.ts'
import { nextAttempt } from '../../src/core/next-attempt.ts'
import type { Options } from '../../src/options.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { attemptRow } from '../support/rows.ts'

const url = 'https://shop.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const started = (options: Options = {}) => createTestPosthorn({ logger: silent, ...options })
const publish = async (posthorn: ReturnType<typeof started>, count = 1) => {
  for (let n = 0; n < count; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
  await posthorn.drain()
}

describe('waits', () => {
  test('grow by a factor up to a bound, and are a list for an endpoint', async () => {
    const attempts = backoff({ base: 5, factor: 6, max: 40_000, tries: 8 })
    expect(attempts).toEqual([0, 5, 30, 180, 1080, 6480, 38_880, 40_000])
    expect([backoff({ base: 1, tries: 1 }), backoff({ base: 60, tries: 3 })]).toEqual([[0], [0, 60, 120]])
    const posthorn = started()
    const { retry } = await posthorn.endpoints.create('default', { request: { url }, retry: { config: { attempts } } })
    expect(retry.config).toEqual({ attempts, jitter: 0 })
  })

  test.each([
    [{ base: 0, tries: 3 }, 'base'],
    [{ base: 5, factor: 0.5, tries: 3 }, 'factor'],
    [{ base: 5, max: Number.NaN, tries: 3 }, 'max'],
    [{ base: 5, tries: 101 }, 'tries'],
  ])('%j is refused by its name', (options, name) => {
    expect(() => backoff(options)).toThrow(new RegExp(`^backoff: ${name} must be`))
  })

  test('get a share of themselves added, and are never shorter', () => {
    const next = (added: number) => nextAttempt(attemptRow(), [0, 60], 1000, 0, () => 'n', added)!.scheduled_at
    expect([next(0), next(0.25), next(0.0000001)]).toEqual([61_000, 76_000, 61_001])
  })

  test('of an endpoint with jitter are spread over the share', async () => {
    const posthorn = started()
    const retry = { config: { attempts: [0, 1000], jitter: 0.5 } }
    await posthorn.endpoints.create('default', { request: { url }, events: ['*'], retry })
    posthorn.receiver(url).answers(500)
    await publish(posthorn, 50)
    const open = (await posthorn.attempts.list('default', { limit: 100 })).data.filter(
      ({ status }) => status === 'INIT',
    )
    const waits = open.map(({ scheduled_at }) => (scheduled_at - posthorn.clock.now()) / 1000)
    expect(waits.length).toBe(50)
    expect(waits.every((wait) => wait >= 1000 && wait <= 1500)).toBe(true)
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(100)
  })
})

test.each([
  [{ 'webhook-retry': 'No' }, 1],
  [{ 'webhook-retry': 'yes' }, 3],
  [{}, 3],
] as const)('with an answer of 500 and the headers %j there are %i tries', async (headers, tries) => {
  const posthorn = started()
  await posthorn.endpoints.create('default', {
    request: { url },
    events: ['*'],
    retry: { config: { attempts: [0, 1, 1] } },
  })
  posthorn.receiver(url).answers({ status: 500, headers })
  await publish(posthorn)
  await posthorn.advance('1m')
  const { data } = await posthorn.attempts.list('default', { limit: 10, sort: 'id.asc' })
  expect(data.map(({ exhausted }) => exhausted)).toEqual(Array.from({ length: tries }, (_, n) => n === tries - 1))
})

describe('defaults of the host', () => {
  const defaults = {
    retry: { config: { attempts: [0, 7], jitter: 0.1 } },
    timeout: 1234,
    rate_limit: { quota: 5, period: 1 },
  }

  test('stand for what an endpoint does not say, in a sync too', async () => {
    const posthorn = started({ deliver: { defaults } })
    const bare = await posthorn.endpoints.create('default', { id: 'bare', request: { url } })
    const own = await posthorn.endpoints.create('default', {
      id: 'own',
      request: { url, timeout: 1 },
      retry: { config: { attempts: [3] } },
      rate_limit: null,
    })
    expect([bare.retry.config, bare.request.timeout, bare.rate_limit]).toEqual([
      defaults.retry.config,
      1234,
      defaults.rate_limit,
    ])
    expect([own.retry.config, own.request.timeout, own.rate_limit]).toEqual([{ attempts: [3], jitter: 0.1 }, 1, null])
    const renamed = await posthorn.endpoints.update('default', 'own', { name: 'n' })
    expect(renamed).toMatchObject({ retry: own.retry, rate_limit: null })
    expect((await posthorn.config.sync('default', await posthorn.config.dump('default'))).endpoints.unchanged).toBe(2)
    await posthorn.config.sync('default', { endpoints: [{ id: 'synced', request: { url } }] })
    expect(await posthorn.endpoints.get('default', 'synced')).toMatchObject({
      retry: bare.retry,
      rate_limit: bare.rate_limit,
    })
    const wrong = posthorn.endpoints.create('default', { request: { url }, retry: 5 } as never)
    await expect(wrong).rejects.toMatchObject({ fields: { retry: 'value must be an object' } })
  })

  test('that no endpoint could have are refused', () => {
    expect(() => started({ deliver: { defaults: { retry: { config: { attempts: [] } } } } })).toThrow(
      /minimum number of items/,
    )
  })
})

describe('an endpoint that fails for days', () => {
  const once = { config: { attempts: [0] } }
  async function failing() {
    const posthorn = started({ deliver: { disableAfterDays: 4 } })
    const told: unknown[] = []
    posthorn.on('endpoint.failing', (signal) => told.push(signal))
    posthorn.on('endpoint.disabled', (signal) => told.push(signal))
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'], retry: once })
    posthorn.receiver(url).answers(500)
    const pass = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        await posthorn.clock.advance(3_600_000)
        await posthorn.tick()
      }
    }
    const state = async () => (await posthorn.endpoints.get('default', 'shop')).disabled_reason
    return { posthorn, told, pass, state }
  }

  test('is told of at half the time, and disabled at its end', async () => {
    const { posthorn, told, pass, state } = await failing()
    await pass(240) // long quiet: the time counts from the first failure
    const since = posthorn.clock.now()
    await publish(posthorn, 10)
    await pass(47)
    expect(told).toEqual([])
    await pass(47)
    expect(told).toEqual([{ workspace_id: 'default', endpoint_id: 'shop', since }])
    expect(await state()).toBeNull()
    await pass(3)
    expect(told.slice(1)).toEqual([{ workspace_id: 'default', endpoint_id: 'shop', reason: 'failing' }])
    expect(await state()).toBe('failing')
  })

  test.each(['a success', 'fewer than ten failures', 'a write of the endpoint'])(
    'is left alone after %s',
    async (what) => {
      const { posthorn, told, pass, state } = await failing()
      await publish(posthorn, what === 'fewer than ten failures' ? 9 : 20)
      await pass(72)
      told.length = 0
      if (what === 'a success') posthorn.receiver(url).answers(200)
      if (what === 'a success') await publish(posthorn)
      if (what === 'a write of the endpoint') await posthorn.endpoints.update('default', 'shop', { name: 'mended' })
      await pass(72)
      expect([told, await state()]).toEqual([[], null])
    },
  )
})
