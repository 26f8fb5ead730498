import { describe, expect, test } from 'vitest'

import { JsonText } from '../../src/schema/json-text.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { type Answer, api, refusal, url } from './api.ts'

const ids = (answer: Answer): string[] => answer.body.data.map(({ id }: { id: string }) => id)

async function withEndpoints(count: number) {
  const tools = api()
  for (let i = 0; i < count; i++) {
    await tools.made('/endpoints', {
      id: `e${i}`,
      name: `n${i}`,
      enabled: i % 2 === 0,
      request: { url },
      metadata: { parity: String(i % 2), all: 'yes' },
    })
  }
  return tools
}

describe('offset mode', () => {
  test('answers the total and a page, newest first', async () => {
    const { call } = await withEndpoints(5)
    const first = await call('GET', '/endpoints?page_size=2')
    expect(Object.keys(first.body)).toEqual(['total', 'data'])
    expect([first.body.total, ids(first)]).toEqual([5, ['e4', 'e3']])
    expect(ids(await call('GET', '/endpoints?page_size=2&page_no=3'))).toEqual(['e0'])
    expect((await call('GET', '/endpoints?page_size=2&page_no=9')).body).toEqual({ total: 5, data: [] })
    expect(ids(await call('GET', '/endpoints?sort=id.asc&page_size=2'))).toEqual(['e0', 'e1'])
  })

  test('shows twenty rows unless told', async () => {
    const { call } = await withEndpoints(25)
    expect(ids(await call('GET', '/endpoints'))).toHaveLength(20)
    expect(ids(await call('GET', '/endpoints?page_size=1000'))).toHaveLength(25)
  })
})

describe('cursor mode', () => {
  test('walks forth and back over the very addresses, which end where the rows do', async () => {
    const { call } = await withEndpoints(5)
    const first = await call('GET', '/endpoints?limit=2')
    expect(first.body).toEqual({ data: expect.any(Array), next: '/endpoints?after=e3&limit=2', prev: null })
    const second = await call('GET', first.body.next)
    expect(ids(second)).toEqual(['e2', 'e1'])
    expect(second.body).toMatchObject({ next: '/endpoints?after=e1&limit=2', prev: '/endpoints?before=e2&limit=2' })
    const third = await call('GET', second.body.next)
    expect(ids(third)).toEqual(['e0'])
    expect(third.body).toMatchObject({ next: null, prev: '/endpoints?before=e0&limit=2' })
    expect((await call('GET', third.body.prev)).body).toEqual(second.body)
    expect((await call('GET', second.body.prev)).body).toEqual(first.body)
  })

  test('keeps the order of display ascending too', async () => {
    const { call } = await withEndpoints(5)
    const page = await call('GET', '/endpoints?sort=id.asc&before=e3&limit=2')
    expect(ids(page)).toEqual(['e1', 'e2'])
    expect(page.body).toMatchObject({
      next: '/endpoints?after=e2&limit=2&sort=id.asc',
      prev: '/endpoints?before=e1&limit=2&sort=id.asc',
    })
  })

  test('is taken with any of limit, after and before; limit is 20 unless told', async () => {
    const { call } = await withEndpoints(25)
    expect(ids(await call('GET', '/endpoints?after=e9'))).toHaveLength(20)
    expect((await call('GET', '/endpoints?before=e0')).body).toHaveProperty('next')
    expect((await call('GET', '/endpoints?limit=5&page_no=3&page_size=1')).body.data).toHaveLength(5)
    expect((await call('GET', '/endpoints?limit=5&page_no=0')).body.data).toHaveLength(5)
    expect((await call('GET', '/endpoints?after=e0&page_no=x')).status).toBe(200)
    expect(await call('GET', '/endpoints?limit=5&page_size=0')).toMatchObject({ status: 400 })
  })

  test('keeps all other parameters in its addresses, sorted and form-encoded, on the path that was asked', async () => {
    const tools = api({ admin: { basePath: '/ops' } })
    for (const id of ['a', 'b', 'c']) {
      await tools.made('/endpoints', { id, request: { url }, metadata: { 'k y': 'v&w' } })
    }
    const query = 'utm=x%20y&metadata%5Bk%20y%5D=v%26w&limit=1&created_at[gte]=0&before=a'
    const { body } = await tools.call('GET', `/workspaces/default/endpoints/?${query}`)
    expect(body.data).toMatchObject([{ id: 'b' }])
    const kept = 'created_at%5Bgte%5D=0&limit=1&metadata%5Bk+y%5D=v%26w&utm=x+y'
    expect(body).toMatchObject({
      next: `/ops/workspaces/default/endpoints/?after=b&${kept}`,
      prev: `/ops/workspaces/default/endpoints/?before=b&${kept}`,
    })
  })

  test('of nothing has no neighbours', async () => {
    const { call } = await withEndpoints(2)
    expect((await call('GET', '/endpoints?after=e0&limit=1')).body).toEqual({ data: [], next: null, prev: null })
    expect((await call('GET', '/endpoints?limit=1&name=x')).body).toEqual({ data: [], next: null, prev: null })
  })

  test('takes cursors that name no row', async () => {
    const { call } = await withEndpoints(3)
    expect(ids(await call('GET', '/endpoints?after=e1x&limit=9'))).toEqual(['e1', 'e0'])
    expect(ids(await call('GET', '/endpoints?before=zzz%20%25'))).toEqual([])
  })

  test('shows every row once while others come and go', async () => {
    const { call, made } = api()
    for (let i = 10; i < 40; i++) await made('/endpoints', { id: `e${i}`, request: { url } })
    const seen: string[] = []
    let next = '/endpoints?limit=4'
    for (let i = 0; next !== null; i++) {
      const page = await call('GET', next)
      seen.push(...ids(page))
      next = page.body.next
      await made('/endpoints', { id: `f${i}`, request: { url } })
      await call('DELETE', `/endpoints/${seen.at(-1)}`)
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => `e${39 - i}`))
  })
})

