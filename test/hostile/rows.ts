import type { ConfigDocument } from '../../src/schema/config.ts'
import { hostilePaths } from './receivers.ts'
import type { Random } from './random.ts'

/** How many endpoints, and as many sources, the other tenant has. */
const rowCount = 2000
/** How many of the endpoints want the events that the tenant publishes. */
const wanting = 30
/** Together the most that a workspace may have. */
const patternedRows = 400

const many = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const pairs = (count: number, value: string) => Object.fromEntries(many(count, (i) => [`k${i}`, value]))

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const

/** A document of thousands of rows: short and simple ones, or rows whose lists and names are as long as they may be. */
export function rowsOf(random: Random, isHostile: boolean, receiver: number, phase: string): ConfigDocument {
  const url = (i: number) =>
    `http://127.0.0.1:${receiver}${isHostile && i < wanting ? hostilePaths[i % hostilePaths.length] : '/good'}`
  const endpoints = many(rowCount, (i) => ({
    id: `e${i}-${phase}`,
    name: isHostile ? `${'é'.repeat(500)}${i}` : `endpoint ${i}`,
    request: {
      url: url(i),
      timeout: isHostile && i < wanting ? 500 + random.below(1500) : 10_000,
      headers: isHostile && i < 100 ? Object.fromEntries(many(100, (n) => [`x-${n}`, 'v'.repeat(100)])) : {},
    },
    retry: { config: { attempts: isHostile && i >= wanting ? many(100, () => 31_536_000) : [0] } },
    events:
      i < wanting
        ? ['burst']
        : isHostile && i < wanting + patternedRows
          ? many(200, (n) => `t${i}.${n}.**`)
          : [`t${i}`],
    metadata: isHostile && i < 200 ? pairs(100, 'm'.repeat(random.size(400))) : {},
  }))
  const sources = many(rowCount, (i) => ({
    id: `s${i}-${phase}`,
    name: isHostile ? `${'s'.repeat(500)}${i}` : `source ${i}`,
    config: {
      http: {
        path: isHostile && i > 10 ? `/${'p'.repeat(1000)}${i}-${phase}` : `/other-${i}-${phase}`,
        methods: isHostile ? methods : methods.slice(1, 2),
      },
    },
    ...(i < 5 ? { plugins: [{ name: 'stop', config: {} }] } : {}),
  }))
  return { endpoints, sources }
}

/** Sources whose requests a plugin ends: what they take is not kept. */
export const endedPath = (random: Random, phase: string) => `/other-${random.below(5)}-${phase}`
/** Sources whose requests are stored. */
export const storedPath = (random: Random, phase: string) => `/other-${5 + random.below(5)}-${phase}`

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const calls: readonly ((random: Random, phase: string) => Call)[] = [
  (random) => ({
    method: 'POST',
    path: '/endpoints',
    body: {
      name: 'n'.repeat(511 + random.below(3)),
      request: { url: `http://h.test/${'u'.repeat(8170 + random.below(20))}` },
      events: many(199 + random.below(3), () => 'e'.repeat(254 + random.below(3))),
      metadata: pairs(99 + random.below(3), 'v'.repeat(4095 + random.below(3))),
      retry: { config: { attempts: many(99 + random.below(3), () => 31_536_000 + random.below(2)) } },
    },
  }),
  (random) => ({ method: 'POST', path: '/endpoints', body: { events: many(random.size(300_000), () => 5) } }),
  (random) => ({
    method: 'POST',
    path: '/sources',
    body: { config: { http: { methods: many(random.size(1e5), () => 'X') } } },
  }),
  (random, phase) => ({
    method: 'PUT',
    path: `/endpoints/e${100 + random.below(300)}-${phase}`,
    body: { events: many(random.size(200), (i) => `x${i}.**`), metadata: pairs(random.size(100), 'v') },
  }),
  (random) => ({ method: 'GET', path: `/endpoints?limit=1000&sort=${random.pick(['id.asc', 'id.desc'])}` }),
  (random) => ({ method: 'GET', path: `/attempts?limit=1000&page_no=${random.size(1e9)}` }),
  (random) => ({ method: 'GET', path: `/endpoints?name=${'n'.repeat(random.size(5000))}` }),
  (random) => ({ method: 'GET', path: `/events?${many(random.size(500), (i) => `metadata[k${i}]=v`).join('&')}` }),
  (random, phase) => ({ method: 'POST', path: `/endpoints/e${random.below(wanting)}-${phase}/test` }),
]
const plainCalls: typeof calls = [
  () => ({ method: 'POST', path: '/endpoints', body: { request: { url: 'http://h.test/' }, events: ['e'] } }),
  (random, phase) => ({
    method: 'PUT',
    path: `/endpoints/e${100 + random.below(300)}-${phase}`,
    body: { events: ['x'] },
  }),
  () => ({ method: 'GET', path: '/endpoints?limit=1000' }),
  () => ({ method: 'GET', path: '/attempts?limit=1000' }),
  (random, phase) => ({ method: 'POST', path: `/endpoints/e${random.below(wanting)}-${phase}/test` }),
]

/** A call of the administrative API, at a bound or beyond it when hostile. */
export function callOf(random: Random, isHostile: boolean, phase: string): Call {
  return random.pick(isHostile ? calls : plainCalls)(random, phase)
}
