import { describe, expect, test } from 'vitest'

import { type AdminClient, createAdminClient } from '../src/client.ts'
import { type ErrorCode, PosthornError } from '../src/errors.ts'
import { JsonText } from '../src/schema/json-text.ts'
import { createTestPosthorn } from '../src/testing/test-posthorn.ts'

const startAt = Date.UTC(2026, 0, 1)
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** An instance, and its functions called directly or through HTTP. */
function instance(through: 'services' | 'HTTP') {
  const posthorn = createTestPosthorn({ startAt, logger: silent, admin: { basePath: '/admin' } })
  const client: AdminClient =
    through === 'services'
      ? posthorn
      : createAdminClient({
          baseUrl: 'http://ops.test/admin/',
          fetch: (url, init) => posthorn.admin.fetch(new Request(url, init)),
        })
  return { posthorn, client }
}

/** What a call answers, or the error it throws. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await call() }
  } catch (error) {
    if (!(error instanceof PosthornError)) throw error
    return { code: error.code, message: error.message, fields: error.fields }
  }
}

/** The functions of a group, without the requests that a test instance has there. */
function namesOf(group: object): string[] {
  return Object.keys(group).filter((name) => Number.isNaN(Number(name)))
}

/** Every function, with what it answers and how it fails, in one run. Ids and generated paths are given a name. */
async function script(through: 'services' | 'HTTP'): Promise<unknown[]> {
  const { posthorn, client } = instance(through)
  const seen: unknown[] = []
  const calls = new Set<string>()
  const say = async (name: string, call: () => Promise<unknown>) => {
    calls.add(name)
    const result = await outcome(call)
    seen.push([name, result])
    return result
  }
  const ws = 'a b/ü'
  await say('workspaces.create', () => client.workspaces.create({ id: 'w1', name: ws, metadata: { k: 'v' } }))
  await say('workspaces.create', () => client.workspaces.create({ id: 'w1' }))
  await say('workspaces.ensure', () => client.workspaces.ensure({ id: 'w2', name: 'two' }))
  await say('workspaces.ensure', () => client.workspaces.ensure({ id: 'w2' }))
  await say('workspaces.ensure', () => client.workspaces.ensure({ id: 'w3', name: 'two' }))
  await say('workspaces.ensure', () => client.workspaces.ensure({ id: '' }))
  await say('workspaces.list', () => client.workspaces.list({ metadata: { k: 'v' }, created_at: { gte: startAt } }))
  await say('workspaces.get', () => client.workspaces.get('w1'))
  await say('workspaces.get', () => client.workspaces.get('nobody'))
  await say('workspaces.update', () => client.workspaces.update('w1', { description: 'd' }))
  const request = { url: 'https://shop.test/' }
  await say('endpoints.create', () => client.endpoints.create(ws, { id: 'e1', name: 'one', request, events: ['o.*'] }))
  await say('endpoints.create', () => client.endpoints.create(ws, { id: 'e2', name: 'one', request }))
  await say('endpoints.create', () => client.endpoints.create(ws, { id: 'e2', request, enabled: false }))
  await say('endpoints.create', () => client.endpoints.create(ws, { request: { url: '' }, events: [''] }))
  await say('endpoints.create', () => client.endpoints.create('nowhere', { request }))
  await say('endpoints.list', () => client.endpoints.list(ws, { enabled: true }))
  await say('endpoints.list', () => client.endpoints.list(ws, { limit: 5000, page_no: 0 }))
  await say('endpoints.list', () => client.endpoints.list(ws, { after: 'a', before: 'b' }))
  await say('endpoints.get', () => client.endpoints.get(ws, 'e1'))
  await say('endpoints.update', () => client.endpoints.update(ws, 'e1', { description: 'd' }))
  await say('endpoints.update', () => client.endpoints.update(ws, 'e9', {}))
  await say('endpoints.patch', () => client.endpoints.patch(ws, 'e1', { metadata: { a: 'b' }, paused: false }))
  await say('endpoints.patch', () => client.endpoints.patch(ws, 'e1', { request: { url: null } }))
  await say('endpoints.delete', () => client.endpoints.delete(ws, 'e9'))
  const http = { path: '/in' }
  await say('sources.create', () => client.sources.create(ws, { id: 's1', name: 'in', config: { http } }))
  await say('sources.list', () => client.sources.list(ws))
  await say('sources.get', () => client.sources.get(ws, 's1'))
  await say('sources.update', () => client.sources.update(ws, 's1', { async: true }))
  await say('sources.patch', () => client.sources.patch(ws, 's1', { async: null }))
  const auth = { name: 'basic-auth', config: { username: 'u', password: 'p' } }
  await say('plugins.create', () => client.plugins.create(ws, { id: 'p1', source_id: 's1', ...auth }))
  await say('plugins.create', () => client.plugins.create(ws, { source_id: 's9', ...auth }))
  await say('plugins.create', () => client.plugins.create(ws, { source_id: 's1', name: 'basic-auth', config: {} }))
  await say('plugins.list', () => client.plugins.list(ws, { source_id: 's1' }))
  await say('plugins.get', () => client.plugins.get(ws, 'p1'))
  await say('plugins.update', () => client.plugins.update(ws, 'p1', { enabled: false }))
  await say('plugins.patch', () => client.plugins.patch(ws, 'p1', { metadata: { a: 'b' } }))
  const event = { id: 'v1', event_type: 'o.paid', data: { n: 1 }, unique_id: 'u1' }
  await say('events.create', () => client.events.create(ws, event))
  await say('events.create', () => client.events.create(ws, { ...event, data: { n: 2 } }))
  await say('events.create', () => client.events.create(ws, { ...event, unique_id: null }))
  const data = new JsonText('{ "n": 12345678901234567890 }')
  await say('events.create', () => client.events.create(ws, { id: 'v2', event_type: 'o.late', data }))
  await say('events.createMany', async () => {
    const list = [
      { ...event, id: 'v3' },
      { event_type: '', data: {} },
      { event_type: 'o.many', data },
    ]
    const answers = await client.events.createMany(ws, list)
    return answers.map(({ error, ...rest }) => ({ ...rest, error: error && [error.code, error.message, error.fields] }))
  })
  await say('events.createMany', () => client.events.createMany('nowhere', []))
  await say('events.createMany', () => client.events.createMany(ws, {} as never))
  await say('events.raw', () => client.events.raw(ws, 'v2'))
  await say('events.get', () => client.events.get(ws, 'v1'))
  await say('events.list', () => client.events.list(ws, { event_type: 'o.paid', ingested_at: startAt }))
  posthorn.receiver('https://shop.test/').answers(500)
  await posthorn.drain({ until: startAt + 86_400_000 })
  await say('attempts.list', () => client.attempts.list(ws, { status: 'FAILED', event_id: 'v1', sort: 'id.asc' }))
  const [attempt] = (await posthorn.attempts.list(ws, { sort: 'id.asc' })).data
  await say('attempts.get', () => client.attempts.get(ws, attempt!.id))
  await say('events.explain', () => client.events.explain(ws, 'v1'))
  await say('events.explain', () => client.events.explain(ws, 'v1', { limit: 1, after: 'e0' }))
  await say('events.explain', () => client.events.explain(ws, 'v1', { limit: 0 }))
  await say('deliveries.list', () => client.deliveries.list(ws, { limit: 1, status: 'DELIVERED' }))
  await say('deliveries.list', () => client.deliveries.list(ws, { after: 'x' }))
  await say('deliveries.get', () => client.deliveries.get(ws, 'v1', 'e1'))
  await say('deliveries.get', () => client.deliveries.get(ws, 'v1', 'e9'))
  await say('deliveries.retry', () => client.deliveries.retry(ws, 'v1', 'e9'))
  await say('events.erase', () => client.events.erase(ws, { unique_id: 'nobody' }))
  await say('events.erase', () => client.events.erase(ws, {}))
  await say('events.delete', () => client.events.delete(ws, 'nobody'))
  await say('events.replay', () => client.events.replay(ws, { event_types: ['o.paid'] }, { dryRun: true }))
  await say('events.retry', () => client.events.retry(ws, 'v1', 'e1'))
  await say('events.retry', () => client.events.retry(ws, 'v1', 'e9'))
  await say('endpoints.test', () => client.endpoints.test(ws, 'e1', { data }))
  await say('endpoints.health', () => client.endpoints.health(ws, 'e9'))
  await say('sources.requests', () => client.sources.requests(ws, 's1'))
  await say('endpoints.secret', () => client.endpoints.secret(ws, 'e1'))
  const secret = `whsec_${'a'.repeat(44)}`
  await client.plugins.create(ws, {
    id: 'p2',
    endpoint_id: 'e1',
    name: 'standard-webhooks',
    config: { secrets: [secret] },
  })
  await say('endpoints.secret', () => client.endpoints.secret(ws, 'e1'))
  await say('endpoints.secret', () => client.endpoints.secret(ws, 'e9'))
  const other = `whsec_${'b'.repeat(44)}`
  await say('endpoints.rotateSecret', () => client.endpoints.rotateSecret(ws, 'e1', { secret: other }))
  await say('endpoints.rotateSecret', () => client.endpoints.rotateSecret(ws, 'e1', { overlap_seconds: -1 }))
  await say('config.dump', () => client.config.dump(ws))
  await say('config.dump', () => client.config.dump(ws, { secrets: 'clear' }))
  await say('config.dump', () => client.config.dump(ws, { secrets: 'masked' }))
  await say('config.sync', () => client.config.sync(ws, { endpoints: [] }, { dryRun: true }))
  await say('config.sync', () => client.config.sync(ws, { sources: [{ config: {} }] }))
  await say('plugins.delete', () => client.plugins.delete(ws, 'p1'))
  await say('sources.delete', () => client.sources.delete(ws, 's1'))
  await say('eventTypes.list', () => client.eventTypes.list(ws))
  await say('eventTypes.list', () => client.eventTypes.list('nowhere', { hidden: true }))
  await say('workspaces.patch', () => client.workspaces.patch('w1', { limits: { events_per_second: 0 } }))
  await say('events.create', () => client.events.create('w1', event))
  await say('workspaces.delete', () => client.workspaces.delete('w1'))

  const rowsOf = async (rows: AsyncIterable<unknown>) => {
    const found: unknown[] = []
    for await (const row of rows) found.push(row)
    return found
  }
  await say('workspaces.each', () => rowsOf(client.workspaces.each({ limit: 1 })))
  await say('endpoints.each', () => rowsOf(client.endpoints.each('default')))
  await say('sources.each', () => rowsOf(client.sources.each(ws)))
  await say('plugins.each', () => rowsOf(client.plugins.each('default')))
  await say('events.each', () => rowsOf(client.events.each('default', { sort: 'id.asc', limit: 1 })))
  await say('deliveries.each', () => rowsOf(client.deliveries.each(ws, { limit: 1 })))
  await say('attempts.each', () => rowsOf(client.attempts.each('default', { limit: 5000 })))

  const { workspaces, endpoints, sources, plugins, events, attempts, deliveries, config, eventTypes } = client
  const groups = { workspaces, endpoints, sources, plugins, events, attempts, deliveries, config, eventTypes }
  const all = Object.entries(groups).flatMap(([noun, group]) => namesOf(group).map((verb) => `${noun}.${verb}`))
  expect(all.filter((name) => !calls.has(name))).toEqual([])
  return JSON.parse(JSON.stringify(seen).replace(/"[0-9A-HJKMNP-TV-Z]{26}"/g, '"an id"')) as unknown[]
}

