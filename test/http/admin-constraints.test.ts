import { describe, expect, test } from 'vitest'

import { api, refusal, url } from './api.ts'

const endpoint = { request: { url } }
const unique = (key: string) => ({ message: `unique constraint violation: {${key}} already exists` })

describe('the default workspace', () => {
  test('is there from the start, everywhere', async () => {
    for (const path of ['/workspaces/default', '/workspaces']) {
      const { call } = api()
      const { body } = await call('GET', path)
      expect(body.data?.[0] ?? body).toEqual({
        id: 'default',
        name: 'default',
        description: null,
        metadata: {},
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
        limits: { events_per_second: null, retention_days: null, endpoints: null },
      })
    }
  })

  test('is made once by many who come first together', async () => {
    const { call } = api()
    await Promise.all(Array.from({ length: 20 }, () => call('GET', '/endpoints')))
    expect((await call('GET', '/workspaces')).body.total).toBe(1)
  })

  test('cannot be deleted or renamed, but described', async () => {
    const { call } = api()
    expect(await call('DELETE', '/workspaces/default')).toMatchObject({
      status: 400,
      body: { message: 'cannot delete a default workspace' },
    })
    for (const name of ['other', null]) {
      expect(await call('PUT', '/workspaces/default', { name })).toMatchObject({
        status: 400,
        body: { message: 'cannot rename default workspace' },
      })
    }
    expect((await call('PUT', '/workspaces/default', { name: 'default', description: 'd' })).body).toMatchObject({
      description: 'd',
    })
    expect((await call('POST', '/workspaces', { id: 'default' })).body).toEqual(unique("id='default'"))
    expect((await call('POST', '/workspaces', { name: 'default' })).body).toEqual(unique("name='default'"))
  })
})

describe('workspaces', () => {
  test('share no id and no name, neither as the other', async () => {
    const { call, made } = api()
    await made('/workspaces', { id: 'a', name: 'b' })
    expect((await call('POST', '/workspaces', { id: 'a' })).body).toEqual(unique("id='a'"))
    expect((await call('POST', '/workspaces', { name: 'b' })).body).toEqual(unique("name='b'"))
    expect((await call('POST', '/workspaces', { name: 'a' })).body).toEqual(unique("name='a'"))
    expect((await call('POST', '/workspaces', { id: 'b' })).body).toEqual(unique("id='b'"))
    const { id } = await made('/workspaces', {})
    expect((await call('PUT', `/workspaces/${id}`, { name: 'a' })).body).toEqual(unique("name='a'"))
    // A workspace may be called by its own id.
    expect((await call('PUT', '/workspaces/a', { name: 'a' })).status).toBe(200)
  })

  test('that are deleted take everything with them', async () => {
    const { call, made } = api()
    await made('/workspaces', { id: 'w' })
    await made('/workspaces/w/endpoints', { ...endpoint, id: 'e', events: ['*'] })
    await made('/workspaces/w/events', { id: 'v', event_type: 'a', data: {} })
    expect(await call('DELETE', '/workspaces/w')).toMatchObject({ status: 204, text: '' })
    expect((await call('DELETE', '/workspaces/w')).status).toBe(204)
    expect((await call('GET', '/workspaces/w')).status).toBe(404)
    expect((await call('GET', '/workspaces/w/events')).body).toEqual({ message: 'invalid workspace: w' })
    await made('/workspaces', { id: 'w' })
    for (const noun of ['endpoints', 'events', 'attempts']) {
      expect((await call('GET', `/workspaces/w/${noun}`)).body.total).toBe(0)
    }
  })

  test('see nothing of one another', async () => {
    const { call, made } = api()
    await made('/workspaces', { id: 'w' })
    await made('/endpoints', { ...endpoint, id: 'e', name: 'n' })
    await made('/sources', { id: 's', config: {} })
    expect((await call('GET', '/workspaces/w/endpoints/e')).status).toBe(404)
    expect((await call('PUT', '/workspaces/w/endpoints/e', {})).status).toBe(404)
    expect((await call('DELETE', '/workspaces/w/endpoints/e')).status).toBe(204)
    expect((await call('GET', '/endpoints/e')).status).toBe(200)
    const foreign = await call('POST', '/workspaces/w/plugins', { name: 'standard-webhooks', endpoint_id: 'e' })
    expect(foreign.body.message).toBe(
      "foreign key violation: {endpoint_id='e'} does not reference an existing record in 'endpoints'",
    )
    // Names are unique in a workspace, ids in the instance.
    await made('/workspaces/w/endpoints', { ...endpoint, name: 'n' })
    expect((await call('POST', '/workspaces/w/endpoints', { ...endpoint, id: 'e' })).body).toEqual({
      message: 'id is taken',
    })
  })

  test('hear that an id or a path is taken, and nothing of who holds it', async () => {
    const { call, made } = api()
    const taken = (what: string) => ({ status: 400, body: { message: `${what} is taken` } })
    const holders = ['/workspaces/w', '']
    await made('/workspaces', { id: 'w' })
    const [theirs, ours] = holders.map((path) => (noun: string) => `${path}/${noun}`) as [
      (noun: string) => string,
      (noun: string) => string,
    ]
    const owner = await made(theirs('endpoints'), { ...endpoint, id: 'a' })
    await made(theirs('sources'), { id: 'a', config: { http: { path: '/x' } } })
    await made(theirs('plugins'), { id: 'a', name: 'standard-webhooks', endpoint_id: owner.id })
    await made(theirs('events'), { id: 'a', event_type: 'x', data: {} })
    const mine = await made(ours('endpoints'), endpoint)
    const bodies = {
      endpoints: endpoint,
      sources: { config: {} },
      plugins: { name: 'webhookx-signature', endpoint_id: mine.id },
      events: { event_type: 'x', data: { other: true } },
    }
    for (const [noun, body] of Object.entries(bodies)) {
      expect(await call('POST', ours(noun), { ...body, id: 'a' }), noun).toMatchObject(taken('id'))
      await made(ours(noun), { ...body, id: `b${noun}` })
      const changed = noun === 'events' ? { data: { changed: true } } : {}
      const own = await call('POST', ours(noun), { ...body, ...changed, id: `b${noun}` })
      expect(own.body, noun).toEqual(unique(`id='b${noun}'`))
    }
    const at = { config: { http: { path: '/x' } } }
    expect(await call('POST', '/sources', at)).toMatchObject(taken('path'))
    expect(await call('PUT', '/sources/bsources', at)).toMatchObject(taken('path'))
    for (const query of ['', '?dry_run=1']) {
      expect(await call('POST', `/config/sync${query}`, { sources: [{ name: 'n', ...at }] })).toMatchObject(
        taken('path'),
      )
    }
    await made('/sources', { config: { http: { path: '/own' } } })
    const again = await call('POST', '/sources', { config: { http: { path: '/own' } } })
    expect(again.body).toEqual(unique("method='POST',path='/own'"))
  })
})

