import { describe, expect, test } from 'vitest'

import { api, refusal, url } from './api.ts'

const long = (length: number) => 'x'.repeat(length)
const lone = '\ud800'
const text = 'value must not contain U+0000 or unpaired surrogates'
const methods = 'value is not one of the allowed values ["GET","POST","PUT","DELETE","PATCH"]'

const valid = {
  workspaces: {},
  endpoints: { request: { url } },
  sources: { config: {} },
  plugins: { name: 'standard-webhooks', endpoint_id: 'e' },
  events: { event_type: 'a', data: {} },
}

/** A body that differs from a valid one at one place, and the reason at that place. */
type Row = readonly [noun: keyof typeof valid, path: string, value: unknown, reason: string]

const missing = undefined
const common = (['workspaces', 'endpoints', 'sources', 'plugins'] as const).flatMap((noun): Row[] => [
  [noun, 'id', 5, 'value must be a string'],
  [noun, 'id', '', 'value must match [A-Za-z0-9_:-]{1,64}'],
  [noun, 'id', 'a.b', 'value must match [A-Za-z0-9_:-]{1,64}'],
  [noun, 'id', long(65), 'value must match [A-Za-z0-9_:-]{1,64}'],
  [noun, 'id', 'a\0', text],
  [noun, 'metadata', 'x', 'value must be an object'],
  [noun, 'metadata', [], 'value must be an object'],
  [noun, 'metadata.k', 1, 'value must be a string'],
  [noun, 'metadata.k', null, 'Value is not nullable'],
  [noun, 'metadata.k', long(4097), 'maximum string length is 4096'],
  [noun, `metadata.${long(129)}`, 'v', 'maximum string length is 128'],
  [noun, 'metadata.k', lone, text],
  [noun, 'created_at', 'x', 'value must be an integer'],
  [noun, 'updated_at', 1.5, 'value must be an integer'],
])
const named = (['workspaces', 'endpoints', 'sources'] as const).flatMap((noun): Row[] => [
  [noun, 'name', 1, 'value must be a string'],
  [noun, 'name', long(513), 'maximum string length is 512'],
  [noun, 'name', '😀'.repeat(513), 'maximum string length is 512'],
  [noun, 'name', 'a\0b', text],
  [noun, 'name', lone, text],
])
const enabled = (['endpoints', 'sources', 'plugins'] as const).map((noun): Row => [
  noun,
  'enabled',
  'true',
  'value must be a boolean',
])
const described = (['workspaces', 'endpoints'] as const).flatMap((noun): Row[] => [
  [noun, 'description', false, 'value must be a string'],
  [noun, 'description', long(4097), 'maximum string length is 4096'],
])
const limited = (['endpoints', 'sources'] as const).flatMap((noun): Row[] => [
  [noun, 'plugins', [], 'property is unsupported'],
  [noun, 'rate_limit', 1, 'value must be an object'],
  [noun, 'rate_limit', { period: 1 }, '{"quota":"required field missing"}'],
  [noun, 'rate_limit', { quota: 1 }, '{"period":"required field missing"}'],
  [noun, 'rate_limit.quota', -1, '{"quota":"number must be at least 0","period":"required field missing"}'],
  [noun, 'rate_limit', { quota: 1, period: 0 }, '{"period":"number must be at least 1"}'],
  [noun, 'rate_limit', { quota: 2 ** 53, period: 1 }, '{"quota":"number must be at most 9007199254740991"}'],
])

