import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { object } from '../../src/schema/fields.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/hooks'
const seconds = (...attempts: number[]) => ({ config: { attempts } })

async function withEndpoint(posthorn: TestPosthorn, changes: object = {}) {
  return await posthorn.endpoints.create('default', { request: { url }, events: ['order.*'], ...changes })
}

const publish = (posthorn: TestPosthorn, event_type = 'order.created', data: object = { n: 1 }) =>
  posthorn.events.create('default', { event_type, data })

async function attemptsOf(posthorn: TestPosthorn) {
  return (await posthorn.attempts.list('default', { sort: 'id.asc' })).data
}

describe('an event', () => {
  test('is sent to each endpoint that wants it, once, with its own bytes', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { events: ['order.*', '*', 'order.created'] })
    await withEndpoint(posthorn, { request: { url: 'https://other.test/' }, events: ['invoice.*'] })
    await withEndpoint(posthorn, { request: { url: 'https://off.test/' }, enabled: false })
    const event = await publish(posthorn)
    await posthorn.drain()

    expect(posthorn.deliveries).toHaveLength(1)
    expect(posthorn.deliveries[0]).toMatchObject({
      method: 'POST',
      url,
      body: '{"n":1}',
      headers: { 'webhook-id': event.id, 'webhook-event-type': 'order.created', 'webhook-attempt': '1' },
    })
    const [attempt] = await attemptsOf(posthorn)
    expect(attempt).toMatchObject({
      status: 'SUCCESSFUL',
      attempt_number: 1,
      trigger_mode: 'INITIAL',
      exhausted: false,
    })
  })

  test('with a unique_id that was seen is neither stored nor sent again', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    const input = { event_type: 'order.created', data: { n: 1 }, unique_id: 'order-1' }
    const [first, second] = await Promise.all([
      posthorn.events.create('default', input),
      posthorn.events.create('default', { ...input, data: { n: 2 } }),
    ])
    await posthorn.drain()
    expect({ ...second, created: true }).toEqual({ ...first, created: true })
    expect(first.created).not.toBe(second.created) // whichever came first
    expect(posthorn.deliveries).toHaveLength(1)
  })

  test('is canceled where the endpoint is off; drain goes on until all are, however few a claim brings', async () => {
    const { queue } = memory()
    let claims = 0
    const claim: typeof queue.claim = (options) =>
      claims++ % 3 === 0 ? queue.claim({ ...options, limit: 1 }) : Promise.resolve([])
    const posthorn = createTestPosthorn({ queue: { ...queue, claim } })
    const { id } = await withEndpoint(posthorn)
    for (let n = 0; n < 3; n++) await publish(posthorn)
    await posthorn.endpoints.update('default', id, { enabled: false })
    await posthorn.drain()
    expect((await attemptsOf(posthorn)).map(({ status }) => status)).toEqual(['CANCELED', 'CANCELED', 'CANCELED'])
  })

  test('published after an endpoint was made is sent there, and before it is not', async () => {
    const posthorn = createTestPosthorn()
    await publish(posthorn)
    await withEndpoint(posthorn)
    await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(1)
  })
})

describe('a retry chain', () => {
  test('of days is made to its end, each wait counted from the end of the try before', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: seconds(0, 60, 3600, 86_400) })
    posthorn.receiver(url).answers(500)
    const start = posthorn.clock.now()
    await publish(posthorn)
    await posthorn.advance('2d')

    expect(posthorn.deliveries.map(({ at }) => (at - start) / 1000)).toEqual([0, 60, 3660, 90_060])
    const attempts = await attemptsOf(posthorn)
    expect(
      attempts.map(({ status, trigger_mode, attempt_number, exhausted }) => [
        status,
        trigger_mode,
        attempt_number,
        exhausted,
      ]),
    ).toEqual([
      ['FAILED', 'INITIAL', 1, false],
      ['FAILED', 'AUTOMATIC', 2, false],
      ['FAILED', 'AUTOMATIC', 3, false],
      ['FAILED', 'AUTOMATIC', 4, true],
    ])
  })

  test('ends with the first success', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500, 'reset', 204)
    await publish(posthorn)
    await posthorn.advance('2h')
    expect((await attemptsOf(posthorn)).map(({ status, error_code }) => [status, error_code])).toEqual([
      ['FAILED', null],
      ['FAILED', 'UNKNOWN'],
      ['SUCCESSFUL', null],
    ])
  })

  test('counts a receiver that hangs as timed out', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { request: { url, timeout: 3000 }, retry: seconds(0) })
    posthorn.receiver(url).answers('hang')
    await publish(posthorn)
    await posthorn.drain()
    const [attempt] = await attemptsOf(posthorn)
    expect(attempt).toMatchObject({ status: 'FAILED', error_code: 'TIMEOUT', exhausted: true, response: null })
  })

  test('shows its next try as INIT, and as QUEUED three minutes before it is due', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: seconds(3600) })
    await publish(posthorn)
    const status = async () => (await attemptsOf(posthorn))[0]?.status
    expect(await status()).toBe('INIT')
    expect((await posthorn.attempts.list('default', { status: 'QUEUED' })).data).toEqual([])
    await posthorn.advance('57m')
    expect(await status()).toBe('QUEUED')
    expect((await posthorn.attempts.list('default', { status: 'INIT' })).data).toEqual([])
  })

  test('follows the policy and the url that the endpoint has at that moment', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500)
    await publish(posthorn)
    await posthorn.drain()
    await posthorn.endpoints.update('default', id, { request: { url: 'https://new.test/' } })
    await posthorn.advance('60s')
    expect(posthorn.deliveries.map((delivery) => delivery.url)).toEqual([url, 'https://new.test/'])
  })
})