describe('rows', () => {
  test('of one name are refused; rows without a name are many', async () => {
    const { call, made } = api()
    await made('/endpoints', { ...endpoint, name: 'n' })
    expect(await call('POST', '/endpoints', { ...endpoint, name: 'n' })).toMatchObject({
      status: 400,
      body: unique("ws_id='default',name='n'"),
    })
    const { id } = await made('/endpoints', endpoint)
    await made('/endpoints', endpoint)
    expect((await call('PUT', `/endpoints/${id}`, { name: 'n' })).body).toEqual(unique("ws_id='default',name='n'"))
    await made('/sources', { name: 'n', config: {} })
    expect((await call('POST', '/sources', { name: 'n', config: {} })).body).toEqual(unique("ws_id='default',name='n'"))
  })

  test.each(['workspaces', 'endpoints', 'sources'])('%s keep the id that the client chose', async (noun) => {
    const { call, made } = api()
    const body = noun === 'sources' ? { config: {} } : noun === 'endpoints' ? endpoint : {}
    const id = 'My_id:1-'
    expect((await made(`/${noun}`, { ...body, id })).id).toBe(id)
    expect((await call('POST', `/${noun}`, { ...body, id })).body).toEqual(unique(`id='${id}'`))
  })

  test('made by the service have ids that sort by creation', async () => {
    const { made } = api()
    const ids: string[] = []
    for (let i = 0; i < 50; i++) ids.push((await made('/endpoints', endpoint)).id)
    expect(ids.toSorted()).toEqual(ids)
  })

  test('that are deleted are gone, and deleting them again is fine', async () => {
    const { call, made } = api()
    await made('/endpoints', { ...endpoint, id: 'e' })
    const { id } = await made('/plugins', { name: 'standard-webhooks', endpoint_id: 'e' })
    expect(await call('DELETE', '/endpoints/e')).toMatchObject({ status: 204, text: '' })
    expect((await call('DELETE', '/endpoints/e')).status).toBe(204)
    expect((await call('GET', '/endpoints/e')).body).toEqual({ message: 'Not found' })
    expect((await call('GET', `/plugins/${id}`)).body).toEqual({ message: 'Not found' })
  })
})

