import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { memoryLog } from './api.ts'

const ask = (posthorn: { statusHandler: { fetch(request: Request): Promise<Response> } }, path = '/', method = 'GET') =>
  posthorn.statusHandler.fetch(new Request(`http://status.test${path}`, { method }))

const size = expect.stringMatching(/^\d+(\.\d\d [KMG]iB| B)$/)

describe('the status report', () => {
  test('has every field, with true numbers, on any path', async () => {
    const posthorn = createPosthorn({ logger: memoryLog() })
    const response = await ask(posthorn, '/anything')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const report = (await response.json()) as Awaited<ReturnType<typeof posthorn.status>>
    expect(report).toEqual({
      uptime: '0s',
      runtime: { go: `node v${process.versions.node}`, goroutines: expect.any(Number) },
      memory: {
        alloc: size,
        sys: size,
        heap_alloc: size,
        heap_idle: size,
        heap_inuse: size,
        heap_objects: expect.any(Number),
        gc: expect.any(Number),
      },
      database: { total_connections: 0, active_connections: 0 },
      inbound_requests: 0,
      inbound_failed_requests: 0,
      outbound_requests: 0,
      outbound_processing_requests: 0,
      outbound_failed_requests: 0,
      queue: { size: 0, backlog_latency_secs: 0 },
      event: { pending: 0 },
    })
    expect(report.memory.sys).toMatch(/MiB|GiB/)
  })

  test('counts what is sent, what fails, what waits and how long, and what the inbox holds', async () => {
    const posthorn = createTestPosthorn()
    const url = 'https://shop.test/'
    await posthorn.endpoints.create('default', {
      request: { url },
      events: ['*'],
      retry: { config: { attempts: [0, 3600] } },
    })
    await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
    posthorn.receiver(url).answers(200, 500)
    for (let n = 0; n < 2; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    expect(await posthorn.status()).toMatchObject({
      outbound_requests: 2,
      outbound_failed_requests: 1,
      outbound_processing_requests: 0,
      queue: { size: 1, backlog_latency_secs: 0 },
    })
    await posthorn.clock.advance('62m')
    const body = '{"event_type":"x","data":{}}'
    await posthorn.gateway.fetch(new Request('http://gateway.test/in', { method: 'POST', body }))
    expect(await posthorn.status()).toMatchObject({
      uptime: '1h2m0s',
      inbound_requests: 1,
      queue: { size: 1, backlog_latency_secs: 120 },
      event: { pending: 1 },
    })
  })

  test('counts requests in flight while they are', async () => {
    let answered = () => {}
    const sent = new Promise<void>((resolve) => (answered = resolve))
    let inFlight = () => {}
    const sending = new Promise<void>((resolve) => (inFlight = resolve))
    const http = {
      async send() {
        inFlight()
        await sent
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
      },
    }
    const posthorn = createPosthorn({ http, logger: memoryLog() })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    const done = posthorn.drain()
    await sending
    expect((await posthorn.status()).outbound_processing_requests).toBe(1)
    answered()
    await done
    expect((await posthorn.status()).outbound_processing_requests).toBe(0)
  })

  test('tells the uptime of this process, whatever time the engine thinks it is', async () => {
    const storage = { ...memory(), time: async () => Date.now() + 3_600_000 }
    const posthorn = createPosthorn({ storage, logger: memoryLog() })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    expect((await posthorn.status()).uptime).toMatch(/^\ds$/)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not for %s', async (method) => {
    const response = await ask(createTestPosthorn(), '/', method)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await response.json()).toEqual({ message: 'method not allowed' })
  })

  test.each(['/', '/live', '/ready', '/health', '/metrics'])('HEAD %s has the status and no body', async (path) => {
    const response = await ask(createTestPosthorn(), path, 'HEAD')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('of a storage that is down is a 503 that tells nothing of it', async () => {
    const log = memoryLog()
    const { PosthornError } = await import('../../src/errors.ts')
    const stats = () => Promise.reject(new PosthornError('unavailable', 'db.internal:5432 refused'))
    const posthorn = createTestPosthorn({ storage: { ...memory(), stats }, logger: log })
    const response = await ask(posthorn)
    expect([response.status, await response.json()]).toEqual([503, { message: 'service unavailable' }])
    expect(log.lines).toHaveLength(1)
  })
})

test('/live says that the process turns, and asks no engine', async () => {
  const ping = () => Promise.reject(new Error('gone'))
  const posthorn = createTestPosthorn({ storage: { ...memory(), ping }, logger: memoryLog() })
  const response = await ask(posthorn, '/live')
  expect([response.status, await response.json()]).toEqual([200, { status: 'UP' }])
  expect((await ask(posthorn, '/ready')).status).toBe(503)
})

describe('the health', () => {
  test('says where no news come, and is UP all the same', async () => {
    const store = memory()
    const queue = { ...store.queue, listening: () => false }
    const response = await ask(createTestPosthorn({ storage: { ...store, queue } }), '/health')
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'UP', components: { storage: { status: 'UP' }, queue: { status: 'UP', listening: false } } },
    ])
  })

  test('that is asked for again and again while a part is down is logged once a minute, with a count', async () => {
    const log = memoryLog()
    const ping = () => Promise.reject(new Error('gone'))
    const posthorn = createTestPosthorn({ storage: { ...memory(), ping }, logger: log })
    for (let n = 0; n < 5; n++) await posthorn.health()
    expect(log.lines).toHaveLength(1)
    await posthorn.clock.advance('1m')
    await posthorn.health()
    expect(log.lines.slice(1)).toMatchObject([{ details: { times: 5, cause: { message: 'gone' } } }])
  })

  test.each(['/health', '/health/', '/status/health', '/ready'])('is told at %s', async (path) => {
    const response = await ask(createTestPosthorn(), path)
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'UP', components: { storage: { status: 'UP' }, queue: { status: 'UP' } } },
    ])
  })

  test('is DOWN with any part that fails, and what it said is in the log alone', async () => {
    const log = memoryLog()
    const ping = () => Promise.reject(new Error('password authentication failed for user "posthorn"'))
    const posthorn = createTestPosthorn({ storage: { ...memory(), ping }, logger: log })
    const response = await ask(posthorn, '/health')
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'DOWN', components: { storage: { status: 'DOWN', error: 'unavailable' }, queue: { status: 'UP' } } },
    ])
    expect(log.lines).toMatchObject([{ level: 'warn', details: { cause: { message: /password/ } } }])
  })

  test('is DOWN with a part that does not answer within five seconds', async () => {
    const store = memory()
    const queue = { ...store.queue, stats: () => new Promise<never>(() => {}) }
    const posthorn = createTestPosthorn({ storage: { ...store, queue }, logger: memoryLog() })
    const health = posthorn.health()
    await posthorn.clock.advance('5s')
    expect(await health).toEqual({
      status: 'DOWN',
      components: { storage: { status: 'UP' }, queue: { status: 'DOWN', error: 'no answer in time' } },
    })
  })
})
