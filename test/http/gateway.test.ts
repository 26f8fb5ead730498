import { describe, expect, test } from 'vitest'

import { definePlugin } from '../../src/contracts/plugin.ts'
import { memory } from '../../adapters/memory/index.ts'
import { object } from '../../src/schema/fields.ts'
import { PosthornError } from '../../src/errors.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const base = 'http://gateway.test'

async function withSource(posthorn: TestPosthorn, changes: object = {}) {
  return await posthorn.sources.create('default', { config: { http: { path: '/in' } }, ...changes })
}

function post(posthorn: TestPosthorn, body: string | Uint8Array<ArrayBuffer>, path = '/in', method = 'POST') {
  return posthorn.gateway.fetch(new Request(base + path, { method, body }))
}

const eventsOf = async (posthorn: TestPosthorn) => (await posthorn.events.list('default', { sort: 'id.asc' })).data

describe('a request to a source', () => {
  test('becomes an event whose data is the very text that came', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const data = '{"n":12345678901234567890, "a":1e3,"z":"é\\u00e9"}'
    const response = await post(posthorn, `{"event_type":"order.created", "data": ${data} }`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe('{"message": "OK"}')
    const [event] = await eventsOf(posthorn)
    expect(event).toMatchObject({ id: response.headers.get('webhook-event-id'), event_type: 'order.created' })
    expect(await posthorn.events.raw('default', event!.id)).toBe(data)
  })

  test.each(['[1,2]', '"text"', 'null', '0', 'false'])('takes any JSON value as data: %s', async (data) => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    await post(posthorn, `{"event_type":"x","data":${data}}`)
    const [event] = await eventsOf(posthorn)
    expect(await posthorn.events.raw('default', event!.id)).toBe(data)
  })

  test('with a unique_id that was seen is answered with the stored event', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const body = '{"event_type":"x","data":{},"unique_id":"once"}'
    const [first, second] = [await post(posthorn, body), await post(posthorn, body)]
    expect(second.status).toBe(200)
    expect(second.headers.get('webhook-event-id')).toBe(first.headers.get('webhook-event-id'))
    expect(await eventsOf(posthorn)).toHaveLength(1)
  })

  test('is answered as the source says', async () => {
    const posthorn = createTestPosthorn()
    const response = { code: 202, content_type: 'text/plain', body: 'thanks' }
    await withSource(posthorn, { config: { http: { path: '/in', response } } })
    const answer = await post(posthorn, '{"event_type":"x","data":{}}')
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      202,
      'text/plain',
      'thanks',
    ])
  })

  test('whose answer may have no body gets none', async () => {
    const posthorn = createTestPosthorn()
    const response = { code: 204, content_type: 'text/plain', body: 'thanks' }
    await withSource(posthorn, { config: { http: { path: '/in', response } } })
    const answer = await post(posthorn, '{"event_type":"x","data":{}}')
    expect([answer.status, await answer.text()]).toEqual([204, ''])
  })

  test.each([
    ['{', 400, { message: expect.stringMatching(/JSON/) }],
    ['', 400, { message: expect.stringMatching(/JSON/) }],
    ['null', 400, { message: 'Value is not nullable' }],
    ['[]', 400, { message: 'value must be an object' }],
    [
      '{}',
      400,
      {
        message: 'Request Validation',
        error: {
          message: 'request validation',
          fields: { event_type: 'required field missing', data: 'required field missing' },
        },
      },
    ],
    [
      `{"event_type":"x","data":{},"unique_id":"${'u'.repeat(51)}"}`,
      400,
      {
        message: 'Request Validation',
        error: { message: 'request validation', fields: { unique_id: 'length must be at most 50' } },
      },
    ],
  ])('with the body %s is refused', async (body, status, expected) => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const response = await post(posthorn, body)
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual(expected)
    expect(await eventsOf(posthorn)).toHaveLength(0)
  })

  test('that is no UTF-8 is refused', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const response = await post(posthorn, new Uint8Array([0x22, 0xff, 0x22]))
    expect(response.status).toBe(400)
  })

  test('over the limit is refused without reading on', async () => {
    const posthorn = createTestPosthorn({ gateway: { maxBodyBytes: 100 } })
    await withSource(posthorn)
    const response = await post(posthorn, 'x'.repeat(101))
    expect([response.status, await response.text()]).toEqual([413, 'Request Entity Too Large'])
  })
})