describe('parameters', () => {
  const params = (...reasons: string[]) => refusal({ '@params': reasons })

  test.each([
    ['page_no=0', 'page_no: number must be at least 1'],
    ['page_no=1.5', 'page_no: value 1.5: an invalid integer: invalid syntax'],
    ['page_size=0', 'page_size: number must be at least 1'],
    ['page_size=1001', 'page_size: number must be at most 1000'],
    ['limit=0', 'limit: number must be at least 1'],
    ['limit=1001', 'limit: number must be at most 1000'],
    ['limit=test', 'limit: value test: an invalid integer: invalid syntax'],
    ['limit=99999999999999999999', 'limit: number must be at most 1000'],
    ['limit=', 'limit: is empty'],
    ['sort=name', 'sort: value is not one of the allowed values ["id.desc","id.asc"]'],
    ['sort=', 'sort: is empty'],
    ['after=', 'after: is empty'],
    ['before=', 'before: is empty'],
    ['after=%00', 'after: value must not contain U+0000 or unpaired surrogates'],
    ['name=a%00', 'name: value must not contain U+0000 or unpaired surrogates'],
    ['enabled=x', 'enabled: value x: an invalid boolean: invalid syntax'],
    ['enabled=TRUE', 'enabled: value TRUE: an invalid boolean: invalid syntax'],
    ['enabled=constructor', 'enabled: value constructor: an invalid boolean: invalid syntax'],
    ['created_at=x', 'created_at: value x: an invalid integer: invalid syntax'],
    ['created_at[gt]=1e3', 'created_at[gt]: value 1e3: an invalid integer: invalid syntax'],
    ['created_at[lte]=', 'created_at[lte]: is empty'],
    ['created_at[foo]=5', 'created_at[foo]: unknown bound'],
    ['created_at[eq]=5', 'created_at[eq]: unknown bound'],
    ['created_at[]=', 'created_at[]: unknown bound'],
    ['created_at[gt=5', 'created_at[gt: unknown bound'],
    ['enabled=', 'enabled: is empty'],
    ['metadata[a]=%00', 'metadata[a]: value must not contain U+0000 or unpaired surrogates'],
  ])('%s: %s', async (query, reason) => {
    const { call } = api()
    const answer = await call('GET', `/endpoints?${query}`)
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body).toEqual(params(reason))
  })

  test('are told all at once, in one order', async () => {
    const { call } = api()
    const query = 'metadata[a]=%00&enabled=2&created_at=z&before=&after=&sort=x&limit=0&page_size=0&page_no=0'
    expect((await call('GET', `/endpoints?${query}`)).body).toEqual(
      params(
        'page_size: number must be at least 1',
        'limit: number must be at least 1',
        'sort: value is not one of the allowed values ["id.desc","id.asc"]',
        'after: is empty',
        'before: is empty',
        'enabled: value 2: an invalid boolean: invalid syntax',
        'created_at: value z: an invalid integer: invalid syntax',
        'metadata[a]: value must not contain U+0000 or unpaired surrogates',
      ),
    )
    expect((await call('GET', '/attempts?status=OPEN')).body).toEqual(
      params('status: value is not one of the allowed values ["INIT","QUEUED","SUCCESSFUL","FAILED","CANCELED"]'),
    )
  })

  test('name and metadata may be looked for by the empty text', async () => {
    const { call, made } = api()
    await made('/endpoints', { id: 'a', name: '', request: { url }, metadata: { k: '' } })
    await made('/endpoints', { id: 'b', name: 'b', request: { url }, metadata: { k: 'v' } })
    await made('/endpoints', { id: 'c', request: { url } })
    expect(ids(await call('GET', '/endpoints?name='))).toEqual(['a'])
    expect(ids(await call('GET', '/endpoints?metadata[k]='))).toEqual(['a'])
    expect((await call('GET', '/endpoints?limit=1&name=&after=z')).body).toMatchObject({
      data: [{ id: 'a' }],
      next: null,
    })
  })

  test('bounds of any size are compared, and an exact time that no row can have is told', async () => {
    const { call } = await withEndpoints(2)
    const far = '99999999999999999999'
    expect(ids(await call('GET', `/endpoints?created_at[lt]=${far}&created_at[gt]=-${far}`))).toHaveLength(2)
    expect(ids(await call('GET', `/endpoints?created_at[gt]=${far}`))).toHaveLength(0)
    const exact = await call('GET', `/endpoints?created_at=${far}&created_at[gt]=${far}`)
    const range = 'times are unix milliseconds from -9007199254740991 to 9007199254740991'
    expect(exact).toMatchObject({
      status: 400,
      body: { error: { fields: { '@params': [`created_at: value ${far}: ${range}`] } } },
    })
    expect(ids(await call('GET', '/endpoints?created_at=9007199254740991'))).toHaveLength(0)
  })

  test('after and before exclude one another', async () => {
    const { call } = api()
    const answer = await call('GET', '/endpoints?after=a&before=b')
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body).toEqual({
      message: 'Request Validation',
      error: { message: "cannot pass both 'after' and 'before' params at the same time", fields: {} },
    })
  })

  test('that are repeated count once; undeclared ones do not count', async () => {
    const { call } = await withEndpoints(3)
    expect(ids(await call('GET', '/endpoints?name=n1&name=n2'))).toEqual(['e1'])
    expect(ids(await call('GET', '/endpoints?color=&metadata=1&event_id=z'))).toHaveLength(3)
  })
})

