import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Logger } from '../../src/contracts/observer.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { PosthornError } from '../../src/errors.ts'
import { createPosthorn } from '../../src/index.ts'
import type { Options } from '../../src/options.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { memoryTransaction } from '../../src/testing/memory-transaction.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { memoryLog } from '../http/api.ts'

const url = 'https://shop.test/hooks'

const withEndpoint = (posthorn: TestPosthorn, changes: object = {}) =>
  posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'], ...changes })
const publish = (posthorn: TestPosthorn, more: object = {}) =>
  posthorn.events.create('default', { event_type: 'x', data: { n: 1 }, ...more })

describe('a listener', () => {
  test('hears of events once they are stored, and of a repeated one not at all', async () => {
    const storage = memory()
    const posthorn = createTestPosthorn({ storage })
    await withEndpoint(posthorn)
    const heard: unknown[] = []
    posthorn.on('event', ({ workspace_id, event, attempts }) => {
      heard.push([workspace_id, event.id, event.data, attempts, storage.events.get('default', event.id)])
    })
    const { id } = await publish(posthorn, { unique_id: 'once' })
    await publish(posthorn, { unique_id: 'once' })
    expect(heard).toEqual([['default', id, '{"n":1}', 1, expect.any(Promise)]])
    expect(await (heard[0] as unknown[])[4]).toMatchObject({ id })
  })

  test('hears of each ended attempt and of the one that nothing follows, once they are stored', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: { config: { attempts: [0, 60] } } })
    posthorn.receiver(url).answers({ status: 500, headers: { 'x-a': 'b' }, body: 'no' })
    const heard: unknown[] = []
    const stored: Promise<unknown>[] = []
    posthorn.on('attempt', ({ workspace_id, attempt }) => {
      heard.push([workspace_id, attempt.status, attempt.attempt_number, attempt.exhausted, attempt.response])
      stored.push(posthorn.attempts.get('default', attempt.id))
    })
    posthorn.on('exhausted', ({ attempt }) => heard.push(['exhausted', attempt.attempt_number]))
    await publish(posthorn)
    await posthorn.advance('1h')
    const response = { status: 500, latency: 0, headers: null, body: null }
    expect(heard).toEqual([
      ['default', 'FAILED', 1, false, response],
      ['default', 'FAILED', 2, true, response],
      ['exhausted', 2],
    ])
    expect(await Promise.all(stored)).toMatchObject([{ status: 'FAILED' }, { status: 'FAILED' }])
  })

  test('hears no more once it has stopped', async () => {
    const posthorn = createTestPosthorn()
    let heard = 0
    const off = posthorn.on('event', () => void heard++)
    await publish(posthorn)
    off()
    off()
    await publish(posthorn)
    expect(heard).toBe(1)
  })

  test('that throws, or rejects, harms nobody and is logged', async () => {
    const log = memoryLog()
    const posthorn = createTestPosthorn({ logger: log })
    await withEndpoint(posthorn)
    let heard = 0
    posthorn.on('attempt', () => {
      throw new Error('thrown')
    })
    // oxlint-disable-next-line typescript/no-misused-promises -- a listener may be async all the same
    posthorn.on('attempt', () => Promise.reject(new Error('rejected')))
    posthorn.on('attempt', () => void heard++)
    await publish(posthorn)
    await posthorn.drain()
    expect(heard).toBe(1)
    expect((await posthorn.attempts.list('default')).data).toMatchObject([{ status: 'SUCCESSFUL' }])
    expect(log.lines.filter(({ level }) => level !== 'info').map(({ level, message }) => [level, message])).toEqual([
      ['error', "a listener of 'attempt' failed"],
      ['error', "a listener of 'attempt' failed"],
    ])
  })

  test('hears nothing of what may still be rolled back', async () => {
    const storage = memory()
    const posthorn = createTestPosthorn({ storage })
    let heard = 0
    posthorn.on('event', () => void heard++)
    const tx = memoryTransaction()
    await posthorn.using(tx).events.create('default', { event_type: 'x', data: {} })
    await tx.rollback()
    expect(heard).toBe(0)
    expect((await posthorn.events.list('default')).data).toEqual([])
  })
})