describe('sources', () => {
  test('that are enabled share no path and method, whichever write would do it', async () => {
    const { call, made } = api()
    const at = (path: string, methods?: string[]) => ({ config: { http: { path, methods } } })
    const taken = unique("method='POST',path='/x'")
    await made('/workspaces', { id: 'w' })
    await made('/sources', { id: 's', ...at('/x', ['PUT', 'POST']) })
    const elsewhere = { message: 'path is taken' }
    expect((await call('POST', '/workspaces/w/sources', at('/x'))).body).toEqual(elsewhere)
    await made('/sources', { id: 'get', ...at('/x', ['GET']) })
    await made('/sources', { id: 'off', enabled: false, ...at('/x') })
    expect((await call('PUT', '/sources/off', { enabled: true })).body).toEqual(taken)
    expect((await call('PUT', '/sources/get', at('/x', ['GET', 'POST']))).body).toEqual(taken)
    const sync = await call('POST', '/workspaces/w/config/sync', { sources: [{ name: 'n', ...at('/x') }] })
    expect(sync.body).toEqual(elsewhere)
    const dry = await call('POST', '/workspaces/w/config/sync?dry_run=1', { sources: [{ name: 'n', ...at('/x') }] })
    expect(dry.body).toEqual(elsewhere)
  })
})

describe('plugins', () => {
  const basic = { username: 'u', password: 'p' }

  test('are checked in order: schema, name, owner, config, reference', async () => {
    const { call, made } = api()
    await made('/endpoints', { ...endpoint, id: 'e' })
    await made('/sources', { id: 's', config: {} })
    const refused = async (body: unknown) => (await call('POST', '/plugins', body)).body
    expect(await refused({ name: 'nope', enabled: 1 })).toEqual(refusal({ enabled: 'value must be a boolean' }))
    expect(await refused({ name: 'nope', config: { a: 1 } })).toEqual(refusal({ name: "unknown plugin name 'nope'" }))
    expect(await refused({})).toEqual(refusal({ name: "unknown plugin name ''" }))
    expect(await refused({ name: 'basic-auth' })).toEqual(
      refusal({ source_id: "source_id is required for plugin 'basic-auth'" }),
    )
    expect(await refused({ name: 'basic-auth', source_id: 's', endpoint_id: 'e' })).toEqual(
      refusal({ endpoint_id: "endpoint_id is not allowed for plugin 'basic-auth'" }),
    )
    expect(await refused({ name: 'basic-auth', source_id: 'nope' })).toEqual(
      refusal({ config: { username: 'required field missing', password: 'required field missing' } }),
    )
    expect(await refused({ name: 'basic-auth', source_id: 'nope', config: basic })).toEqual({
      message: "foreign key violation: {source_id='nope'} does not reference an existing record in 'sources'",
    })
    await made('/plugins', { name: 'basic-auth', source_id: 's', config: basic })
    expect(await refused({ name: 'basic-auth', source_id: 's', config: basic })).toEqual(
      unique("source_id='s',name='basic-auth'"),
    )
    await made('/plugins', { name: 'standard-webhooks', endpoint_id: 'e' })
    expect(await refused({ name: 'standard-webhooks', endpoint_id: 'e' })).toEqual(
      unique("endpoint_id='e',name='standard-webhooks'"),
    )
  })

  test('get a secret of their own, and defaults', async () => {
    const { made } = api()
    await made('/endpoints', { ...endpoint, id: 'e' })
    const row = await made('/plugins', { name: 'webhookx-signature', endpoint_id: 'e' })
    expect(row).toEqual({
      id: expect.any(String),
      name: 'webhookx-signature',
      enabled: true,
      endpoint_id: 'e',
      source_id: null,
      config: { signing_secret: expect.stringMatching(/^[0-9A-Za-z]{32}$/) },
      metadata: {},
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    })
    expect(Object.keys(row)).toEqual(
      'id name enabled endpoint_id source_id config metadata created_at updated_at'.split(' '),
    )
  })

  test('may move to another owner', async () => {
    const { call, made } = api()
    await made('/sources', { id: 'a', config: {} })
    await made('/sources', { id: 'b', config: {} })
    const { id } = await made('/plugins', { name: 'basic-auth', source_id: 'a', config: basic })
    expect((await call('PUT', `/plugins/${id}`, { source_id: 'b' })).body.source_id).toBe('b')
    expect((await call('PUT', `/plugins/${id}`, { source_id: null })).body).toEqual(
      refusal({ source_id: "source_id is required for plugin 'basic-auth'" }),
    )
  })
})