describe('filters', () => {
  test('of configuration rows combine', async () => {
    const { call } = await withEndpoints(6)
    const found = async (query: string) => ids(await call('GET', `/endpoints?sort=id.asc&${query}`))
    expect(await found('name=n3')).toEqual(['e3'])
    expect(await found('enabled=true')).toEqual(['e0', 'e2', 'e4'])
    expect(await found('enabled=0')).toEqual(['e1', 'e3', 'e5'])
    expect(await found('metadata[parity]=1')).toEqual(['e1', 'e3', 'e5'])
    expect(await found('metadata[parity]=1&metadata[all]=no')).toEqual([])
    expect(await found('metadata[parity]=1&metadata[all]=yes&name=n5&enabled=1')).toEqual([])
    expect(await found('metadata[parity]=1&metadata[all]=yes&name=n5&enabled=false&created_at[gt]=0')).toEqual(['e5'])
    expect(await found('metadata[__proto__]=x')).toEqual([])
    expect((await call('GET', '/endpoints?enabled=1&page_size=1')).body.total).toBe(3)
  })

  test('of plugins name their owner', async () => {
    const { call, made } = await withEndpoints(2)
    await made('/sources', { id: 's', config: {} })
    await made('/plugins', { id: 'p0', name: 'standard-webhooks', endpoint_id: 'e0' })
    await made('/plugins', { id: 'p1', name: 'standard-webhooks', endpoint_id: 'e1', enabled: false })
    await made('/plugins', {
      id: 'p2',
      name: 'key-auth',
      source_id: 's',
      config: { param_name: 'k', param_locations: ['query'], key: 'k' },
    })
    expect(ids(await call('GET', '/plugins?endpoint_id=e0'))).toEqual(['p0'])
    expect(ids(await call('GET', '/plugins?source_id=s'))).toEqual(['p2'])
    expect(ids(await call('GET', '/plugins?name=standard-webhooks&enabled=false'))).toEqual(['p1'])
  })

  test('of events and attempts, and times with every bound', async () => {
    const { admin, advance, endpoints, events, drain, clock } = createTestPosthorn()
    const start = clock.now()
    await endpoints.create('default', { id: 'now', request: { url }, events: ['*'] })
    await endpoints.create('default', {
      id: 'later',
      request: { url },
      events: ['a'],
      retry: { config: { attempts: [181] } },
    })
    await events.create('default', { id: 'v1', event_type: 'a', data: { n: 1 }, unique_id: 'u1' })
    await drain()
    await advance(1000)
    await events.create('default', { id: 'v2', event_type: 'b', data: { n: 2 } })

    const list = async (path: string) => {
      const response = await admin.fetch(new Request(`http://admin.test${path}`))
      expect(response.status).toBe(200)
      return (await response.json()) as {
        data: { id: string; event_id: string; endpoint_id: string; request: unknown }[]
      }
    }
    const found = async (query: string) => (await list(`/events?sort=id.asc&${query}`)).data.map(({ id }) => id)
    expect(await found('event_type=b')).toEqual(['v2'])
    expect(await found('unique_id=u1')).toEqual(['v1'])
    expect(await found(`created_at=${start}`)).toEqual(['v1'])
    expect(await found(`created_at[gt]=${start}`)).toEqual(['v2'])
    expect(await found(`ingested_at[gte]=${start}&ingested_at[lt]=${start + 1000}`)).toEqual(['v1'])
    expect(await found(`ingested_at[lte]=${start + 1000}`)).toEqual(['v1', 'v2'])
    expect(await found(`created_at=${start}&created_at[gt]=${start}`)).toEqual([])

    const attempts = async (query: string) =>
      (await list(`/attempts?${query}`)).data.map((row) => `${row.event_id} ${row.endpoint_id}`).toSorted()
    expect(await attempts('event_id=v1')).toEqual(['v1 later', 'v1 now'])
    expect(await attempts('endpoint_id=now')).toEqual(['v1 now', 'v2 now'])
    expect(await attempts('status=SUCCESSFUL')).toEqual(['v1 now'])
    expect(await attempts('status=QUEUED')).toEqual(['v1 later', 'v2 now'])
    expect(await attempts(`attempted_at[gte]=${start}`)).toEqual(['v1 now'])
    expect(await attempts(`attempted_at[gt]=${start + 1000}`)).toEqual([])
    expect((await list('/attempts?status=SUCCESSFUL')).data).toMatchObject([
      { request: { headers: null, body: null }, response: { headers: null, body: null } },
    ])
  })

  test('an open attempt is INIT until it falls due within three minutes', async () => {
    const { attempts, advance, endpoints, events } = createTestPosthorn()
    const retry = { config: { attempts: [181] } }
    await endpoints.create('default', { request: { url }, events: ['*'], retry })
    await events.create('default', { event_type: 'a', data: {} })
    const seen = async () => {
      const [init, queued] = await Promise.all(
        (['INIT', 'QUEUED'] as const).map((status) => attempts.list('default', { status })),
      )
      const { data } = await attempts.list('default')
      return [data[0]?.status, init?.data.length, queued?.data.length]
    }
    expect(await seen()).toEqual(['INIT', 1, 0])
    await advance(999)
    expect(await seen()).toEqual(['INIT', 1, 0])
    await advance(1)
    expect(await seen()).toEqual(['QUEUED', 0, 1])
  })
})