describe('an open attempt', () => {
  test('whose endpoint was disabled is canceled when it falls due', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await withEndpoint(posthorn, { retry: seconds(60) })
    await publish(posthorn)
    await posthorn.endpoints.update('default', id, { enabled: false })
    await posthorn.advance('1h')
    expect(posthorn.deliveries).toHaveLength(0)
    expect((await attemptsOf(posthorn))[0]).toMatchObject({
      status: 'CANCELED',
      error_code: 'ENDPOINT_DISABLED',
      attempted_at: null,
    })
  })

  test('whose endpoint was deleted is canceled when it falls due', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await withEndpoint(posthorn, { retry: seconds(60) })
    await publish(posthorn)
    await posthorn.endpoints.delete('default', id)
    await posthorn.advance('1h')
    expect((await attemptsOf(posthorn))[0]).toMatchObject({ status: 'CANCELED', error_code: 'ENDPOINT_NOT_FOUND' })
  })
})

describe('a receiver that', () => {
  test('answers 410 is disabled, and told of', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await withEndpoint(posthorn)
    const told: unknown[] = []
    posthorn.on('endpoint.disabled', (signal) => told.push(signal))
    posthorn.receiver(url).answers(410)
    await publish(posthorn)
    await posthorn.advance('2h')
    expect(posthorn.deliveries).toHaveLength(1)
    expect((await posthorn.endpoints.get('default', id)).enabled).toBe(false)
    expect(told).toEqual([{ workspace_id: 'default', endpoint_id: id, reason: 'gone' }])
  })

  test('asks to be left alone gets nothing until then, of any event', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers({ status: 503, headers: { 'retry-after': '600' } }, 200)
    const start = posthorn.clock.now()
    await publish(posthorn)
    await posthorn.drain()
    await publish(posthorn)
    await posthorn.advance('1h')
    expect(posthorn.deliveries.map(({ at }) => (at - start) / 1000)).toEqual([0, 600, 600])
  })
})

describe('a rate-limited endpoint', () => {
  test('gets its burst, then one each period/quota seconds, in order, and no try is used up', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { rate_limit: { quota: 2, period: 10 } })
    const start = posthorn.clock.now()
    for (let n = 0; n < 6; n++) await publish(posthorn, 'order.created', { n })
    await posthorn.advance('1m')
    expect(posthorn.deliveries.map(({ at }) => (at - start) / 1000)).toEqual([0, 0, 5, 10, 15, 20])
    expect(posthorn.deliveries.map(({ body }) => body)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `{"n":${n}}`))
    expect(
      (await attemptsOf(posthorn)).every(
        ({ status, attempt_number }) => status === 'SUCCESSFUL' && attempt_number === 1,
      ),
    ).toBe(true)
  })
})

describe('a manual retry', () => {
  test('is due at once, starts a chain of its own, and is told apart', async () => {
    const posthorn = createTestPosthorn()
    const endpoint = await withEndpoint(posthorn, { retry: seconds(0, 60) })
    posthorn.receiver(url).answers(500)
    const event = await publish(posthorn)
    await posthorn.advance('1h')
    const attempt = await posthorn.events.retry('default', event.id, endpoint.id)
    expect(attempt).toMatchObject({ status: 'QUEUED', trigger_mode: 'MANUAL', attempt_number: 1 })
    await posthorn.advance('1h')
    expect(
      (await attemptsOf(posthorn)).map(({ trigger_mode, attempt_number }) => [trigger_mode, attempt_number]),
    ).toEqual([
      ['INITIAL', 1],
      ['AUTOMATIC', 2],
      ['MANUAL', 1],
      ['AUTOMATIC', 2],
    ])
  })

  test('of what is not there is refused', async () => {
    const posthorn = createTestPosthorn()
    const event = await publish(posthorn)
    await expect(posthorn.events.retry('default', 'unknown', 'x')).rejects.toMatchObject({ code: 'not_found' })
    await expect(posthorn.events.retry('default', event.id, 'unknown')).rejects.toThrow('endpoint "unknown" not found')
  })
})

