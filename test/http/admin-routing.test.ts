import { describe, expect, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { PosthornError } from '../../src/errors.ts'
import { routes } from '../../src/http/routes.ts'
import { api, url } from './api.ts'

const notFound = { message: 'not found' }
const paths = routes.map(({ method, path, scoped, operation }) => ({
  method,
  operation,
  path: `${scoped ? '/workspaces/default' : ''}${path.replaceAll(/:\w*id/g, 'unknown')}`,
  ids: [...path.matchAll(/:(\w*id)/g)].map(([, id]) => id!),
}))

describe('routes', () => {
  test('every route answers JSON, at any mount path; a GET may have one trailing slash, another method none', async () => {
    const plain = api()
    const mounted = api({ admin: { basePath: '/ops/api' } })
    for (const { method, path } of paths) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : '{}'
      const answer = await plain.call(method, path, body)
      expect(answer.status, `${method} ${path}`).not.toBe(405)
      expect(answer.body?.message, `${method} ${path}`).not.toBe('not found')
      if (answer.status !== 204 && path !== '/workspaces/default/config/dump') {
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      }
      expect((await mounted.call(method, path, body)).status, `${method} ${path}`).toBe(answer.status)
      const slashed = await plain.call(method, path === '/' ? '/' : `${path}/`, body)
      expect(slashed.status, `${method} ${path}/`).toBe(method === 'GET' ? answer.status : 404)
    }
  })

  test('a path below a workspace also stands alone, for the default workspace', async () => {
    const { call, made } = api()
    const endpoint = await made('/endpoints', { request: { url } })
    expect((await call('GET', `/workspaces/default/endpoints/${endpoint.id}`)).body).toEqual(endpoint)
    expect((await call('GET', '/')).body).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      message: 'Welcome to Posthorn',
    })
  })

  test.each([
    '/nope',
    '/workspaces/default/nope',
    '/endpoints//',
    '//endpoints',
    '/endpoints/%',
    '/endpoints/a/b',
    '/config',
  ])('%s is unknown', async (path) => {
    const { call } = api()
    const answer = await call('GET', path)
    expect(answer).toMatchObject({ status: 404, body: notFound })
  })

  test('a path that goes up deletes nothing above', async () => {
    const { call, made } = api()
    await made('/workspaces', { id: 'w' })
    for (const path of ['/workspaces/w/endpoints/..', '/workspaces/w/endpoints/%2e%2e', '/workspaces/w/.']) {
      expect((await call('DELETE', path)).status, path).toBe(404)
    }
    expect((await call('GET', '/workspaces/w/')).status).toBe(200)
  })

  test('what lies outside the mount path is unknown', async () => {
    const { posthorn } = api({ admin: { basePath: '/ops' } })
    for (const path of ['/', '/endpoints', '/opsx/endpoints', '/op']) {
      expect((await posthorn.admin.fetch(new Request(`http://admin.test${path}`))).status).toBe(404)
    }
    expect((await posthorn.admin.fetch(new Request('http://admin.test/ops'))).status).toBe(200)
  })

  test('a wrong method is told which are right', async () => {
    const { call } = api()
    const answer = await call('POST', '/endpoints/x', '{}')
    expect(answer).toMatchObject({ status: 405, body: { message: 'method not allowed' } })
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PUT, PATCH, DELETE')
    expect((await call('GET', '/config/sync')).headers.get('allow')).toBe('POST')
    expect((await call('OPTIONS', '/endpoints')).status).toBe(405)
    // An event may be called so; only POST means something else there.
    expect((await call('GET', '/events/replay')).body).toEqual({ message: 'Not found' })
    expect((await call('PUT', '/events/replay', '{}')).headers.get('allow')).toBe('GET, HEAD, POST, DELETE')
  })

  test('HEAD is GET without the body', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'e', request: { url } })
    const head = await call('HEAD', '/endpoints/e')
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await call('HEAD', '/endpoints/x')).toMatchObject({ status: 404, text: '' })
  })

  test('ids in paths are decoded, and odd ones name nothing', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'a:b', request: { url } })
    expect((await call('GET', '/endpoints/a%3Ab')).status).toBe(200)
    for (const id of ['%00', 'a%2Fb', '%F0%9F%98%80', 'x'.repeat(65), '..%2F..', '__proto__', 'constructor', '%20']) {
      for (const noun of ['workspaces', 'endpoints', 'sources', 'plugins', 'events', 'attempts']) {
        expect(await call('GET', `/${noun}/${id}`)).toMatchObject({ status: 404, body: { message: 'Not found' } })
      }
      expect((await call('DELETE', `/endpoints/${id}`)).status).toBe(204)
      expect((await call('PUT', `/endpoints/${id}`, {})).status).toBe(404)
    }
  })
})

