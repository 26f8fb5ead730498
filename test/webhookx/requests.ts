// The same requests for every route that WebhookX 1.2.0 and we share, in an order in which each finds what it needs.

export interface Ask {
  /** What it is about, as differences name it. */
  readonly about: string
  readonly face: 'admin' | 'gateway'
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly yaml?: true
}

/** Ids of the length that WebhookX pads to, so that nothing but padding differs elsewhere. */
export const long = (name: string): string => `${name}-${'0'.repeat(26 - name.length)}`

const ask = (method: string, path: string, body?: unknown): Ask => {
  const about = `${method} ${path.split('?')[0]!.replaceAll(/[a-z0-9]+-0+/g, ':id')}`
  return { about, face: 'admin', method, path, ...(body !== undefined && { body }) }
}
const sync = (body: string): Ask => ({ ...ask('POST', '/workspaces/default/config/sync', body), yaml: true })
const dump = ask('POST', '/workspaces/default/config/dump')
const lists = (noun: string, queries: readonly string[]): Ask[] =>
  ['', ...queries].map((query) => ask('GET', `/${noun}${query === '' ? '' : `?${query}`}`))

const paging = [
  'limit=1&sort=id.asc',
  'page_no=2&page_size=1',
  'sort=id.asc',
  'limit=0',
  'limit=1001',
  'page_size=x',
  'page_no=0',
  'sort=name',
  'after=x&before=y',
  'limit=x&enabled=x',
]
const times = (name: string) => [
  `${name}=0`,
  `${name}[gt]=0`,
  `${name}[gte]=0&${name}[lt]=99999999999999`,
  `${name}[lte]=0`,
  `${name}=`,
  `${name}[gt]=`,
  `${name}=soon`,
]

const endpoint = (name: string, changes: object = {}) => ({
  id: long(name),
  name,
  request: { url: `http://receiver.test/${name}` },
  ...changes,
})
const source = (name: string, changes: object = {}) => ({
  id: long(name),
  name,
  config: { http: { path: `/${name}` } },
  ...changes,
})