describe('a source', () => {
  test.each([
    ['/other', 'POST'],
    ['/in/', 'POST'],
    ['/in', 'PUT'],
    ['/%', 'POST'],
  ])('is not found at %s by %s', async (path, method) => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const response = await post(posthorn, '{}', path, method)
    expect([response.status, await response.json()]).toEqual([404, { message: 'not found' }])
  })

  test('is found by its decoded path, behind the mount prefix', async () => {
    const posthorn = createTestPosthorn({ gateway: { basePath: '/hooks' } })
    await withSource(posthorn, { config: { http: { path: '/für dich' } } })
    const body = '{"event_type":"x","data":{}}'
    expect((await post(posthorn, body, '/hooks/f%C3%BCr%20dich')).status).toBe(200)
    expect((await post(posthorn, body, '/f%C3%BCr%20dich')).status).toBe(404)
    expect((await post(posthorn, body, '/hooksf%C3%BCr%20dich')).status).toBe(404)
  })

  test('obeys each change with the answer to it', async () => {
    const posthorn = createTestPosthorn()
    const body = '{"event_type":"x","data":{}}'
    expect((await post(posthorn, body)).status).toBe(404)
    const { id } = await withSource(posthorn)
    expect((await post(posthorn, body)).status).toBe(200)
    await posthorn.sources.update('default', id, { enabled: false })
    expect((await post(posthorn, body)).status).toBe(404)
    await posthorn.sources.update('default', id, { enabled: true, config: { http: { path: '/new' } } })
    expect((await post(posthorn, body)).status).toBe(404)
    expect((await post(posthorn, body, '/new')).status).toBe(200)
    await posthorn.sources.delete('default', id)
    expect((await post(posthorn, body, '/new')).status).toBe(404)
  })
})

test('a source that another process made is found at once, and one that it deleted is gone', async () => {
  const storage = memory()
  const [here, there] = [createTestPosthorn({ storage }), createTestPosthorn({ storage })]
  await withSource(here)
  const body = '{"event_type":"x","data":{}}'
  expect((await post(here, body)).status).toBe(200)
  const { id } = await there.sources.create('default', { config: { http: { path: '/there' } } })
  await here.clock.advance('1s')
  expect((await post(here, body, '/there')).status).toBe(200)
  await there.sources.delete('default', id)
  expect((await post(here, body, '/there')).status).toBe(404)
})

describe('a rate-limited source', () => {
  test('tells its limit on every answer and refuses what is over it', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn, { rate_limit: { quota: 2, period: 10 } })
    const send = async () => {
      const { status, headers } = await post(posthorn, '{"event_type":"x","data":{}}')
      const named = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
      return [status, ...named, headers.get('retry-after')]
    }
    expect(await send()).toEqual([200, '2', '1', '5', null])
    expect(await send()).toEqual([200, '2', '0', '10', null])
    expect(await send()).toEqual([429, '2', '0', '10', '5'])
    await posthorn.advance(5000)
    expect(await send()).toEqual([200, '2', '0', '10', null])
  })

  test('tells it on requests that are refused for another reason too', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn, { rate_limit: { quota: 2, period: 10 } })
    const response = await post(posthorn, '{')
    expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([400, '1'])
  })

  test('with quota 0 refuses all', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn, { rate_limit: { quota: 0, period: 30 } })
    const response = await post(posthorn, '{"event_type":"x","data":{}}')
    expect(response.status).toBe(429)
    expect(await response.json()).toEqual({ message: 'rate limit exceeded' })
    expect(response.headers.get('retry-after')).toBe('30')
    expect(response.headers.get('x-ratelimit-reset')).toBe('30')
  })

  test('lets requests pass while its limiter is down, and says so once a minute', async () => {
    const errors: string[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    const limiter = { take: () => Promise.reject(new Error('down')) }
    const posthorn = createTestPosthorn({ limiter, logger })
    await withSource(posthorn, { rate_limit: { quota: 0, period: 30 } })
    for (let i = 0; i < 3; i++) expect((await post(posthorn, '{"event_type":"x","data":{}}')).status).toBe(200)
    expect(errors).toHaveLength(1)
    await posthorn.advance('61s')
    await post(posthorn, '{"event_type":"x","data":{}}')
    expect(errors).toHaveLength(2)
  })
})