describe('the client', () => {
  test('answers and throws what the service functions do, every one of them', async () => {
    expect(await script('HTTP')).toEqual(await script('services'))
  })

  test('follows pages by what they name', async () => {
    const { client } = instance('HTTP')
    const request = { url: 'https://shop.test/' }
    for (const id of ['a', 'b', 'c']) await client.endpoints.create('default', { id, request })
    const page = await client.endpoints.list('default', { limit: 2 })
    expect(page).toMatchObject({
      data: [{ id: 'c' }, { id: 'b' }],
      next: 'b',
      prev: null,
    })
    expect(await client.endpoints.list('default', { limit: 2, after: 'b' })).toMatchObject({ data: [{ id: 'a' }] })
  })

  test('with idempotencyKeys a fetch that sends each request twice does nothing twice', async () => {
    const posthorn = createTestPosthorn({ logger: silent })
    const keys: (string | null)[] = []
    const client = createAdminClient({
      baseUrl: 'http://ops.test',
      idempotencyKeys: true,
      async fetch(url, init) {
        keys.push(new Headers(init.headers).get('idempotency-key'))
        await posthorn.admin.fetch(new Request(url, init)) // its answer was lost
        return await posthorn.admin.fetch(new Request(url, init))
      },
    })
    const made = await client.endpoints.create('default', { request: { url: 'https://shop.test/' } })
    const event = await client.events.create('default', { event_type: 'a', data: { n: 1 } })
    expect((await client.endpoints.list('default')).data).toEqual([made])
    expect((await client.events.list('default')).data).toEqual([{ ...event, created: undefined }])
    expect(event.created).toBe(true)
    expect(keys.slice(2)).toEqual([null, null])
    expect(new Set(keys).size).toBe(3)
  })

  test('sends the headers of its host', async () => {
    const seen: RequestInit[] = []
    const client = createAdminClient({
      baseUrl: 'https://ops.test',
      headers: { authorization: 'Bearer x' },
      fetch: async (_, init) => {
        seen.push(init)
        return Response.json({ data: [], total: 0 })
      },
    })
    await client.endpoints.list('default')
    expect(seen[0]).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer x' } })
  })

  test.each<[string, () => Response, ErrorCode]>([
    ['a host that refuses', () => new Response('Unauthorized', { status: 401 }), 'forbidden'],
    ['a proxy in trouble', () => new Response('<html>', { status: 502 }), 'unavailable'],
    ['a body too large', () => Response.json({ message: 'request entity too large' }, { status: 413 }), 'too_large'],
    ['an error inside', () => Response.json({ message: 'internal error' }, { status: 500 }), 'internal'],
    ['a busy instance', () => Response.json({ message: 'service unavailable' }, { status: 503 }), 'unavailable'],
  ])('tells %s by its code', async (_, answer, code) => {
    const client = createAdminClient({ baseUrl: 'https://ops.test', fetch: async () => answer() })
    await expect(client.workspaces.list()).rejects.toMatchObject({ name: 'PosthornError', code })
  })

  test('calls a server that does not answer unavailable, and keeps the cause', async () => {
    const cause = new TypeError('fetch failed')
    const client = createAdminClient({ baseUrl: 'https://ops.test', fetch: () => Promise.reject(cause) })
    await expect(client.workspaces.list()).rejects.toMatchObject({ code: 'unavailable', cause })
  })
})