const rows: readonly Row[] = [
  ...common,
  ...named,
  ...enabled,
  ...described,
  ...limited,
  ['endpoints', 'request', missing, '{"url":"required field missing"}'],
  ['endpoints', 'request', null, '{"url":"required field missing"}'],
  ['endpoints', 'request', [], 'value must be an object'],
  ['endpoints', 'request.url', missing, 'required field missing'],
  ['endpoints', 'request.url', null, 'Value is not nullable'],
  ['endpoints', 'request.url', '', 'minimum string length is 1'],
  ['endpoints', 'request.url', `https://example.com/${long(8192)}`, 'maximum string length is 8192'],
  ['endpoints', 'request.url', '/path', 'value must be an http or https URL'],
  ['endpoints', 'request.url', 'ftp://example.com', 'value must be an http or https URL'],
  ['endpoints', 'request.url', 'https://user:pass@example.com', 'value must not contain credentials'],
  ['endpoints', 'request.method', 'post', methods],
  ['endpoints', 'request.method', 5, methods],
  ['endpoints', 'request.headers', 'x', 'value must be an object'],
  ['endpoints', 'request.headers.X-A', 1, 'value must be a string'],
  ['endpoints', 'request.headers.X A', 'v', 'invalid header name'],
  ['endpoints', 'request.headers.X-A', 'a\nb', 'invalid header value'],
  ['endpoints', 'request.headers.Host', 'v', 'header cannot be set'],
  ['endpoints', 'request.headers.proxy-authorization', 'v', 'header cannot be set'],
  ['endpoints', 'request.headers.Content-Length', '1', 'header cannot be set'],
  ['endpoints', 'request.timeout', 'x', 'value must be an integer'],
  ['endpoints', 'request.timeout', 1.5, 'value must be an integer'],
  ['endpoints', 'request.timeout', -1, 'number must be at least 0'],
  ['endpoints', 'request.timeout', 60_001, 'number must be at most 60000'],
  ['endpoints', 'retry', 5, 'value must be an object'],
  ['endpoints', 'retry.strategy', 'linear', 'value is not one of the allowed values ["fixed"]'],
  ['endpoints', 'retry.config', 'x', 'value must be an object'],
  ['endpoints', 'retry.config.attempts', 5, 'value must be an array'],
  ['endpoints', 'retry.config.attempts', [], 'minimum number of items is 1'],
  ['endpoints', 'retry.config.attempts', [0, 'x'], '[null,"value must be an integer"]'],
  ['endpoints', 'retry.config.attempts', [-1, 0, null], '["number must be at least 0",null,"Value is not nullable"]'],
  ['endpoints', 'events', 'a', 'value must be an array'],
  ['endpoints', 'events', ['a', ''], '[null,"minimum string length is 1"]'],
  ['endpoints', 'events', [long(256)], '["maximum string length is 255"]'],
  ['sources', 'type', 'grpc', 'value is not one of the allowed values ["http"]'],
  ['sources', 'async', 1, 'value must be a boolean'],
  ['sources', 'config', missing, 'required field missing'],
  ['sources', 'config', null, 'Value is not nullable'],
  ['sources', 'config.http', 'x', 'value must be an object'],
  ['sources', 'config.http.path', 'x', 'value must start with "/"'],
  ['sources', 'config.http.path', `/${long(1024)}`, 'maximum string length is 1024'],
  ['sources', 'config.http.methods', 'POST', 'value must be an array'],
  ['sources', 'config.http.methods', [], 'minimum number of items is 1'],
  ['sources', 'config.http.methods', ['POST', 'HEAD'], `[null,${JSON.stringify(methods)}]`],
  ['sources', 'config.http.response', 'x', 'value must be an object'],
  ['sources', 'config.http.response', { content_type: 'text/plain' }, '{"code":"required field missing"}'],
  ['sources', 'config.http.response', { code: 200 }, '{"content_type":"required field missing"}'],
  ['sources', 'config.http.response', { code: 199, content_type: 'a' }, '{"code":"number must be at least 200"}'],
  ['sources', 'config.http.response', { code: 600, content_type: 'a' }, '{"code":"number must be at most 599"}'],
  ['plugins', 'name', 5, 'value must be a string'],
  ['plugins', 'name', missing, "unknown plugin name ''"],
  ['plugins', 'name', 'nope', "unknown plugin name 'nope'"],
  ['plugins', 'endpoint_id', 5, 'value must be a string'],
  ['plugins', 'endpoint_id', missing, "endpoint_id is required for plugin 'standard-webhooks'"],
  ['plugins', 'source_id', 's', "source_id is not allowed for plugin 'standard-webhooks'"],
  ['plugins', 'config', 'x', 'value must be an object'],
  ['plugins', 'config', { envelope: 'yes' }, '{"envelope":"value must be a boolean"}'],
  ['events', 'id', 'ä', 'value must match [A-Za-z0-9_:-]{1,64}'],
  ['events', 'event_type', missing, 'required field missing'],
  ['events', 'event_type', null, 'Value is not nullable'],
  ['events', 'event_type', '', 'minimum string length is 1'],
  ['events', 'event_type', long(256), 'maximum string length is 255'],
  ['events', 'data', missing, 'required field missing'],
  ['events', 'data', null, 'Value is not nullable'],
  ['events', 'data', [], 'value must be an object'],
  ['events', 'data', 'x', 'value must be an object'],
  ['events', 'unique_id', 5, 'value must be a string'],
  ['events', 'unique_id', '', 'minimum string length is 1'],
  ['events', 'unique_id', long(51), 'maximum string length is 50'],
  ['events', 'ingested_at', 'x', 'value must be an integer'],
]

