import { describe, expect, test } from 'vitest'

import { type Answer, api, url } from './api.ts'

describe('the answer to a wrong body is bounded', () => {
  test('by a hundred reasons, and how many others there are', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 1000 }, () => ({ name: 'a', request: { url: 5 } }))
    const { status, body } = await call('POST', '/config/sync', { endpoints })
    expect(status).toBe(400)
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(body.error['...']).toBe('900 more')
  })

  test('also where plugins and identities are checked, after the schema', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 150 }, (_, i) => ({
      name: `n${i}`,
      request: { url },
      plugins: [{ name: 'x' }],
    }))
    const { body } = await call('POST', '/config/sync', { endpoints })
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(body.error['...']).toBe('50 more')
  })

  test('a hundred are told whole, without that line', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 100 }, () => ({ name: 'a', request: { url: 5 } }))
    const { body } = await call('POST', '/config/sync', { endpoints })
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(Object.keys(body.error)).toEqual(['message', 'fields'])
  })
})

const strings = (count: number) => Array.from({ length: count }, (_, i) => `e${i}`)
const pairs = (count: number, value = 'v') => Object.fromEntries(strings(count).map((key) => [`k${key}`, value]))
const endpoint = (more: object) => ({ request: { url }, ...more })

describe('what a body can hold is bounded: a body at the bound is taken, one beyond is told the bound at its place', () => {
  const attempts = (list: readonly number[]) => endpoint({ retry: { config: { attempts: list } } })
  const headers = (all: object) => ({ request: { url, headers: all } })
  // One header of 64 characters of name, whose value fills up what there is.
  const long = (length: number) => headers({ ['h'.repeat(64)]: 'v'.repeat(length - 64) })
  const methods = (list: readonly string[]) => ({ config: { http: { methods: list } } })
  const five = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
  const items = (max: number) => `maximum number of items is ${max}`
  const properties = (max: number) => `maximum number of properties is ${max}`

  test.each<[string, string, object, object, object]>([
    [
      'events',
      '/endpoints',
      endpoint({ events: strings(200) }),
      endpoint({ events: strings(201) }),
      { events: items(200) },
    ],
    [
      'attempts',
      '/endpoints',
      attempts(Array<number>(100).fill(1)),
      attempts(Array<number>(101).fill(1)),
      { retry: { config: { attempts: items(100) } } },
    ],
    [
      'seconds of an attempt',
      '/endpoints',
      attempts([31_536_000]),
      attempts([0, 31_536_001]),
      { retry: { config: { attempts: [null, 'number must be at most 31536000'] } } },
    ],
    ['headers', '/endpoints', headers(pairs(100)), headers(pairs(101)), { request: { headers: properties(100) } }],
    [
      'characters of all headers',
      '/endpoints',
      long(65_536),
      long(65_537),
      { request: { headers: 'maximum length of all names and values is 65536' } },
    ],
    [
      'metadata',
      '/endpoints',
      endpoint({ metadata: pairs(100) }),
      endpoint({ metadata: pairs(101) }),
      { metadata: properties(100) },
    ],
    [
      'metadata of a workspace',
      '/workspaces',
      { metadata: pairs(100) },
      { metadata: pairs(101) },
      { metadata: properties(100) },
    ],
    ['methods', '/sources', methods(five), methods([...five, 'GET']), { config: { http: { methods: items(5) } } }],
  ])('%s', async (_name, path, at, beyond, fields) => {
    const { call } = api()
    const taken = await call('POST', path, at)
    expect(taken.status, taken.text).toBe(201)
    const refused = await call('POST', path, beyond)
    expect(refused.status).toBe(400)
    expect(refused.body.error.fields).toEqual(fields)
  })

  test('the OpenAPI document tells each of them', async () => {
    const { schemas } = (await api().call('GET', '/openapi.json')).body.components
    const { events, metadata, request, retry } = schemas.EndpointInput.properties
    const inner = (schema: { anyOf?: readonly object[] }) => ({ ...schema, ...schema.anyOf?.[0] }) as Answer['body']
    const tries = inner(inner(inner(retry).properties.config).properties.attempts)
    expect(inner(events)).toMatchObject({ maxItems: 200 })
    expect(tries).toMatchObject({ minItems: 1, maxItems: 100, items: { minimum: 0, maximum: 31_536_000 } })
    expect(inner(metadata)).toMatchObject({ maxProperties: 100 })
    expect(inner(request.properties.headers)).toMatchObject({ maxProperties: 100 })
    const http = inner(schemas.SourceInput.properties.config.properties.http)
    expect(inner(http.properties.methods)).toMatchObject({ maxItems: 5 })
  })
})