describe('an async source', () => {
  test('answers once the inbox has the event, and a consumer stores it', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn, { async: true })
    const response = await post(posthorn, '{"event_type":"x","data":{"n":1}}')
    expect(response.status).toBe(200)
    expect(await eventsOf(posthorn)).toHaveLength(0)
    expect((await posthorn.status()).event.pending).toBe(1)
    await posthorn.drain()
    expect(await eventsOf(posthorn)).toMatchObject([{ id: response.headers.get('webhook-event-id'), data: { n: 1 } }])
    expect((await posthorn.status()).event.pending).toBe(0)
  })

  test('names no event for a unique_id, and stores it once', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn, { async: true })
    for (let i = 0; i < 2; i++) {
      const response = await post(posthorn, '{"event_type":"x","data":{},"unique_id":"once"}')
      expect(response.headers.get('webhook-event-id')).toBeNull()
    }
    await posthorn.drain()
    expect(await eventsOf(posthorn)).toHaveLength(1)
  })

  test('loses nothing and doubles nothing when its consumer dies, before it stored the event or after', async () => {
    for (const storedBefore of [false, true]) {
      const storage = memory()
      const errors: string[] = []
      const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
      const posthorn = createTestPosthorn({ storage, logger })
      await withSource(posthorn, { async: true })
      const response = await post(posthorn, '{"event_type":"x","data":{"n":1}}')
      const id = response.headers.get('webhook-event-id')!
      // A consumer that is no more took the message, and never said that it is done.
      await storage.inbox.take({ limit: 1, maxBytes: 0, leaseMs: 30_000, now: posthorn.clock.now() })
      if (storedBefore) await posthorn.events.create('default', { id, event_type: 'x', data: { n: 1 } })
      await posthorn.advance('29s')
      expect((await posthorn.status()).event.pending).toBe(1)
      await posthorn.advance('1s')
      await posthorn.drain()
      expect(await eventsOf(posthorn)).toMatchObject([{ id, data: { n: 1 } }])
      expect((await posthorn.status()).event.pending).toBe(0)
      expect(errors).toEqual([])
    }
  })

  test('is told that the inbox refused the event, and nothing of why', async () => {
    const store = memory()
    const cause = new Error('22021: invalid byte sequence')
    const put = async () => [{ kind: 'rejected', cause } as const]
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const posthorn = createTestPosthorn({ storage: store, inbox: { ...store.inbox, put }, logger })
    await withSource(posthorn, { async: true })
    const response = await post(posthorn, '{"event_type":"x","data":{"n":1}}')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('22021')
  })

  test('goes on past a message that cannot be stored, which ends in the dead list', async () => {
    const store = memory()
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const ingest: typeof store.events.ingest = async (entries, options) =>
      await Promise.all(
        entries.map(async (entry) =>
          entry.event.event_type === 'poison'
            ? ({ kind: 'rejected', cause: new Error('refused') } as const)
            : (await store.events.ingest([entry], options))[0]!,
        ),
      )
    const posthorn = createTestPosthorn({ storage: { ...store, events: { ...store.events, ingest } }, logger })
    await withSource(posthorn, { async: true })
    await post(posthorn, '{"event_type":"poison","data":{}}')
    await post(posthorn, '{"event_type":"good","data":{}}')
    await posthorn.drain()
    expect(await eventsOf(posthorn)).toMatchObject([{ event_type: 'good' }])
    for (let tries = 0; tries < 5; tries++) await posthorn.advance('31s')
    expect((await posthorn.status()).event.pending).toBe(0)
  })
})