describe('every field tells what is wrong with it', () => {
  const { call } = api()
  test.each(rows)('%s %s = %j', async (noun, path, value, reason) => {
    const keys = path.split('.')
    const fields = /^[[{]/.test(reason) ? JSON.parse(reason) : reason
    // The reason of a nested place may be given at its parent.
    const at = reason.startsWith('{') && keys.at(-1) === 'quota' ? keys.slice(0, -1) : keys
    const answer = await call('POST', `/${noun}`, placed(valid[noun], keys, value))
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body).toEqual(refusal(placed({}, at, fields)))
  })
})

function placed(base: object, [key, ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...base }
  const below = copy[key!]
  copy[key!] = rest.length === 0 ? value : placed(typeof below === 'object' && below !== null ? below : {}, rest, value)
  return copy
}

test('all reasons of a body come at once, nested as the body is', async () => {
  const { call } = api()
  const { body } = await call('POST', '/endpoints', {
    name: 5,
    enabled: 'x',
    request: { method: 'X', timeout: -1 },
    retry: { strategy: 1, config: { attempts: [0, 1.5] } },
    events: ['a', 7],
    metadata: { a: 1 },
    rate_limit: {},
    plugins: [],
  })
  expect(body).toEqual(
    refusal({
      name: 'value must be a string',
      enabled: 'value must be a boolean',
      request: {
        url: 'required field missing',
        method: methods,
        timeout: 'number must be at least 0',
      },
      retry: {
        strategy: 'value is not one of the allowed values ["fixed"]',
        config: { attempts: [null, 'value must be an integer'] },
      },
      events: [null, 'value must be a string'],
      metadata: { a: 'value must be a string' },
      rate_limit: { quota: 'required field missing', period: 'required field missing' },
      plugins: 'property is unsupported',
    }),
  )
})

describe('defaults', () => {
  const stamps = { created_at: expect.any(Number), updated_at: expect.any(Number) }
  const whole = {
    workspaces: {
      id: 'r',
      name: null,
      description: null,
      metadata: {},
      ...stamps,
      limits: { events_per_second: null, retention_days: null, endpoints: null },
    },
    endpoints: {
      id: 'r',
      name: null,
      description: null,
      enabled: true,
      request: { url, method: 'POST', headers: null, timeout: 10_000 },
      retry: { strategy: 'fixed', config: { attempts: [0, 60, 3600], jitter: 0 } },
      events: [],
      metadata: {},
      rate_limit: null,
      ...stamps,
      disabled_at: null,
      disabled_reason: null,
      disabled_detail: null,
      paused: false,
    },
    sources: {
      id: 'r',
      name: null,
      enabled: true,
      type: 'http',
      config: { http: { path: expect.stringMatching(/^\/[0-9a-f]{32}$/), methods: ['POST'], response: null } },
      async: false,
      metadata: {},
      rate_limit: null,
      ...stamps,
    },
  }
  const nouns = ['workspaces', 'endpoints', 'sources'] as const

  test.each(nouns)(
    '%s: a missing property takes its default, and keys come in the order of the documentation',
    async (noun) => {
      const { made } = api()
      const row = await made(`/${noun}`, { ...valid[noun], id: 'r' })
      expect(row).toEqual(whole[noun])
      expect(Object.keys(row)).toEqual(Object.keys(whole[noun]))
    },
  )

  test.each(nouns)('%s: null counts as missing where there is a default', async (noun) => {
    const { made } = api()
    const nulls = Object.fromEntries(Object.keys(whole[noun]).map((key) => [key, null]))
    const body = { ...nulls, ...valid[noun], id: 'r' }
    expect(await made(`/${noun}`, body)).toEqual(whole[noun])
  })

  test('nested nulls take nested defaults', async () => {
    const { made } = api()
    const endpoint = await made('/endpoints', {
      request: { url, method: null, headers: null, timeout: null },
      retry: { strategy: null, config: null },
    })
    expect(endpoint.request).toEqual(whole.endpoints.request)
    expect(endpoint.retry).toEqual(whole.endpoints.retry)
    const source = await made('/sources', { config: { http: { path: null, methods: null, response: null } } })
    expect(source.config).toEqual(whole.sources.config)
  })

  test('a response of a source has an empty body unless told', async () => {
    const { made } = api()
    const response = { code: 202, content_type: 'text/plain' }
    const { config } = await made('/sources', { config: { http: { path: '/a', response } } })
    expect(config.http).toEqual({ path: '/a', methods: ['POST'], response: { ...response, body: '' } })
  })

  test('1.0 is an integer', async () => {
    const { call } = api()
    const answer = await call('POST', '/endpoints', '{"request":{"url":"https://example.com","timeout":1.0}}')
    expect(answer.body.request.timeout).toBe(1)
  })

  test('unknown and read-only properties are ignored', async () => {
    const { made } = api()
    const row = await made('/endpoints', { ...valid.endpoints, color: 'red', created_at: 1, updated_at: 2 })
    expect(row.color).toBeUndefined()
    expect(row.created_at).toBeGreaterThan(2)
  })

  test('keys that JavaScript knows are data', async () => {
    const { call } = api()
    const metadata = '{"__proto__":"a","constructor":"b","prototype":"c"}'
    const { text: created } = await call('POST', '/endpoints', `{"request":{"url":"${url}"},"metadata":${metadata}}`)
    const { text: read } = await call('GET', `/endpoints/${JSON.parse(created).id}`)
    expect(created).toContain(`"metadata":${metadata}`)
    expect(read).toBe(created)
  })
})

describe('an update', () => {
  test('keeps what is absent, replaces what is present whole, and applies nested defaults anew', async () => {
    const { call, made } = api()
    const old = await made('/endpoints', {
      id: 'e',
      name: 'n',
      request: { url, method: 'PUT', headers: { a: 'b' }, timeout: 5 },
      retry: { config: { attempts: [1, 2] } },
      metadata: { a: '1', b: '2' },
      rate_limit: { quota: 1, period: 1 },
    })
    const { body } = await call('PUT', '/endpoints/e', {
      id: 'other',
      request: { url: 'https://example.org' },
      metadata: { c: '3' },
      rate_limit: null,
    })
    expect(body).toEqual({
      ...old,
      request: { url: 'https://example.org', method: 'POST', headers: null, timeout: 10_000 },
      metadata: { c: '3' },
      rate_limit: null,
      updated_at: expect.any(Number),
    })
    expect((await call('GET', '/endpoints/e')).body).toEqual(body)
    expect((await call('GET', '/endpoints/other')).status).toBe(404)
  })

  test('null means the default where there is one, and is refused where null has no meaning', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'e', name: 'n', enabled: false, request: { url }, events: ['a'] })
    const { body } = await call('PUT', '/endpoints/e', { name: null, enabled: null, events: null })
    expect(body).toMatchObject({ name: null, enabled: true, events: [] })
    const refused = await call('PUT', '/endpoints/e', { request: null })
    expect(refused.body).toEqual(refusal({ request: { url: 'required field missing' } }))
  })

  test.each([null, [], 5, 'text'])('of a body that is %j is refused', async (body) => {
    const { call, made } = api()
    await made('/endpoints', { id: 'e', request: { url } })
    const answer = await call('PUT', '/endpoints/e', JSON.stringify(body))
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ message: body === null ? 'Value is not nullable' : 'value must be an object' })
  })

  test('of a source keeps its path where the body names none', async () => {
    const { call, made } = api()
    const { config } = await made('/sources', { id: 's', config: {} })
    const { body } = await call('PUT', '/sources/s', { config: { http: { methods: ['PUT'] } } })
    expect(body.config.http).toEqual({ ...config.http, methods: ['PUT'] })
  })

  test('of a plugin keeps the secret that was generated, and takes the one that is given', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'e', request: { url } })
    const { id, config } = await made('/plugins', valid.plugins)
    const kept = await call('PUT', `/plugins/${id}`, { config: { envelope: true } })
    expect(kept.body.config).toEqual({ ...config, envelope: true })
    const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']
    expect((await call('PUT', `/plugins/${id}`, { config: { secrets } })).body.config).toEqual({
      secrets,
      envelope: false,
    })
  })

  test('a hundred updates at once lose nothing', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'e', request: { url } })
    const fields = ['name', 'description', 'events', 'metadata', 'rate_limit', 'enabled', 'retry']
    const values: Record<string, unknown> = {
      name: 'n',
      description: 'd',
      events: ['a'],
      metadata: { a: '1' },
      rate_limit: { quota: 1, period: 1 },
      enabled: false,
      retry: { strategy: 'fixed', config: { attempts: [7] } },
    }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => {
        const field = fields[i % fields.length]!
        return call('PUT', '/endpoints/e', { [field]: values[field] })
      }),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await call('GET', '/endpoints/e')).body).toMatchObject(values)
  })
})