describe('workspaces in paths', () => {
  test('are found by id, then by name', async () => {
    const { call, made } = api()
    await made('/workspaces', { id: 'one', name: 'two' })
    await made('/workspaces/one/endpoints', { id: 'e', request: { url } })
    expect((await call('GET', '/workspaces/two/endpoints/e')).status).toBe(200)
    expect((await call('GET', '/endpoints/e')).status).toBe(404)
    // The workspace itself is found by id alone.
    expect((await call('GET', '/workspaces/one')).status).toBe(200)
    expect((await call('GET', '/workspaces/two')).body).toEqual({ message: 'Not found' })
  })

  test('that are unknown are refused with the name that was asked for', async () => {
    const { call } = api()
    const answer = await call('GET', '/workspaces/a%20b/endpoints')
    expect(answer).toMatchObject({ status: 400, body: { message: 'invalid workspace: a b' } })
    expect((await call('GET', '/workspaces/a%00/endpoints')).body).toEqual({
      message: 'value must not contain U+0000 or unpaired surrogates',
    })
  })
})

describe('bodies', () => {
  const post = (path: string, body: BodyInit, options = {}) => {
    const { posthorn } = api(options)
    // `duplex` is missing in the DOM's types.
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    return posthorn.admin.fetch(new Request(`http://admin.test${path}`, init))
  }

  test.each(['', ' ', '{', '{"request":', '[1,', 'nul', '{"a":1}x', "{'a':1}", '{"a":\u0001}'])(
    'malformed JSON %j is refused with what is wrong',
    async (text) => {
      const response = await post('/endpoints', text)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ message: expect.stringMatching(/JSON/) })
    },
  )

  test.each(['null', '[]', '5', '"x"', 'true'])('%s is no object', async (text) => {
    for (const path of ['/workspaces', '/endpoints', '/sources', '/plugins', '/events', '/config/sync']) {
      const response = await post(path, text)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        message: text === 'null' ? 'Value is not nullable' : 'value must be an object',
      })
    }
  })

  test('beyond the limit are refused without being read on', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1000).fill(32))
      },
    })
    const response = await post('/endpoints', endless, { admin: { maxBodyBytes: 5000 } })
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({ message: 'request entity too large' })
    expect(pulled).toBeLessThan(10)
  })

  test('of just the limit pass', async () => {
    const text = `{"request":{"url":"${url}"}}`
    expect((await post('/endpoints', text, { admin: { maxBodyBytes: text.length } })).status).toBe(201)
    expect((await post('/endpoints', `${text} `, { admin: { maxBodyBytes: text.length } })).status).toBe(413)
  })

  test('that are compressed are refused as that', async () => {
    const { call } = api()
    const zipped = await call('POST', '/endpoints', '{}', { 'content-encoding': 'gzip' })
    const message = 'the body is compressed (content-encoding gzip): send it as it is'
    expect([zipped.status, zipped.body]).toEqual([400, { message }])
    expect((await call('POST', '/workspaces', '{}', { 'content-encoding': 'identity' })).status).toBe(201)
  })

  test('that are not UTF-8, or nested too deep, are refused', async () => {
    const bytes = await post('/endpoints', new Uint8Array([0x22, 0xff, 0x22]))
    expect([bytes.status, await bytes.json()]).toEqual([400, { message: 'the body is not UTF-8' }])
    for (const depth of [501, 100_000]) {
      const deep = await post('/events', `{"event_type":"a","data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`)
      expect([deep.status, await deep.json()]).toEqual([400, { message: expect.stringContaining('500 levels') }])
    }
  })

  test('count the last of repeated keys', async () => {
    const response = await post(
      '/endpoints',
      `{"name":"a","request":{"url":"x"},"name":"b","request":{"url":"${url}"}}`,
    )
    expect(await response.json()).toMatchObject({ name: 'b', request: { url } })
  })

  test('that break off are the fault of the sender', async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) })
    const response = await post('/endpoints', broken)
    expect([response.status, await response.json()]).toEqual([400, { message: 'the body could not be read' }])
  })
})

describe('the order of checks', () => {
  test('route, method, cross-site, workspace, authorize, entity, size, JSON, schema, constraint', async () => {
    const { call, made } = api({ admin: { maxBodyBytes: 200 } })
    await made('/endpoints', { id: 'e', request: { url } })
    const large = 'x'.repeat(300)
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    const statuses = async (...asked: Parameters<typeof call>) => (await call(...asked)).body.message
    expect(await statuses('PATCH', '/nope', large, crossSite)).toBe('not found')
    expect(await statuses('POST', '/workspaces/x/endpoints/y', large, crossSite)).toBe('method not allowed')
    expect(await statuses('PUT', '/workspaces/x/endpoints/y', large, crossSite)).toBe('forbidden')
    expect(await statuses('PUT', '/workspaces/x/endpoints/y', large)).toBe('invalid workspace: x')
    expect(await statuses('PUT', '/endpoints/y', large)).toBe('Not found')
    expect(await statuses('PUT', '/workspaces/y', large)).toBe('Not found')
    expect(await statuses('PUT', '/endpoints/e', large)).toBe('request entity too large')
    expect(await statuses('POST', '/endpoints', large)).toBe('request entity too large')
    expect(await statuses('PUT', '/endpoints/e', '{')).toMatch(/JSON/)
    expect(await statuses('PUT', '/endpoints/e', '{"name":1}')).toBe('Request Validation')
    expect(await statuses('POST', '/endpoints', { id: 'e', name: 1, request: { url } })).toBe('Request Validation')
    expect(await statuses('POST', '/endpoints', { id: 'e', request: { url } })).toBe(
      "unique constraint violation: {id='e'} already exists",
    )
  })
})