/** Configuration: create, get, list, update, delete, and what is refused. */
export const configuration: readonly Ask[] = [
  ask('GET', '/'),
  ask('GET', '/nowhere'),
  ask('PATCH', '/endpoints'),
  ask('HEAD', '/endpoints'),
  ask('GET', '/endpoints/'),
  ask('GET', '/workspaces'),
  ask('GET', '/workspaces?name=default'),
  ask('GET', '/workspaces/default'),
  ask('POST', '/workspaces', { id: long('second'), name: 'second' }),
  ask('DELETE', `/workspaces/${long('second')}`),
  ask('GET', '/workspaces/nobody/endpoints'),

  ask('POST', '/endpoints', endpoint('one', { events: ['a'], metadata: { team: 'x' } })),
  ask('POST', '/endpoints', endpoint('two', { events: ['b'], enabled: false, rate_limit: { quota: 5, period: 1 } })),
  ask('POST', '/endpoints', { request: { url: 'http://receiver.test/unnamed' } }),
  ask('POST', '/endpoints', { id: 'short', name: 'short', request: { url: 'http://receiver.test/short' } }),
  ask('GET', '/endpoints/short'),
  ask('DELETE', '/endpoints/short'),
  ask('POST', '/endpoints', endpoint('one', { name: 'other' })),
  ask('POST', '/endpoints', endpoint('three', { name: 'one' })),
  ask('POST', '/endpoints', {}),
  ask('POST', '/endpoints', {
    request: { url: '', method: 'HEAD', timeout: -1 },
    events: [5],
    rate_limit: {},
    metadata: { a: 1 },
  }),
  ask('POST', '/endpoints', {
    name: 5,
    retry: { config: { attempts: [] } },
    enabled: 'x',
    request: { url: 'http://x' },
  }),
  ask('POST', '/endpoints', '{'),
  ask('POST', '/endpoints', 'null'),
  ask('POST', '/endpoints', '[]'),
  ask('POST', '/endpoints', endpoint('odd-url', { request: { url: 'shop' } })),
  ask('DELETE', `/endpoints/${long('odd-url')}`),
  ask(
    'POST',
    '/endpoints',
    endpoint('odd-header', { request: { url: 'http://receiver.test/', headers: { 'a b': 'c' } } }),
  ),
  ask('DELETE', `/endpoints/${long('odd-header')}`),
  ask('POST', '/endpoints', endpoint('plugged', { plugins: [] })),
  ask('DELETE', `/endpoints/${long('plugged')}`),
  ask('GET', `/endpoints/${long('one')}`),
  ask('GET', `/endpoints/${long('none')}`),
  ask('PUT', `/endpoints/${long('one')}`, { description: 'new', metadata: { a: 'b' }, events: [] }),
  ask('PUT', `/endpoints/${long('one')}`, { request: { timeout: 5 } }),
  ask('PUT', `/endpoints/${long('one')}`, { request: { url: 'http://receiver.test/one', headers: { 'X-A': 'b' } } }),
  ask('PUT', `/endpoints/${long('one')}`, { id: long('two'), name: 'one', description: null, rate_limit: null }),
  ask('PUT', `/endpoints/${long('one')}`, { enabled: null, events: null, retry: { config: {} } }),
  ask('PUT', `/endpoints/${long('one')}`, { name: 'two' }),
  ask('PUT', `/endpoints/${long('none')}`, { name: 'none' }),
  ...lists('endpoints', [
    ...paging,
    ...times('created_at'),
    'name=one',
    'name=',
    'enabled=true',
    'enabled=0',
    'enabled=',
    'limit=',
    'metadata[a]=b',
    'metadata[a]=',
    'after=',
    'created_at[foo]=1',
    `after=${long('one')}`,
    `before=${long('one')}&sort=id.asc`,
  ]),

  ask('POST', '/sources', source('in', { config: { http: { path: '/in', methods: ['POST', 'PUT'] } } })),
  ask(
    'POST',
    '/sources',
    source('answering', {
      config: { http: { path: '/answering', response: { code: 201, content_type: 'text/plain', body: 'thanks' } } },
    }),
  ),
  ask('POST', '/sources', source('later', { async: true })),
  ask('POST', '/sources', source('limited', { rate_limit: { quota: 1, period: 60 } })),
  ask('POST', '/sources', source('off', { enabled: false })),
  ask('POST', '/sources', source('generated', { config: {} })),
  ask('POST', '/sources', source('blank', { config: { http: { path: '' } } })),
  ask('POST', '/sources', source('twin', { config: { http: { path: '/in' } } })),
  ask('DELETE', `/sources/${long('twin')}`),
  ask('POST', '/sources', { name: 'faulty' }),
  ask('POST', '/sources', { config: { http: { path: 'x', methods: [], response: {} } }, async: 5 }),
  ask('GET', `/sources/${long('answering')}`),
  ask('PUT', `/sources/${long('answering')}`, { config: { http: { path: '/answering', methods: ['PUT', 'POST'] } } }),
  ask('PUT', `/sources/${long('answering')}`, { config: { http: { path: '/answering' } } }),
  ask('PUT', `/sources/${long('generated')}`, { config: { http: { path: '' } } }),
  ask('PUT', `/sources/${long('generated')}`, { config: { http: { response: null } }, metadata: { a: 'b' } }),
  ask('PUT', `/sources/${long('none')}`, { name: 'none' }),
  ...lists('sources', [...paging, ...times('created_at'), 'name=in', 'enabled=false', 'metadata[a]=b', 'name=']),

  ask('POST', '/plugins', { id: long('signature'), name: 'webhookx-signature', endpoint_id: long('one') }),
  ask('POST', '/plugins', {
    id: long('basic'),
    name: 'basic-auth',
    source_id: long('generated'),
    config: { username: 'u', password: 'p' },
  }),
  ask('POST', '/plugins', { name: 'webhookx-signature', endpoint_id: long('one') }),
  ask('POST', '/plugins', { name: 'webhookx-signature', endpoint_id: long('none') }),
  ask('POST', '/plugins', { name: 'webhookx-signature' }),
  ask('POST', '/plugins', { name: 'basic-auth', endpoint_id: long('one') }),
  ask('POST', '/plugins', { name: 'basic-auth', source_id: long('in') }),
  ask('POST', '/plugins', { name: 'unheard-of', source_id: long('in') }),
  ask('GET', `/plugins/${long('basic')}`),
  ask('PUT', `/plugins/${long('basic')}`, { enabled: false, metadata: { a: 'b' } }),
  ask('PUT', `/plugins/${long('basic')}`, { config: { username: 'u' } }),
  ask('PUT', `/plugins/${long('signature')}`, { config: { signing_secret: '' } }),
  ask('PUT', `/plugins/${long('signature')}`, { config: { signing_secret: 'foo' } }),
  ...lists('plugins', [
    ...paging,
    ...times('created_at'),
    'name=basic-auth',
    `endpoint_id=${long('one')}`,
    `source_id=${long('generated')}`,
    'source_id=',
    'enabled=false',
    'metadata[a]=b',
  ]),
  ask('DELETE', `/plugins/${long('basic')}`),
  ask('DELETE', `/plugins/${long('basic')}`),
  ask('DELETE', `/endpoints/${long('two')}`),
  ask('DELETE', `/sources/${long('off')}`),
  ask('GET', `/endpoints/${long('two')}`),

  // Syncs. What is listed by name is updated, what is not is made, and what is left out goes.
  sync('- a\n'),
  sync('a: [\n'),
  sync(''),
  sync('endpoints: [ { name: x, request: {} }, { name: y } ]\nsources: []\n'),
  sync('endpoints: [ { request: { url: "http://x" }, name: x, plugins: [ { name: nobody } ] } ]\nsources: []\n'),
  sync('endpoints: [ { request: { url: "http://receiver.test/" } } ]\nsources: []\n'),
  sync('endpoints: []\nsources: []\nother: 1\n'),
  sync(
    `endpoints: [ { name: one, request: { url: "http://receiver.test/" } } ]\nsources: [ { name: kept, config: { http: { path: /kept } } } ]\n`,
  ),
  dump,
  sync(
    `endpoints: [ { name: new, id: ${long('new')}, request: { url: "http://receiver.test/new" }, plugins: [ { name: webhookx-signature, config: { signing_secret: s } } ] } ]\n`,
  ),
  ask('GET', '/sources'),
  dump,
]