describe('an inbound plugin', () => {
  const plugin = (inbound: Parameters<typeof definePlugin>[0]['prepare'] extends never ? never : () => unknown) =>
    definePlugin({
      name: 'custom',
      sides: ['inbound'],
      config: object({}),
      prepare: () => ({ inbound: inbound as never }),
    })

  async function guarded(inbound: () => unknown) {
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const posthorn = createTestPosthorn({ plugins: [plugin(inbound)], logger })
    const { id } = await withSource(posthorn)
    await posthorn.plugins.create('default', { name: 'custom', source_id: id })
    return posthorn
  }

  test('that answers ends the request', async () => {
    const posthorn = await guarded(() => new Response('no', { status: 418 }))
    expect((await post(posthorn, '{"event_type":"x","data":{}}')).status).toBe(418)
    expect(await eventsOf(posthorn)).toHaveLength(0)
    expect((await posthorn.status()).inbound_failed_requests).toBe(0)
  })

  test('that throws is a 500 that tells nothing and stores nothing', async () => {
    const posthorn = await guarded(() => {
      throw new Error('secret')
    })
    const response = await post(posthorn, '{"event_type":"x","data":{}}')
    expect([response.status, await response.json()]).toEqual([500, { message: 'internal error' }])
    expect(await eventsOf(posthorn)).toHaveLength(0)
  })

  test('that never answers is given up after half a minute', async () => {
    const posthorn = await guarded(() => new Promise(() => {}))
    const answer = post(posthorn, '{"event_type":"x","data":{}}')
    await posthorn.clock.advance('30s')
    expect((await answer).status).toBe(500)
    expect(await eventsOf(posthorn)).toHaveLength(0)
  })

  test('that throws on every request takes one line of the log each, and no stack', async () => {
    const told: unknown[][] = []
    const error = (...line: unknown[]) => void told.push(line)
    const failing = plugin(() => {
      throw new Error('no such\nfield')
    })
    const posthorn = createTestPosthorn({ plugins: [failing], logger: { debug() {}, info() {}, warn() {}, error } })
    const source = await withSource(posthorn)
    const { id } = await posthorn.plugins.create('default', { name: 'custom', source_id: source.id })
    for (let i = 0; i < 2; i++) await post(posthorn, '{"event_type":"x","data":{}}')
    const line = [`plugin ${id} (custom) failed: no such field`]
    expect(told).toEqual([line, line])
  })

  test('that cannot be prepared is told once, however many requests meet it', async () => {
    const told: unknown[] = []
    const error = (message: string) => void told.push(message)
    const broken = definePlugin({
      name: 'custom',
      sides: ['inbound'],
      config: object({}),
      prepare: () => Promise.reject(new Error('not installed')),
    })
    const posthorn = createTestPosthorn({ plugins: [broken], logger: { debug() {}, info() {}, warn() {}, error } })
    const source = await withSource(posthorn)
    const { id } = await posthorn.plugins.create('default', { name: 'custom', source_id: source.id })
    const answers = [await post(posthorn, '{}'), await post(posthorn, '{}')]
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    expect(told).toEqual([`plugin ${id} (custom) cannot run`])
  })
})

test('what reaches the gateway, and what it refuses itself, is counted', async () => {
  const posthorn = createTestPosthorn({ gateway: { maxBodyBytes: 50 } })
  await withSource(posthorn)
  await post(posthorn, '{"event_type":"x","data":{}}')
  await post(posthorn, '{')
  await post(posthorn, '{}', '/other')
  await post(posthorn, 'x'.repeat(51))
  const { inbound_requests, inbound_failed_requests } = await posthorn.status()
  expect([inbound_requests, inbound_failed_requests]).toEqual([4, 3])
})

test('with storage down the gateway answers 503 and asks to come again', async () => {
  const store = memory()
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  let down = false
  const ingest: typeof store.events.ingest = (entries, options) =>
    down ? Promise.reject(unavailable()) : store.events.ingest(entries, options)
  const posthorn = createTestPosthorn({ storage: { ...store, events: { ...store.events, ingest } }, logger })
  await withSource(posthorn)
  down = true
  const response = await post(posthorn, '{"event_type":"x","data":{}}')
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await response.json()).toEqual({ message: 'service unavailable' })
})

test('more requests than may wait for storage are refused, and nothing of them is stored', async () => {
  const store = memory()
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const ingest: typeof store.events.ingest = async (entries, options) => {
    await gate
    return await store.events.ingest(entries, options)
  }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const posthorn = createTestPosthorn({
    storage: { ...store, events: { ...store.events, ingest } },
    gateway: { maxPending: 2 },
    logger,
  })
  await withSource(posthorn)
  const waiting = [1, 2].map((n) => post(posthorn, `{"event_type":"x","data":${n}}`))
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await post(posthorn, '{"event_type":"x","data":3}')).status).toBe(503)
  open()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
  expect(await eventsOf(posthorn)).toHaveLength(2)
})