describe('no web page drives the API', () => {
  test.each([...paths])('$method $path', async ({ method, path }) => {
    const { call } = api()
    expect(await call(method, path, undefined, { 'sec-fetch-site': 'cross-site' })).toMatchObject({
      status: 403,
      body: { message: 'forbidden' },
    })
    expect((await call(method, path, undefined, { 'sec-fetch-site': 'same-origin' })).status).not.toBe(403)
  })
})

describe('authorize', () => {
  test.each([...paths])(
    'is asked about $method $path, and false forbids it',
    async ({ method, path, operation, ids }) => {
      const authorize = vi.fn(() => false)
      const { call } = api({ admin: { authorize } })
      const answer = await call(method, path, method === 'GET' || method === 'DELETE' ? undefined : '{')
      expect(answer).toMatchObject({ status: 403, body: { message: 'forbidden' } })
      const scoped = path.startsWith('/workspaces/default/')
      expect(authorize).toHaveBeenCalledExactlyOnceWith(expect.any(Request), {
        operation,
        workspace: scoped ? { id: 'default', name: 'default' } : null,
        params: {
          ...(scoped && { ws_id: 'default' }),
          ...Object.fromEntries(ids.map((id) => [id, 'unknown'])),
        },
      })
    },
  )

  test('hears the workspace that a name means, and null for one that is not there', async () => {
    const heard: unknown[] = []
    const { call, posthorn } = api({
      admin: {
        authorize(_, { workspace }) {
          heard.push(workspace)
          return true
        },
      },
    })
    await posthorn.workspaces.create({ id: 'w', name: 'team' })
    await call('GET', '/workspaces/team/endpoints')
    await call('GET', '/workspaces/w')
    await call('GET', '/endpoints')
    expect((await call('GET', '/workspaces/nope/endpoints')).body).toEqual({ message: 'invalid workspace: nope' })
    expect(heard).toEqual([
      { id: 'w', name: 'team' },
      { id: 'w', name: 'team' },
      { id: 'default', name: 'default' },
      null,
    ])
  })

  test('that forbids tells nothing of what is there', async () => {
    const { call } = api({ admin: { authorize: () => false } })
    const answers = await Promise.all(
      ['/workspaces/nope/endpoints', '/workspaces/default/endpoints', '/endpoints/nope', '/workspaces/nope'].map(
        (path) => call('GET', path),
      ),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('may answer itself', async () => {
    const { call } = api({
      admin: { authorize: () => new Response('login', { status: 401, headers: { 'www-authenticate': 'Basic' } }) },
    })
    const answer = await call('GET', '/endpoints')
    expect(answer).toMatchObject({ status: 401, text: 'login' })
    expect(answer.headers.get('www-authenticate')).toBe('Basic')
  })

  test('that throws, or answers anything else than true, lets nothing through', async () => {
    const thrown = api({ admin: { authorize: () => Promise.reject(new Error('secret detail')) } })
    const answer = await thrown.call('POST', '/endpoints', { request: { url } })
    expect(answer).toMatchObject({ status: 500, body: { message: 'internal error' } })
    expect(thrown.log.lines).toMatchObject([{ level: 'error' }])
    expect(await thrown.posthorn.endpoints.list('default')).toMatchObject({ total: 0 })
    for (const verdict of [undefined, null, 1, 'yes', {}]) {
      // A host without types may answer anything.
      const odd = api({ admin: { authorize: () => verdict as never } })
      expect((await odd.call('GET', '/endpoints')).status).toBe(403)
    }
  })

  test('comes before the body is read', async () => {
    const { posthorn } = api({ admin: { authorize: () => false } })
    const request = new Request('http://admin.test/endpoints', { method: 'POST', body: '{}' })
    await posthorn.admin.fetch(request)
    expect(request.bodyUsed).toBe(false)
  })
})

describe('failures inside', () => {
  function failing(error: unknown) {
    const storage = memory()
    const find = () => Promise.reject(error)
    return api({ storage: { ...storage, workspaces: { ...storage.workspaces, find } } })
  }

  test('show nothing of themselves but go to the log', async () => {
    const cause = Object.assign(new Error('select * from secrets'), { query: 'select', status: 418 })
    const { call, log } = failing(cause)
    const answer = await call('GET', '/endpoints')
    expect(answer).toMatchObject({ status: 500, text: '{"message":"internal error"}' })
    expect(log.lines).toMatchObject([{ level: 'error', details: { cause: { message: cause.message } } }])
  })

  test.each(['unavailable', 'overloaded'] as const)('that are %s are 503, to be tried again', async (code) => {
    const { call } = failing(new PosthornError(code, 'connect ECONNREFUSED 10.0.0.1'))
    const answer = await call('GET', '/endpoints')
    expect(answer).toMatchObject({ status: 503, text: '{"message":"service unavailable"}' })
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})