describe('the rows of a workspace are bounded', () => {
  const limits = { endpoints: 2, sources: 2, plugins: 1 }
  const message = (of: string, max: number) => `maximum number of ${of} of a workspace is ${max}`
  const kinds = [
    ['endpoints', endpoint({})],
    ['sources', { config: {} }],
  ] as const

  test.each(kinds)('%s, when one is made, and after one was deleted', async (noun, body) => {
    const { call, made } = api({ limits })
    const { id } = await made(`/${noun}`, body)
    await made(`/${noun}`, body)
    expect(await call('POST', `/${noun}`, body)).toMatchObject({ status: 400, body: { message: message(noun, 2) } })
    await made('/workspaces', { id: 'w' })
    await made(`/workspaces/w/${noun}`, body)
    expect(await call('DELETE', `/${noun}/${id}`)).toMatchObject({ status: 204 })
    await made(`/${noun}`, body)
  })

  test('plugins, and endpoints that are signed when they are made', async () => {
    const { call, made } = api({ limits, deliver: { sign: 'standard-webhooks' } })
    await made('/endpoints', endpoint({}))
    const refused = { status: 400, body: { message: message('plugins', 1) } }
    expect(await call('POST', '/endpoints', endpoint({}))).toMatchObject(refused)
    const { id } = await made('/sources', { config: {} })
    const plugin = { name: 'basic-auth', source_id: id, config: { username: 'u', password: 'p' } }
    expect(await call('POST', '/plugins', plugin)).toMatchObject(refused)
  })

  test.each(kinds)('%s of a sync, dry or not', async (noun, body) => {
    const { call } = api({ limits })
    const rows = (count: number) => ({ [noun]: strings(count).map((name) => ({ name, ...body })) })
    expect(await call('POST', '/config/sync', rows(2))).toMatchObject({ status: 200 })
    for (const query of ['', '?dry_run=true']) {
      const { status, body: answer } = await call('POST', `/config/sync${query}`, rows(3))
      expect(status).toBe(400)
      expect(answer.error.fields).toEqual({ [noun]: 'maximum number of items is 2' })
    }
  })

  test('plugins of a sync, dry or not', async () => {
    const { call, made } = api({ limits })
    const plugins = [{ name: 'standard-webhooks' }]
    for (const query of ['', '?dry_run=true']) {
      const document = { endpoints: strings(2).map((name) => ({ name, request: { url }, plugins })) }
      const { body } = await call('POST', `/config/sync${query}`, document)
      expect(body.error.fields).toEqual({ endpoints: [null, { plugins: 'maximum number of items is 1' }] })
    }
    const { id } = await made('/sources', { config: {} })
    await made('/plugins', { name: 'basic-auth', source_id: id, config: { username: 'u', password: 'p' } })
    for (const query of ['?dry_run=true', '']) {
      const beside = { endpoints: [{ name: 'a', request: { url }, plugins }] }
      expect(await call('POST', `/config/sync${query}`, beside)).toMatchObject({
        status: 400,
        body: { message: message('plugins', 1) },
      })
    }
  })

  test('event patterns, 100,000 of all endpoints together', async () => {
    const { call } = api()
    const rows = (count: number, events = 200) =>
      strings(count).map((name, i) => ({ name, request: { url }, events: strings(i === 0 ? events : 200) }))
    expect(await call('POST', '/config/sync', { endpoints: rows(500) })).toMatchObject({ status: 200 })
    const refused = { status: 400, body: { message: message('event patterns of all endpoints', 100_000) } }
    expect(await call('POST', '/endpoints', endpoint({ events: ['a'] }))).toMatchObject(refused)
    expect(await call('POST', '/config/sync?dry_run=true', { endpoints: rows(501, 1) })).toMatchObject(refused)
    expect(await call('POST', '/endpoints', endpoint({ events: [] }))).toMatchObject({ status: 201 })
  })

  test('10,000 of each kind unless the host says otherwise', async () => {
    const { call } = api()
    const rows = strings(10_001).map((name) => ({ name, config: {} }))
    const { body } = await call('POST', '/config/sync?dry_run=true', { sources: rows })
    expect(body.error.fields).toEqual({ sources: 'maximum number of items is 10000' })
    expect(await call('POST', '/config/sync?dry_run=true', { sources: rows.slice(1) })).toMatchObject({ status: 200 })
  })
})
