import { describe, expect, test } from 'vitest'

import type { Options } from '../../src/options.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { api, refusal } from '../http/api.ts'
import { onEveryEngine } from '../support/engines.ts'

// What `compatible: 'webhookx'` changes, line by line, beside the same without it. The lines are those of the table
// "With the switch" of docs/moving-from-webhookx.md.

const url = 'https://shop.test/hooks'
const request = { url }
const compatible = { compatible: 'webhookx' } as const

onEveryEngine((fresh) => {
  /** An instance with a receiver, its administrative API and its gateway. */
  async function instance(options: Pick<Options, 'compatible'> = {}) {
    const posthorn = createTestPosthorn({ storage: await fresh(), ...options })
    const call = async (method: string, path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await posthorn.admin.fetch(new Request(`http://admin.test${path}`, { method, ...sent }))
      const text = await answer.text()
      return { status: answer.status, text, body: text === '' ? null : JSON.parse(text) }
    }
    const send = (path: string, body: unknown) =>
      posthorn.gateway.fetch(new Request(`http://in.test${path}`, { method: 'POST', body: JSON.stringify(body) }))
    return { posthorn, call, send }
  }

  describe.each([['on', compatible] as const, ['off', {}] as const])('the switch %s', (_name, options) => {
    const on = 'compatible' in options

    test('the gateway answers X-Webhookx-Event-Id too', async () => {
      const { posthorn, send } = await instance(options)
      await posthorn.sources.create('default', { config: { http: { path: '/sync' } } })
      await posthorn.sources.create('default', { async: true, config: { http: { path: '/async' } } })
      for (const path of ['/sync', '/async']) {
        const { headers } = await send(path, { event_type: 'a', data: {} })
        expect(headers.get('webhook-event-id')).not.toBeNull()
        expect(headers.get('x-webhookx-event-id')).toBe(on ? headers.get('webhook-event-id') : null)
      }
      const late = await send('/async', { event_type: 'a', data: {}, unique_id: 'u' })
      expect([late.headers.has('webhook-event-id'), late.headers.has('x-webhookx-event-id')]).toEqual([false, false])
      const refused = await send('/sync', {})
      expect([refused.status, refused.headers.has('x-webhookx-event-id')]).toEqual([400, false])
    })

    test('deliveries carry Webhookx-Event-Id and Webhookx-Delivery-Id', async () => {
      const { posthorn } = await instance(options)
      posthorn.receiver(url).answers(500, 200)
      const { id: endpoint } = await posthorn.endpoints.create('default', { request, events: ['a'] })
      const { id } = await posthorn.events.create('default', { event_type: 'a', data: {} })
      await posthorn.drain()
      await posthorn.advance('1m')
      await posthorn.endpoints.test('default', endpoint)
      expect(posthorn.deliveries).toHaveLength(3)
      for (const { headers } of posthorn.deliveries) {
        expect(headers['webhook-id']).toBeDefined()
        expect(headers['webhookx-event-id']).toBe(on ? headers['webhook-id'] : undefined)
        expect(headers['webhookx-delivery-id']).toBe(on ? headers['webhook-delivery-id'] : undefined)
      }
      expect(posthorn.deliveries[0]!.headers['webhook-id']).toBe(id)
    })

    test('a kind that is absent from a sync is removed', async () => {
      const { posthorn, call } = await instance(options)
      await posthorn.endpoints.create('default', { id: 'e', request })
      await posthorn.sources.create('default', { id: 's', config: {} })
      await posthorn.plugins.create('default', { source_id: 's', name: 'key-auth', config: keyAuth })
      const gone = on ? 1 : 0
      const dry = await call('POST', '/config/sync?dry_run=true', { endpoints: [{ id: 'e', request }] })
      expect([dry.body.sources.deleted, dry.body.plugins.deleted]).toEqual([gone, gone])
      expect((await posthorn.sources.list('default')).data).toHaveLength(1)
      const { sources } = await posthorn.config.sync('default', { endpoints: [{ id: 'e', request }] })
      expect(sources.deleted).toBe(gone)
      expect((await posthorn.sources.list('default')).data).toHaveLength(1 - gone)
      await posthorn.config.sync('default', {})
      expect((await posthorn.endpoints.list('default')).data).toHaveLength(1 - gone)
    })

    test('empty query values are ignored', async () => {
      const { posthorn, call } = await instance(options)
      await posthorn.endpoints.create('default', { id: 'e', name: 'n', request, events: ['a'] })
      await posthorn.plugins.create('default', { endpoint_id: 'e', name: 'webhookx-signature' })
      await posthorn.sources.create('default', { id: 's', name: 'n', config: {} })
      await posthorn.events.create('default', { event_type: 'a', data: {} })
      const empty = {
        workspaces: ['page_no', 'page_size', 'limit', 'sort', 'after', 'before', 'created_at', 'created_at[gt]'],
        endpoints: ['limit', 'sort', 'after', 'before', 'enabled', 'created_at', 'created_at[lte]'],
        sources: ['enabled', 'created_at'],
        plugins: ['endpoint_id', 'source_id', 'enabled'],
        events: ['event_type', 'unique_id', 'ingested_at', 'ingested_at[gte]'],
        attempts: ['event_id', 'endpoint_id', 'status', 'attempted_at', 'created_at[lt]'],
      }
      for (const [noun, names] of Object.entries(empty)) {
        for (const name of names) {
          const { status, body } = await call('GET', `/${noun}?${name}=`)
          const told = on ? { total: 1 } : refusal({ '@params': [`${name}: is empty`] })
          expect([noun, name, status, body]).toEqual([noun, name, on ? 200 : 400, expect.objectContaining(told)])
        }
      }
      // Without the switch these look for the empty text.
      for (const path of ['/endpoints?name=', '/endpoints?metadata[a]=', '/sources?name=', '/workspaces?name=']) {
        expect([path, (await call('GET', path)).body.total]).toEqual([path, on ? 1 : 0])
      }
      expect((await call('GET', '/endpoints?limit=&limit=5')).status).toBe(on ? 200 : 400)
      const dry = await call('POST', '/config/sync?dry_run=', { endpoints: [] })
      expect(dry.status).toBe(on ? 200 : 400)
    })

    test('members of errors are in alphabetical order', async () => {
      const { posthorn, call, send } = await instance(options)
      await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
      const inOrder = (text: string, ...names: string[]) => {
        const places = names.map((name) => text.indexOf(`"${name}"`))
        expect(places.every((place) => place > 0)).toBe(true)
        return places.toSorted((a, b) => a - b).join() === places.join()
      }
      const refused = await call('POST', '/endpoints', { request: { url: '', timeout: -1, method: 'x' }, events: 5 })
      expect(inOrder(refused.text, 'events', 'method', 'timeout', 'url')).toBe(on)
      const synced = await call('POST', '/config/sync', { endpoints: [{ request: {} }] })
      expect(inOrder(synced.text, 'name', 'request')).toBe(on)
      const limit = await call('POST', '/endpoints', { request, rate_limit: {} })
      expect(inOrder(limit.text, 'period', 'quota')).toBe(on)
      expect(inOrder(await (await send('/in', {})).text(), 'data', 'event_type')).toBe(on)
      // The first hundred reasons are the same ones.
      const many = await call('POST', '/endpoints', { request, events: Array.from({ length: 150 }, () => 5) })
      expect(many.body.error['...']).toBe('50 more')
    })

    test('names of recorded request headers have the form Content-Type', async () => {
      const { posthorn } = await instance(options)
      const headers = { 'X-OWN-name': 'mine', authorization: 'secret', etag: 'e', 'x_y-1z': 'v' }
      await posthorn.endpoints.create('default', { request: { url, headers }, events: ['a'] })
      await posthorn.events.create('default', { event_type: 'a', data: {} })
      await posthorn.drain()
      const { id } = (await posthorn.attempts.list('default')).data[0]!
      const attempt = await posthorn.attempts.get('default', id)
      const named = (lower: string, canonical: string) => (on ? canonical : lower)
      expect(attempt.request?.headers).toMatchObject({
        [named('content-type', 'Content-Type')]: 'application/json; charset=utf-8',
        [named('user-agent', 'User-Agent')]: expect.stringMatching(/^Posthorn/),
        [named('webhook-id', 'Webhook-Id')]: attempt.event_id,
        [named('x-own-name', 'X-Own-Name')]: 'mine',
        [named('authorization', 'Authorization')]: '***',
        [named('etag', 'Etag')]: 'e',
        [named('x_y-1z', 'X_y-1z')]: 'v',
      })
      expect(attempt.request?.headers).not.toHaveProperty(named('Content-Type', 'content-type'))
      // What is sent, and what is recorded of the answer, stay lower-case.
      expect(posthorn.deliveries[0]!.headers).toHaveProperty('content-type')
      expect(Object.keys(attempt.response!.headers!).every((name) => name === name.toLowerCase())).toBe(true)
    })

    test('an attempt asked for by hand is INIT until it is taken up', async () => {
      const { posthorn, call } = await instance(options)
      const retry = { config: { attempts: [0, 60, 3600] } }
      await posthorn.endpoints.create('default', { id: 'e', request, events: ['a'], retry })
      posthorn.receiver(url).answers(200)
      const { id } = await posthorn.events.create('default', { event_type: 'a', data: {} })
      await posthorn.drain()
      posthorn.receiver(url).answers(500)
      const waiting = await posthorn.events.create('default', { event_type: 'a', data: {} })
      const { body: made } = await call('POST', `/events/${id}/retry?endpoint_id=e`)
      const shown = on ? 'INIT' : 'QUEUED'
      expect([made.status, made.trigger_mode]).toEqual([shown, 'MANUAL'])
      expect((await call('GET', `/attempts/${made.id}`)).body.status).toBe(shown)
      expect((await call('GET', `/attempts?event_id=${id}`)).body.data[0]).toMatchObject({ id: made.id, status: shown })
      expect((await call('GET', `/events/${id}/explain`)).body[0].attempts[1].status).toBe(shown)
      const idsOf = async (status: string) =>
        (await call('GET', `/attempts?sort=id.asc&status=${status}`)).body.data.map((each: { id: string }) => each.id)
      const [initial] = (await call('GET', `/attempts?event_id=${waiting.id}`)).body.data
      expect(initial.status).toBe('QUEUED')
      expect(await idsOf('INIT')).toEqual(on ? [made.id] : [])
      expect(await idsOf('QUEUED')).toEqual(on ? [initial.id] : [initial.id, made.id])
      await posthorn.drain()
      expect((await call('GET', `/attempts/${made.id}`)).body.status).toBe('FAILED')
      // What follows by itself is QUEUED when it falls due soon, INIT when later, with the switch and without.
      expect(await idsOf('QUEUED')).toHaveLength(2)
      expect(await idsOf('INIT')).toEqual([])
      await posthorn.advance('1m')
      expect(await idsOf('INIT')).toHaveLength(2)
    })

    test('PUT of a source without response keeps it', async () => {
      const { call, posthorn } = await instance(options)
      const response = { code: 202, content_type: 'text/plain', body: 'thanks' }
      const config = { http: { path: '/in', methods: ['PUT'], response } }
      await call('POST', '/sources', { id: 's', config })
      const put = async (body: unknown) => (await call('PUT', '/sources/s', body)).body.config.http
      const kept = on ? response : null
      expect((await put({ name: 'n' })).response).toEqual(response)
      expect(await put({ config: { http: { path: '/other' } } })).toEqual({
        path: '/other',
        methods: ['POST'],
        response: kept,
      })
      for (const replacement of [{}, { http: {} }, { http: null }]) {
        await put({ config })
        expect((await put({ config: replacement })).response).toEqual(kept)
      }
      await put({ config })
      expect((await put({ config: { http: { path: '/in', response: null } } })).response).toBeNull()
      await put({ config })
      const updated = await posthorn.sources.update('default', 's', { config: { http: { path: '/in' } } })
      expect(updated.config.http.response).toEqual(kept)
      // A sync replaces, as it does without the switch; so does POST.
      await put({ config })
      await call('POST', '/config/sync', { sources: [{ id: 's', config: { http: { path: '/in' } } }] })
      expect((await call('GET', '/sources/s')).body.config.http.response).toBeNull()
      expect((await call('PUT', '/sources/s', { config: 5 })).body).toEqual(
        refusal({ config: 'value must be an object' }),
      )
    })
  })
})

const keyAuth = { param_name: 'k', param_locations: ['query'], key: 'secret' } as const

describe('the switch', () => {
  test('has one value', () => {
    expect(() => api({ compatible: 'svix' as 'webhookx' })).toThrow(
      'createPosthorn: compatible: value is not one of the allowed values ["webhookx"]',
    )
  })

  test('changes nothing in the description of the API', async () => {
    const description = async (options: Options) => (await api(options).call('GET', '/openapi.json')).text
    expect(await description(compatible)).toBe(await description({}))
  })

  test('does not change what is not in its table: pages of a list keep their parameters', async () => {
    const { call, made } = api(compatible)
    await made('/endpoints', { id: 'a', request })
    await made('/endpoints', { id: 'b', request })
    const { body } = await call('GET', '/endpoints?limit=1&name=&sort=id.asc&metadata[x]=')
    expect(body).toMatchObject({ data: [{ id: 'a' }], next: '/endpoints?after=a&limit=1&sort=id.asc' })
  })
})