/** Configuration for what follows. */
export const prepared: readonly Ask[] = [
  sync(`
endpoints:
  - { id: ${long('ok')}, name: ok, events: [a, b], request: { url: "http://receiver.test/ok", headers: { X-Own: mine, authorization: secret } } }
  - { id: ${long('bad')}, name: bad, events: [b], request: { url: "http://receiver.test/bad" }, retry: { config: { attempts: [0, 3600] } } }
  - { id: ${long('get')}, name: get, events: [c], request: { url: "http://receiver.test/get?x=1", method: GET } }
  - { id: ${long('signed')}, name: signed, events: [d], request: { url: "http://receiver.test/signed" }, plugins: [ { name: webhookx-signature, config: { signing_secret: s } } ] }
  - { id: ${long('agent')}, name: agent, events: [e], request: { url: "http://receiver.test/agent", headers: { User-Agent: mine } } }
sources:
  - { id: ${long('in')}, name: in, config: { http: { path: /in } } }
  - { id: ${long('later')}, name: later, async: true, config: { http: { path: /later, response: { code: 202, content_type: text/plain, body: thanks } } } }
  - { id: ${long('limited')}, name: limited, rate_limit: { quota: 1, period: 60 }, config: { http: { path: /limited } } }
  - { id: ${long('off')}, name: off, enabled: false, config: { http: { path: /off } } }
  - { id: ${long('basic')}, name: basic, config: { http: { path: /basic } }, plugins: [ { name: basic-auth, config: { username: u, password: p } } ] }
`),
]

const send = (path: string, body: unknown, method = 'POST'): Ask => ({
  about: `${method} ${path} of the gateway`,
  face: 'gateway',
  method,
  path,
  body,
})