describe('signing by default', () => {
  const options = { deliver: { sign: 'standard-webhooks' as const } }

  test('gives every new endpoint its signature in the same step', async () => {
    const { call, made } = api(options)
    await made('/endpoints', { ...endpoint, id: 'e', name: 'n' })
    const { data } = (await call('GET', '/plugins?endpoint_id=e')).body
    const config = { secrets: [expect.stringMatching(/^whsec_/)] }
    expect(data).toMatchObject([{ name: 'standard-webhooks', enabled: true, config }])
    expect((await call('POST', '/endpoints', { ...endpoint, id: 'e' })).body).toEqual(unique("id='e'"))
    expect((await call('POST', '/endpoints', { ...endpoint, name: 'n' })).body).toEqual(
      unique("ws_id='default',name='n'"),
    )
    expect((await call('GET', '/plugins')).body.total).toBe(1)
  })

  test('holds for many at once', async () => {
    const { call } = api(options)
    const answers = await Promise.all(Array.from({ length: 30 }, () => call('POST', '/endpoints', endpoint)))
    expect(answers.every(({ status }) => status === 201)).toBe(true)
    expect((await call('GET', '/plugins')).body.total).toBe(30)
  })

  test('holds for a sync, which takes no signature away that it did not list', async () => {
    const { call } = api(options)
    const document = { endpoints: [{ name: 'n', ...endpoint }] }
    const counts = async () => (await call('POST', '/config/sync', document)).body
    expect(await counts()).toMatchObject({ endpoints: { created: 1 }, plugins: { created: 1 } })
    const before = (await call('GET', '/plugins')).body
    expect(await counts()).toMatchObject({ endpoints: { unchanged: 1 }, plugins: { unchanged: 1, deleted: 0 } })
    expect((await call('GET', '/plugins')).body).toEqual(before)
  })
})

describe('events', () => {
  test('keep their data to the byte', async () => {
    const { call } = api()
    const data = '{ "n":12345678901234567890,\t"e":1.50, "k":1,"k":2, "u":"\\u00e4\\u0000", "big":1e400 }'
    const created = await call('POST', '/events', `{"event_type":"a","data":${data},"id":"v"}`)
    expect(created).toMatchObject({ status: 201 })
    expect(created.text).toContain(`"data":${data},`)
    expect(Object.keys(created.body)).toEqual(
      'id event_type data ingested_at unique_id created_at updated_at'.split(' '),
    )
    expect((await call('GET', '/events/v')).text).toBe(created.text)
    expect((await call('GET', '/events')).text).toBe(`{"total":1,"data":[${created.text}]}`)
    expect((await call('GET', '/events?limit=5')).text).toBe(`{"data":[${created.text}],"next":null,"prev":null}`)
  })

  test('of a unique_id seen before answer the stored one', async () => {
    const { call } = api()
    const first = await call('POST', '/events', { event_type: 'a', data: { n: 1 }, unique_id: 'u' })
    const second = await call('POST', '/events', { event_type: 'b', data: { n: 2 }, unique_id: 'u' })
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.text).toBe(first.text)
  })

  test('are retried at an endpoint that is there', async () => {
    const { call, made } = api()
    await made('/endpoints', { ...endpoint, id: 'e' })
    await made('/events', { id: 'v', event_type: 'a', data: {} })
    expect(await call('POST', '/events/v/retry?endpoint_id=e')).toMatchObject({
      status: 200,
      body: { event_id: 'v', endpoint_id: 'e', status: 'QUEUED', trigger_mode: 'MANUAL', attempt_number: 1 },
    })
    expect(await call('POST', '/events/x/retry?endpoint_id=e')).toMatchObject({
      status: 404,
      body: { message: 'Not found' },
    })
    for (const query of ['', '?endpoint_id=x']) {
      expect(await call('POST', `/events/v/retry${query}`)).toMatchObject({
        status: 400,
        body: { message: 'endpoint not found' },
      })
    }
  })
})
