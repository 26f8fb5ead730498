import { expect, test } from 'vitest'

import { routes } from '../../src/http/routes.ts'
import { api, url } from './api.ts'

/** Mulberry32: the same numbers on every machine. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const odd = [
  null,
  true,
  0,
  -1,
  1.5,
  Infinity,
  2 ** 53,
  '',
  'x',
  '\0',
  '\ud800',
  '😀',
  'x'.repeat(5000),
  [],
  [null],
  [[]],
  {},
  { a: 1 },
  { __proto__: 1 },
  '../..',
  '%00',
  'default',
  'e',
  ['POST', 'POST'],
  { gt: 'x' },
] as const

const bodies = [
  { id: 'x', name: 'n', description: 'd', metadata: { a: 'b' } },
  {
    id: 'e',
    name: 'n',
    request: { url, method: 'PUT', headers: { a: 'b' }, timeout: 5 },
    retry: { strategy: 'fixed', config: { attempts: [0] } },
    events: ['*'],
    rate_limit: { quota: 1, period: 1 },
  },
  {
    name: 's',
    config: { http: { path: '/p', methods: ['POST'], response: { code: 200, content_type: 'a', body: '' } } },
    async: true,
  },
  {
    name: 'standard-webhooks',
    endpoint_id: 'e',
    config: { secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], envelope: true },
  },
  { name: 'connect-auth', source_id: 's', config: { provider: 'stripe', provider_config: { secret: 's' } } },
  { event_type: 'a', data: { a: 1 }, unique_id: 'u' },
  { event_types: ['a'], endpoint_id: 'e', created_at: { gt: 1 }, status: 'FAILED', after: 'x', limit: 5 },
  {
    endpoints: [{ name: 'e', request: { url }, plugins: [{ name: 'webhookx-signature' }] }],
    sources: [{ id: 's', config: {} }],
  },
] as const

const parameters = [
  'limit',
  'page_no',
  'page_size',
  'sort',
  'after',
  'before',
  'name',
  'enabled',
  'created_at',
  'created_at[gt]',
  'metadata[a]',
  'status',
  'endpoint_id',
  'dry_run',
  'unique_id',
  'attempted_at[lte]',
]
const values = [
  '',
  '0',
  '1',
  '-5',
  'x',
  'true',
  'id.asc',
  '%00',
  '%F0%9F%98%80',
  '%FF',
  '99999999999999999999',
  'e',
  'FAILED',
  '%',
  '1e3',
]
const ids = [
  'e',
  's',
  'default',
  'nope',
  '%00',
  '%2F',
  '%',
  'x'.repeat(300),
  '__proto__',
  'a b',
  '%F0%9F%98%80',
  '..',
  'replay',
]
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

test('whatever is asked, nothing breaks: 5,000 mutated requests', { timeout: 120_000 }, async () => {
  const next = random(20_261_121)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
  const unhandled: unknown[] = []
  const onUnhandled = (cause: unknown) => unhandled.push(cause)
  process.on('unhandledRejection', onUnhandled)

  const { posthorn, log } = api({ admin: { maxBodyBytes: 20_000 } })
  // Deliveries are not what is looked at, and would go out.
  await posthorn.endpoints.create('default', { id: 'e', enabled: false, request: { url } })
  await posthorn.sources.create('default', { id: 's', config: {} })

  /** Puts something odd somewhere in a value. */
  function mutated(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || next() < 0.15) return pick(odd)
    if (Array.isArray(value)) return [...value.slice(0, -1), mutated(value.at(-1)), ...(next() < 0.2 ? value : [])]
    const keys = Object.keys(value)
    const key = next() < 0.1 ? pick(['__proto__', 'constructor', 'plugins', '\0', 'created_at']) : pick(keys)
    return Object.fromEntries([...Object.entries(value), [key, mutated((value as Record<string, unknown>)[key])]])
  }

  function body(): BodyInit {
    const text = JSON.stringify(next() < 0.2 ? pick(bodies) : mutated(pick(bodies))) ?? 'null'
    const chance = next()
    if (chance < 0.05) return text.slice(0, Math.floor(next() * text.length))
    if (chance < 0.08) return `${text}${pick([']', ',', '\0', 'x', '\n---\n', ' '.repeat(30_000)])}`
    if (chance < 0.1) return new Uint8Array([...new TextEncoder().encode(text.slice(0, 50)), 0xff, 0xfe])
    if (chance < 0.12) return '[{"a":'.repeat(3000)
    if (chance < 0.16) return text.replaceAll('"', pick(["'", '', '&a ', '*a ', '!!binary ']))
    return text
  }

  const statuses = new Map<number, number>()
  for (let i = 0; i < 5000; i++) {
    const route = pick(routes)
    const method = next() < 0.85 ? route.method : pick(methods)
    // The endpoint test would send.
    const path = route.path.replace(':id', () => (route.operation === 'endpoints.test' ? 'nope' : pick(ids)))
    const prefix = route.scoped && next() < 0.5 ? `/workspaces/${next() < 0.8 ? 'default' : pick(ids)}` : ''
    const query = Array.from({ length: Math.floor(next() * 4) }, () => `${pick(parameters)}=${pick(values)}`).join('&')
    const request = new Request(`http://admin.test${prefix}${path}${query === '' ? '' : `?${query}`}`, {
      method,
      headers: {
        'content-type': pick(['application/json', 'text/plain', 'application/x-yaml']),
        accept: pick(['*/*', 'application/json']),
      },
      ...(method !== 'GET' && method !== 'HEAD' && next() < 0.9 && { body: body() }),
    })
    const response = await posthorn.admin.fetch(request)
    const text = await response.text()
    if (response.status >= 400 && method !== 'HEAD') {
      expect(Object.keys(JSON.parse(text) as object), text).toContain('message')
    }
    expect(response.status, `${method} ${request.url} ${text}`).toBeLessThan(500)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }

  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
  // The mutations reach every layer.
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual(
    expect.arrayContaining([200, 201, 204, 400, 404, 405, 413]),
  )
})