/** Events, one for each route of the gateway and of events, and what is refused. */
export const events: readonly Ask[] = [
  send('/in', '{"event_type":"a","data":{"n": 1.0, "big":12345678901234567890}}'),
  send('/in', { event_type: 'b', data: { n: 2 }, unique_id: 'once' }),
  send('/in', { event_type: 'b', data: { n: 2 }, unique_id: 'once' }),
  send('/later', { event_type: 'c', data: { n: 3 } }),
  send('/in', { event_type: 'd', data: { n: 4 } }),
  send('/in', { event_type: 'e', data: { n: 5 } }),
  send('/in', { event_type: 'nobody', data: [1] }),
  send('/in', {}),
  send('/in', '{'),
  send('/in', { event_type: 'a', data: {}, unique_id: 'u'.repeat(51) }),
  send('/in', { event_type: 'a', data: {} }, 'PUT'),
  send('/nowhere', {}),
  send('/basic', { event_type: 'nobody', data: {} }),
  send('/limited', { event_type: 'nobody', data: {} }),
  send('/limited', { event_type: 'nobody', data: {} }),
  ask('POST', '/events', { id: long('mine'), event_type: 'x', data: { a: 1 } }),
  ask('POST', '/events', { id: long('mine'), event_type: 'x', data: { a: 1 } }),
  ask('POST', '/events', { event_type: 'x', data: { a: 1 }, unique_id: 'once' }),
  ask('POST', '/events', { event_type: 'x', data: [1] }),
  ask('POST', '/events', {}),
  ask('GET', `/events/${long('mine')}`),
  ask('GET', `/events/${long('none')}`),
  ask('POST', `/events/${long('none')}/retry?endpoint_id=${long('ok')}`),
  ask('POST', `/events/${long('mine')}/retry?endpoint_id=${long('none')}`),
  ask('POST', `/events/${long('mine')}/retry`),
]

/** A retry, whose delivery succeeds. */
export const retry: Ask = ask('POST', `/events/${long('mine')}/retry?endpoint_id=${long('ok')}`)

/** What is asked once all deliveries were made. */
export const outcomes: readonly Ask[] = [
  ...lists('events', [
    ...paging,
    ...times('created_at'),
    ...times('ingested_at'),
    'event_type=a',
    'event_type=',
    'unique_id=once',
    'unique_id=',
    'event_type=none',
  ]),
  ...lists('attempts', [
    ...paging,
    ...times('created_at'),
    ...times('attempted_at'),
    `endpoint_id=${long('ok')}`,
    'endpoint_id=',
    `event_id=${long('mine')}`,
    'event_id=',
    'status=SUCCESSFUL',
    'status=FAILED',
    'status=INIT',
    'status=',
    'status=NONE',
  ]),
  ask('GET', `/attempts/${long('none')}`),
]

/** To a source that is disabled. Asked late: WebhookX makes an event of it. */
export const disabled: Ask = send('/off', { event_type: 'nobody', data: {} })

/** An endpoint that wants all events. */
export const wildcard: readonly Ask[] = [
  ask('POST', '/endpoints', endpoint('all', { events: ['*', 'w.*'] })),
  ask('POST', '/endpoints', endpoint('exact', { events: ['w.a'] })),
]
export const wildcardEvent: Ask = ask('POST', '/events', { event_type: 'w.a', data: {} })

/** A retry to a receiver that takes its time, and its attempt meanwhile. */
export const slowly: readonly Ask[] = [
  ask('POST', '/endpoints', endpoint('slow')),
  ask('POST', `/events/${long('mine')}/retry?endpoint_id=${long('slow')}`),
]
export const meanwhile: Ask = ask('GET', `/attempts?endpoint_id=${long('slow')}`)

/** A retry where no worker runs. */
export const idle: readonly Ask[] = [
  ask('POST', '/endpoints', endpoint('waiting')),
  ask('POST', '/events', { id: long('mine'), event_type: 'x', data: {} }),
  ask('POST', `/events/${long('mine')}/retry?endpoint_id=${long('waiting')}`),
  ask('GET', '/attempts'),
  ask('GET', '/attempts?status=INIT'),
  ask('GET', '/attempts?status=QUEUED'),
]