test('an attempt shows the request whose body is the event itself, cut where recordings are', async () => {
  const { attempts, endpoints, events, drain } = createTestPosthorn({ deliver: { captureBytes: 11 } })
  await endpoints.create('default', { request: { url }, events: ['*'] })
  await events.create('default', { event_type: 'a', data: new JsonText('{"text":"aäöü"}') })
  await drain()
  const { data } = await attempts.list('default')
  expect(await attempts.get('default', data[0]!.id)).toMatchObject({
    status: 'SUCCESSFUL',
    request: { method: 'POST', url, body: '{"text":"a' },
  })
})

describe('service functions', () => {
  test('page alike, with the cursors of the pages beside', async () => {
    const { posthorn } = await withEndpoints(3)
    const page = await posthorn.endpoints.list('default', { limit: 1, after: 'e2', created_at: { gte: 0 } })
    expect(page).toMatchObject({
      data: [{ id: 'e1' }],
      next: 'e1',
      prev: 'e1',
    })
  })

  test('refuse parameters as the API does', async () => {
    const { posthorn } = api()
    await expect(posthorn.endpoints.list('default', { limit: 0, created_at: { gt: 1.5 } })).rejects.toMatchObject({
      code: 'validation',
      fields: { '@params': ['limit: number must be at least 1', 'created_at[gt]: value must be an integer'] },
    })
    await expect(posthorn.endpoints.list('default', { after: 'a', before: 'b' })).rejects.toMatchObject({ fields: {} })
    await expect(posthorn.endpoints.list('\ud800')).rejects.toMatchObject({ code: 'validation' })
  })
})
