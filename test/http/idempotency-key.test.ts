import { expect, test } from 'vitest'

import type { KeyedRequest } from '../../src/contracts/storage/keyed-requests.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { createPosthorn, type Event, type Options } from '../../src/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { onEveryEngine } from '../support/engines.ts'
import { api } from './api.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const hour = 3_600_000

/** An instance whose administrative API is asked with a key. */
function keyed(storage: Storage, options: Options = {}) {
  const posthorn = createPosthorn({ storage, logger: silent, ...options })
  async function post(path: string, key: string, body?: unknown) {
    const response = await posthorn.admin.fetch(
      new Request(`http://admin.test${path}`, {
        method: 'POST',
        headers: { 'idempotency-key': key, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const isRepeat = response.headers.get('idempotent-replayed') === 'true'
    return { status: response.status, isRepeat, body: await response.json(), headers: response.headers }
  }
  return { posthorn, post }
}

const input = { request: { url: 'https://example.com/hook' }, events: ['*'] }

/** The storage, in which what a call does to `events.ingest` or a collection may be made to fail behind the write. */
function failingAfter(storage: Storage, isFailing: () => boolean): Storage {
  const { insert } = storage.endpoints
  return {
    ...storage,
    endpoints: {
      ...storage.endpoints,
      async insert(...args) {
        const outcome = await insert(...args)
        if (isFailing()) throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
        return outcome
      },
    },
  }
}

onEveryEngine((fresh) => {
  test('32 requests with one key in two processes make one endpoint, one event, one batch', async () => {
    const storage = await fresh()
    const sides = [keyed(storage), keyed(storage)]
    const side = (i: number) => sides[i % 2]!
    const many = async (path: string, body: unknown) => {
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, i) => side(i).post(path, `key of ${path}`.replaceAll(' ', '-'), body)),
      )
      expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2)
      const done = answers.filter(({ status }) => status !== 409)
      expect(done.length).toBeGreaterThan(0)
      expect(new Set(done.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
      expect(done.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1)
      return done[0]!.body
    }
    const endpoint = await many('/endpoints', input)
    const event = await many('/events', { event_type: 'a', data: { n: 1 } })
    const batch = await many('/events/batch', [
      { event_type: 'b', data: { n: 2 } },
      { event_type: 'c', data: { n: 3 } },
      { event_type: '', data: {} },
    ])
    const { posthorn } = side(0)
    expect((await posthorn.endpoints.list('default')).data.map(({ id }) => id)).toEqual([endpoint.id])
    const ids = (await posthorn.events.list('default')).data.map(({ id }) => id)
    expect(new Set(ids)).toEqual(new Set([event.id, batch[0].event.id, batch[1].event.id]))
    expect(ids).toHaveLength(3)
    expect(batch[2].error.status).toBe(400)
  })

  test('a repeat answers the row as it reads now; another request under the key is refused', async () => {
    const { posthorn, post } = keyed(await fresh())
    const first = await post('/endpoints', 'k1', input)
    expect([first.status, first.isRepeat]).toEqual([201, false])
    await posthorn.endpoints.patch('default', first.body.id, { name: 'later' })
    const again = await post('/workspaces/default/endpoints', 'k1', input)
    expect(again).toMatchObject({ status: 201, isRepeat: true, body: { id: first.body.id, name: 'later' } })
    const other = await post('/endpoints', 'k1', { ...input, name: 'x' })
    expect([other.status, other.body]).toEqual([422, { message: 'Idempotency-Key: was used with another request' }])
    expect((await post('/sources', 'k1', input)).status).toBe(422)
    await posthorn.endpoints.delete('default', first.body.id)
    expect((await post('/endpoints', 'k1', input)).status).toBe(404)
  })

  test('retry, rotation, replay, erase and sync are done once', async () => {
    const { posthorn, post } = keyed(await fresh(), { deliver: { sign: 'standard-webhooks' } })
    const endpoint = await posthorn.endpoints.create('default', input)
    const event = await posthorn.events.create('default', { event_type: 'a', data: {} })
    const twice = async (path: string, key: string, body?: unknown) => {
      const [first, second] = [await post(path, key, body), await post(path, key, body)]
      expect([first.isRepeat, second.isRepeat, first.status, second.status], path).toEqual([false, true, 200, 200])
      return [first.body, second.body]
    }
    const [retry, retried] = await twice(`/events/${event.id}/retry?endpoint_id=${endpoint.id}`, 'retry')
    expect(retried).toEqual(retry)
    const { data } = await posthorn.attempts.list('default', { event_id: event.id })
    expect(data.filter(({ trigger_mode: mode }) => mode === 'MANUAL')).toHaveLength(1)

    const [rotated, masked] = await twice(`/endpoints/${endpoint.id}/secret/rotate`, 'rotate', { overlap_seconds: 60 })
    expect(rotated.secrets).toHaveLength(2)
    expect(masked.secrets).toHaveLength(2)
    expect(JSON.stringify(masked)).not.toContain(rotated.secret)
    expect((await posthorn.endpoints.secret('default', endpoint.id)).secrets).toHaveLength(2)

    const document = { endpoints: [{ name: 'synced', ...input }] }
    const [synced, again] = await twice('/config/sync', 'sync', document)
    expect(synced.endpoints.created).toBe(1)
    expect(again).toEqual(synced)
    const [erased, stillErased] = await twice('/events/erase', 'erase', { event_type: 'a' })
    expect([erased.erased, stillErased.erased]).toEqual([1, 1])
  })

  test('a request that was refused may come changed under its key, and one whose outcome is unknown is not done twice', async () => {
    let isFailing = false
    const storage = failingAfter(await fresh(), () => isFailing)
    const { posthorn, post } = keyed(storage)
    expect((await post('/endpoints', 'k', { request: { url: 'nonsense' } })).status).toBe(400)
    expect((await post('/endpoints/nobody/test', 'k')).status).toBe(404)
    isFailing = true
    expect((await post('/endpoints', 'k', input)).status).toBeGreaterThanOrEqual(500)
    isFailing = false
    const again = await post('/endpoints', 'k', input)
    const { data } = await posthorn.endpoints.list('default')
    expect([again.status, data.map(({ id }) => id)]).toEqual([201, [again.body.id]])
    expect((await post('/endpoints', 'k', input)).isRepeat).toBe(true)
  })

  test('while a request runs its key is taken; once its lease is over the next call finds what was made', async () => {
    const storage = await fresh()
    const { keyedRequests } = storage
    const taken: KeyedRequest[] = []
    const stuck = keyed({
      ...storage,
      keyedRequests: {
        ...keyedRequests,
        async take(request, before) {
          taken.push(request)
          return await keyedRequests.take(request, before)
        },
      },
      endpoints: {
        ...storage.endpoints,
        async insert(...args) {
          const outcome = await storage.endpoints.insert(...args)
          // As if the process had been killed once the row is there.
          return outcome === 'written' ? await new Promise<never>(() => {}) : outcome
        },
      },
    })
    const { posthorn, post } = keyed(storage)
    void stuck.post('/endpoints', 'k', input)
    while ((await posthorn.endpoints.list('default')).data.length === 0)
      await new Promise((done) => setTimeout(done, 5))
    const meanwhile = await post('/endpoints', 'k', input)
    expect([meanwhile.status, meanwhile.body]).toEqual([409, { message: 'Idempotency-Key: the request is in flight' }])
    expect(meanwhile.headers.get('retry-after')).toBe('1')
    expect((await post('/endpoints', 'k', { ...input, name: 'x' })).status).toBe(422)
    await keyedRequests.update({ ...taken[0]!, lease_until: 0 })
    const after = await post('/endpoints', 'k', input)
    expect(after.status).toBe(201)
    expect((await posthorn.endpoints.list('default')).data.map(({ id }) => id)).toEqual([after.body.id])
  })

  test('of a batch whose process died the next call publishes what is missing', async () => {
    const storage = await fresh()
    const { keyedRequests } = storage
    let isKilled = true
    const dying = keyed({
      ...storage,
      keyedRequests: {
        ...keyedRequests,
        // What it did is not kept, and its lease is over.
        update: (given) => keyedRequests.update(isKilled ? { ...given, lease_until: 0, note: plan } : given),
        async take(request, before) {
          plan = request.note
          return await keyedRequests.take(request, before)
        },
      },
    })
    let plan = ''
    const batch = [
      { event_type: 'a', data: {}, unique_id: 'u' },
      { event_type: 'b', data: {} },
      { id: 'own', event_type: 'c', data: {} },
    ]
    const first = await dying.post('/events/batch', 'k', batch)
    isKilled = false
    const { posthorn, post } = keyed(storage)
    await posthorn.events.delete('default', first.body[1].event.id)
    const again = await post('/events/batch', 'k', batch)
    expect(again.body).toEqual([
      first.body[0],
      { event: { ...first.body[1].event, ...stamps(again.body[1].event) }, created: true },
      first.body[2],
    ])
    expect((await posthorn.events.list('default')).data).toHaveLength(3)
    expect((await post('/events/batch', 'k', batch)).isRepeat).toBe(true)
  })
})

const stamps = ({ ingested_at, created_at, updated_at }: Event) => ({ ingested_at, created_at, updated_at })

test('a process that gave no answer for five minutes counts as dead', async () => {
  const clock = fakeClock()
  const storage = memory()
  const source = { type: 'http', name: 's', config: { http: { path: '/s', methods: ['POST'] } } }
  await new Promise<void>((isInserting) => {
    const insert = () => {
      isInserting()
      return new Promise<never>(() => {})
    }
    const sources = { ...storage.sources, insert }
    void keyed({ ...storage, sources }, { clock }).post('/sources', 'k', source)
  })
  const { post } = keyed(storage, { clock })
  await clock.advance(5 * 60_000 - 1)
  expect((await post('/sources', 'k', source)).status).toBe(409)
  await clock.advance(1)
  expect((await post('/sources', 'k', source)).status).toBe(201)
})

test('a key counts for 24 hours', async () => {
  const clock = fakeClock()
  const { posthorn, call } = api({ clock })
  const post = () => call('POST', '/endpoints', input, { 'idempotency-key': 'k' })
  const first = await post()
  await clock.advance(24 * hour)
  expect((await post()).body.id).toBe(first.body.id)
  await clock.advance(1)
  const second = await post()
  expect([second.status, second.body.id === first.body.id]).toEqual([201, false])
  expect((await posthorn.endpoints.list('default')).data).toHaveLength(2)
})

test('a key that is empty, too long or not ASCII is refused, and reads mind no key', async () => {
  const { call } = api()
  for (const key of ['', 'x'.repeat(256), 'a b', 'é']) {
    const { status, body } = await call('POST', '/endpoints', input, { 'idempotency-key': key })
    expect([status, body.message]).toEqual([400, 'Idempotency-Key: must have 1 to 255 visible ASCII characters'])
  }
  expect((await call('GET', '/endpoints', undefined, { 'idempotency-key': '' })).status).toBe(200)
  expect((await call('POST', '/config/dump', undefined, { 'idempotency-key': 'k' })).status).toBe(200)
  const longest = await call('POST', '/endpoints', input, { 'idempotency-key': 'x'.repeat(255) })
  expect(longest.status).toBe(201)
})

test('with sealed secrets the first answer shows the secret, a repeat its mask, and what is kept holds none', async () => {
  const key = { id: '2026-11', key: Buffer.alloc(32, 7).toString('base64') }
  const kept: string[] = []
  const storage = memory()
  const { keyedRequests } = storage
  const spied: Storage = {
    ...storage,
    keyedRequests: {
      ...keyedRequests,
      async take(request, before) {
        kept.push(JSON.stringify(request))
        return await keyedRequests.take(request, before)
      },
      async update(given) {
        kept.push(JSON.stringify(given))
        await keyedRequests.update(given)
      },
    },
  }
  const { post } = keyed(spied, { secrets: { keys: [key] } })
  const owner = await post('/endpoints', 'owner', input)
  const secret = 'whsec_cGxhbnRlZC1zZWNyZXQtcGxhbnRlZC1zZWNyZXQ'
  const body = { name: 'standard-webhooks', endpoint_id: owner.body.id, config: { secrets: [secret] } }
  const first = await post('/plugins', 'plugin', body)
  const again = await post('/plugins', 'plugin', body)
  expect([first.status, again.status, again.isRepeat]).toEqual([201, 201, true])
  expect(JSON.stringify(first.body)).toContain(secret)
  expect(JSON.stringify(again.body)).not.toContain(secret)
  const rotated = await post(`/endpoints/${owner.body.id}/secret/rotate`, 'rotate', {})
  expect(kept.length).toBeGreaterThan(5)
  for (const text of kept) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(rotated.body.secret)
  }
})