describe('an outbound plugin', () => {
  async function changed(outbound: () => unknown, timeout = 5000) {
    const custom = definePlugin({
      name: 'custom',
      sides: ['outbound'],
      config: object({}),
      prepare: () => ({ outbound: outbound as never }),
    })
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const posthorn = createTestPosthorn({ plugins: [custom], logger })
    const { id } = await withEndpoint(posthorn, { request: { url, timeout } })
    await posthorn.plugins.create('default', { name: 'custom', endpoint_id: id })
    await publish(posthorn)
    return posthorn
  }

  test('that throws ends the try as PLUGIN_ERROR, which is retried like the rest', async () => {
    const posthorn = await changed(() => {
      throw new Error('no such field')
    })
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(0)
    const [failed, next] = await attemptsOf(posthorn)
    expect(failed).toMatchObject({
      status: 'FAILED',
      error_code: 'PLUGIN_ERROR',
      error_message: 'no such field',
      request: null,
    })
    expect(next).toMatchObject({ attempt_number: 2, trigger_mode: 'AUTOMATIC' })
  })

  test('that never settles has the time of the request', async () => {
    const posthorn = await changed(() => new Promise(() => {}))
    const ticked = posthorn.tick()
    await posthorn.clock.advance('5s')
    await ticked
    const [failed] = await attemptsOf(posthorn)
    expect(failed).toMatchObject({ error_code: 'PLUGIN_ERROR', error_message: 'plugins did not finish within 5000 ms' })
  })
})

test('an attempt whose plugin is not registered in this process is left to others while there are any, for ten minutes', async () => {
  const storage = memory()
  const custom = definePlugin({ name: 'custom', sides: ['outbound'], config: object({}), prepare: () => ({}) })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const there = createTestPosthorn({ storage, plugins: [custom] })
  const here = createTestPosthorn({ storage, logger })
  const alike = createTestPosthorn({ storage, logger }) // a third process, without the plugin too
  const { id } = await withEndpoint(there)
  await there.plugins.create('default', { name: 'custom', endpoint_id: id })
  await there.tick() // others see it work

  const waiting = { status: 'QUEUED', attempt_number: 1, attempted_at: null }
  await publish(here)
  expect(await here.tick()).toMatchObject({ delivered: 0, failed: 0, remaining: 1 })
  expect(await attemptsOf(here)).toMatchObject([waiting])
  await there.tick()
  expect(await attemptsOf(here)).toMatchObject([{ status: 'SUCCESSFUL', attempt_number: 1 }])

  await publish(here)
  for (const { clock } of [here, alike, there]) await clock.advance('1h')
  await there.tick({ budgetMs: 0 }) // it is seen, and claims nothing
  // The ten minutes count from the first delivery that is left, however long it is overdue.
  for (let minute = 0; minute < 9; minute++) {
    for (const { clock, tick } of [alike, here]) {
      await clock.advance('1m')
      await tick()
    }
  }
  expect((await attemptsOf(here))[1]).toMatchObject(waiting)
  for (const { clock } of [alike, here]) await clock.advance('2m')
  await alike.tick({ budgetMs: 0 })
  await here.tick()
  expect((await attemptsOf(here))[1]).toMatchObject({ status: 'FAILED', error_code: 'PLUGIN_ERROR' })
})

test('an attempt whose plugin is not registered in this process fails with PLUGIN_ERROR, and its row can be listed and deleted', async () => {
  const storage = memory()
  const custom = definePlugin({ name: 'custom', sides: ['outbound'], config: object({}), prepare: () => ({}) })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const there = createTestPosthorn({ storage, plugins: [custom] })
  const { id } = await withEndpoint(there)
  await there.plugins.create('default', { name: 'custom', endpoint_id: id })

  const here = createTestPosthorn({ storage, logger })
  await publish(here)
  await here.drain()
  expect((await attemptsOf(here))[0]).toMatchObject({ status: 'FAILED', error_code: 'PLUGIN_ERROR' })
  const { data } = await here.plugins.list('default')
  await here.plugins.delete('default', data[0]!.id)
  await here.advance('60s')
  expect(here.deliveries).toHaveLength(1)
})