describe('an endpoint that answers 410', () => {
  test('to a manual retry is disabled too, and its other attempts are canceled', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { retry: { config: { attempts: [0, 60] } } })
    const told: unknown[] = []
    posthorn.on('endpoint.disabled', (signal) => told.push(signal))
    posthorn.receiver(url).answers(500, 410)
    const { id } = await publish(posthorn)
    await posthorn.drain()
    await posthorn.events.retry('default', id, 'shop')
    await posthorn.advance('1h')
    expect(told).toEqual([{ workspace_id: 'default', endpoint_id: 'shop', reason: 'gone' }])
    const { data } = await posthorn.attempts.list('default', { sort: 'id.asc' })
    expect(data.map(({ status, trigger_mode, exhausted }) => [status, trigger_mode, exhausted])).toEqual([
      ['FAILED', 'INITIAL', false],
      ['CANCELED', 'AUTOMATIC', false],
      ['FAILED', 'MANUAL', true],
    ])
  })

  test('is disabled by the url that it has, whatever a plugin made of the request', async () => {
    const query = definePlugin({
      name: 'query',
      sides: ['outbound'],
      config: v.object({}),
      prepare: () => ({ outbound: (request) => ({ ...request, url: `${request.url}?tenant=7` }) }),
    })
    const posthorn = createTestPosthorn({ plugins: [query] })
    await withEndpoint(posthorn)
    await posthorn.plugins.create('default', { name: 'query', endpoint_id: 'shop', config: {} })
    posthorn.receiver(`${url}?tenant=7`).answers(410)
    await publish(posthorn)
    await posthorn.drain()
    expect((await posthorn.endpoints.get('default', 'shop')).enabled).toBe(false)
  })

  test('by a url that it no longer has stays enabled', async () => {
    const moved = 'https://new.test/'
    const http = {
      async send() {
        await sender.endpoints.update('default', 'shop', { request: { url: moved } })
        return { kind: 'response', status: 410, headers: {}, body: '', ended: true } as const
      },
    }
    const sender = createPosthorn({ http })
    await sender.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    const told: unknown[] = []
    sender.on('endpoint.disabled', (signal) => told.push(signal))
    await sender.events.create('default', { event_type: 'x', data: {} })
    await sender.drain()
    expect(await sender.endpoints.get('default', 'shop')).toMatchObject({ enabled: true, request: { url: moved } })
    expect(told).toEqual([])
  })
})

describe('what happened is told once', () => {
  async function heardOf(options: Options) {
    const log = memoryLog()
    const posthorn = createTestPosthorn({ logger: log, ...options })
    await withEndpoint(posthorn, { retry: { config: { attempts: [0] } } })
    const heard: string[] = []
    for (const name of ['attempt', 'exhausted', 'endpoint.disabled'] as const) posthorn.on(name, () => heard.push(name))
    posthorn.receiver(url).answers(410)
    await publish(posthorn)
    await posthorn.drain()
    const { outbound_failed_requests } = await posthorn.status()
    return { heard, failed: outbound_failed_requests, log, posthorn }
  }
  const once = { heard: ['attempt', 'exhausted', 'endpoint.disabled'], failed: 1 }

  test('though the answer of `settle` was lost', async () => {
    const storage = memory()
    let lost = 2
    const settle: typeof storage.attempts.settle = async (...args) => {
      const answer = await storage.attempts.settle(...args)
      if (lost-- > 0) throw new PosthornError('unavailable', 'lost')
      return answer
    }
    const clock = fakeClock()
    const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
      storage: { ...storage, attempts: { ...storage.attempts, settle } },
      clock,
      logger: memoryLog(),
      http: { send: async () => ({ kind: 'response', status: 410, headers: {}, body: '', ended: true }) },
    })
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    const heard: string[] = []
    for (const name of ['attempt', 'exhausted', 'endpoint.disabled'] as const) posthorn.on(name, () => heard.push(name))
    await posthorn.start()
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await clock.advance('5s')
    expect(heard).toEqual(once.heard)
    expect((await posthorn.status()).outbound_failed_requests).toBe(1)
    await posthorn.stop()
  })

  test('though the job could not be completed', async () => {
    const { queue } = memory()
    let failures = 1
    const complete: typeof queue.complete = (claims) =>
      failures-- > 0 ? Promise.reject(new Error('connection lost')) : queue.complete(claims)
    expect(await heardOf({ queue: { ...queue, complete } })).toMatchObject(once)
  })

  test('to the log at `info`, with ids; that a delivery failed at `debug`', async () => {
    const { log } = await heardOf({})
    const ofDelivery = log.lines.filter(({ details }) => details instanceof Object && 'event_id' in details)
    expect(ofDelivery.map(({ level, message }) => [level, message])).toEqual([
      ['debug', 'a delivery failed'],
      ['info', 'the tries of a delivery are used up'],
      ['info', 'an endpoint was disabled: it answered 410'],
    ])
    for (const { details } of ofDelivery) {
      expect(details).toMatchObject({ workspace_id: 'default', endpoint_id: 'shop', event_id: expect.any(String) })
    }
  })
})