describe('a body that comes slowly', () => {
  /** A request whose body is sent part by part. */
  function slowly(posthorn: TestPosthorn, path = '/in') {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const stream = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) })
    const init = { method: 'POST', body: stream, duplex: 'half' } as const
    const answer = posthorn.gateway.fetch(new Request(base + path, init))
    const send = async (text: string) => {
      controller!.enqueue(new TextEncoder().encode(text))
      await settled()
    }
    return { answer, send, end: () => controller!.close() }
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve, 5))
  const body = '{"event_type":"x","data":{"n":1}}'

  test('is taken when it is complete 30 s after its first byte', async () => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const { answer, send, end } = slowly(posthorn)
    await settled()
    await posthorn.clock.advance('29s')
    for (const character of body.slice(0, -1)) await send(character)
    await posthorn.clock.advance('29999ms')
    await send('}')
    end()
    expect((await answer).status).toBe(200)
    expect(await eventsOf(posthorn)).toMatchObject([{ data: { n: 1 } }])
  })

  test.each([
    ['the last byte', [body.slice(0, -1)]],
    ['any byte', []],
  ])('is refused when %s does not come', async (_what, parts) => {
    const posthorn = createTestPosthorn()
    await withSource(posthorn)
    const { answer, send } = slowly(posthorn)
    await settled()
    for (const part of parts) await send(part)
    await posthorn.clock.advance('30s')
    const response = await answer
    expect([response.status, response.headers.get('connection')]).toEqual([408, 'close'])
    expect((await posthorn.status()).inbound_failed_requests).toBe(1)
    expect(await eventsOf(posthorn)).toHaveLength(0)
  })

  test('may take as long as the host says', async () => {
    const posthorn = createTestPosthorn({ gateway: { bodyTimeoutMs: 1000 } })
    await withSource(posthorn)
    const { answer, send } = slowly(posthorn)
    await send('{')
    await posthorn.clock.advance('1s')
    expect((await answer).status).toBe(408)
  })

  test('takes part in the bytes of all, and other workspaces still find room', async () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const mebibyte = 1024 * 1024
    const posthorn = createTestPosthorn({ gateway: { maxBodyBytes: 64 * mebibyte }, logger })
    await posthorn.workspaces.create({ id: 'quiet' })
    for (const path of ['/a', '/b']) await withSource(posthorn, { config: { http: { path } } })
    await posthorn.sources.create('quiet', { config: { http: { path: '/quiet' } } })
    const part = ' '.repeat(mebibyte)
    const statuses: number[] = []
    const open: { end(): void }[] = []
    const hold = async (path: string) => {
      const request = slowly(posthorn, path)
      open.push(request)
      void request.answer.then(({ status }) => statuses.push(status))
      await request.send(part)
    }
    for (let i = 0; i < 110; i++) await hold('/a')
    const ofOne = 110 - statuses.length
    expect(statuses.every((status) => status === 503)).toBe(true)
    expect(ofOne).toBeGreaterThan(80)
    expect(ofOne).toBeLessThanOrEqual(96) // three quarters of 128 MiB
    for (let i = 0; i < 20; i++) await hold('/b')
    const ofBoth = 130 - statuses.length
    expect(ofBoth).toBeGreaterThan(ofOne) // a second source finds room,
    expect(ofBoth).toBeLessThanOrEqual(96) // but both together get what one workspace gets
    expect((await post(posthorn, body, '/quiet')).status).toBe(200)

    for (const request of open) request.end()
    await settled()
    expect((await post(posthorn, body, '/a')).status).toBe(200)
    const again = slowly(posthorn, '/a')
    for (let i = 0; i < 60; i++) await again.send(part) // what was held is free again
    await again.send(body)
    again.end()
    expect((await again.answer).status).toBe(200)
  })
})

test('requests that wait for storage are shared by workspaces', async () => {
  const store = memory()
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const ingest: typeof store.events.ingest = async (entries, options) => {
    await gate
    return await store.events.ingest(entries, options)
  }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const storage = { ...store, events: { ...store.events, ingest } }
  const posthorn = createTestPosthorn({ storage, gateway: { maxPending: 40 }, logger })
  await posthorn.workspaces.create({ id: 'quiet' })
  await withSource(posthorn)
  await posthorn.sources.create('quiet', { config: { http: { path: '/quiet' } } })
  const body = '{"event_type":"x","data":{}}'
  const greedy = Array.from({ length: 60 }, () => post(posthorn, body))
  await new Promise((resolve) => setTimeout(resolve, 20))
  const quiet = Array.from({ length: 3 }, () => post(posthorn, body, '/quiet'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  open()
  expect((await Promise.all(quiet)).map(({ status }) => status)).toEqual([200, 200, 200])
  const taken = (await Promise.all(greedy)).filter(({ status }) => status === 200).length
  expect(taken).toBeGreaterThanOrEqual(25)
  expect(taken).toBeLessThanOrEqual(30)
})

function unavailable(): PosthornError {
  return new PosthornError('unavailable', 'the storage is down')
}