test('an address that is denied counts as no request', async () => {
  const posthorn = createPosthorn({
    http: { send: async () => ({ kind: 'denied', message: 'the address is denied' }) },
    logger: memoryLog(),
  })
  await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
  await posthorn.events.create('default', { event_type: 'x', data: {} })
  await posthorn.drain()
  expect(await posthorn.status()).toMatchObject({ outbound_requests: 0, outbound_failed_requests: 1 })
})

describe('a pause that an endpoint asked for', () => {
  test('holds in every process, for manual retries too, and is at most a day', async () => {
    const storage = memory()
    const one = createTestPosthorn({ storage })
    await withEndpoint(one)
    one.receiver(url).answers({ status: 429, headers: { 'retry-after': '9999999' } }, 200)
    const { id } = await publish(one)
    await one.drain()
    let sent = 0
    const http = {
      async send() {
        sent++
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
      },
    }
    const other = createPosthorn({ storage, http, clock: one.clock })
    await other.events.retry('default', id, 'shop')
    await other.drain()
    expect(sent).toBe(0)
    await one.clock.advance('24h')
    await other.drain()
    expect(sent).toBe(2)
  })

  test.each([200, 404, 500])('on a %i means nothing', async (status) => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers({ status, headers: { 'retry-after': '600' } }, 200)
    await publish(posthorn)
    await posthorn.drain()
    await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(2)
  })
})

describe('the logger', () => {
  test('is called at its levels, as methods, and with nothing but what may be told of an error', async () => {
    const lines: unknown[] = []
    class Log implements Logger {
      readonly prefix = 'posthorn'
      debug(message: string) {
        lines.push(['debug', this.prefix, message])
      }
      info(message: string) {
        lines.push(['info', this.prefix, message])
      }
      warn(message: string, details?: object) {
        lines.push(['warn', this.prefix, message, details])
      }
      error(message: string, details?: object) {
        lines.push(['error', this.prefix, message, details])
      }
    }
    const store = memory()
    const cause = Object.assign(new Error('down'), { code: 'ECONNREFUSED', detail: 'the whole row' })
    const posthorn = createTestPosthorn({ storage: { ...store, ping: () => Promise.reject(cause) }, logger: new Log() })
    await posthorn.health()
    expect(lines).toMatchObject([
      ['warn', 'posthorn', 'a component is down', { cause: { message: 'down', code: 'ECONNREFUSED' } }],
    ])
    const [[, , , details]] = lines as [[string, string, string, { cause: object }]]
    expect(details.cause).not.toHaveProperty('detail')
    expect(details.cause).toBeInstanceOf(Error)
  })

  test('that fails itself stops nothing', async () => {
    const broken = () => {
      throw new Error('the disk is full')
    }
    const posthorn = createTestPosthorn({ logger: { debug: broken, info: broken, warn: broken, error: broken } })
    await withEndpoint(posthorn)
    posthorn.on('attempt', broken)
    await publish(posthorn)
    await posthorn.drain()
    expect((await posthorn.attempts.list('default')).data).toMatchObject([{ status: 'SUCCESSFUL' }])
  })
})
