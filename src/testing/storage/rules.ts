import type { Bounds, ConfigPlan } from '../../contracts/storage/configuration.ts'
import type { Storage } from '../../contracts/storage.ts'
import { type Kind, kinds, type Rows } from '../../core/row-plan.ts'
import type { Endpoint } from '../../schema/endpoint.ts'
import type { Plugin } from '../../schema/plugin.ts'
import type { Source } from '../../schema/source.ts'
import { equal, isEqual, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { endpoint, made, plugin, revisionOf, source } from './rows.ts'

interface Writes {
  readonly endpoints?: readonly Endpoint[]
  readonly sources?: readonly Source[]
  readonly plugins?: readonly Plugin[]
  readonly removed?: Partial<Record<'endpoints' | 'sources' | 'plugins', readonly string[]>>
  readonly bounds?: Partial<Bounds>
}

/** What a case writes into the workspace, and the violation that answers; null where the write is fine. */
type Case = readonly [says: string, write: Writes, violation: object | null]

const unique = (key: Readonly<Record<string, string>>) => ({ kind: 'unique', key })
const foreignKey = (references: string, key: Readonly<Record<string, string>>) => ({
  kind: 'foreign_key',
  key,
  references,
})
const full = (of: keyof Bounds, max: number) => ({ kind: 'full', of, max })

const unbounded: Bounds = { endpoints: 1000, sources: 1000, plugins: 1000, patterns: 1000 }

// Every case begins with the rows of `before` in the workspace `in`, and those of `elsewhere` in the workspace `out`. `$` stands
// for the case, since ids and routes are unique in all workspaces together.
const before: Writes = {
  endpoints: [endpoint('$a', { name: 'A' }), endpoint('$b', { name: 'B' }), endpoint('$c')],
  sources: [source('$s', { name: 'S', methods: ['POST', 'PUT'] }), source('$t'), source('$off', { enabled: false })],
  plugins: [plugin('$p', { endpoint_id: '$a' }), plugin('$q', { endpoint_id: '$b', name: 'basic-auth' })],
}
const elsewhere: Writes = {
  endpoints: [endpoint('$x', { name: 'X' })],
  sources: [source('$y')],
  plugins: [plugin('$z', { endpoint_id: '$x' })],
}

const cases: readonly Case[] = [
  ['a new name', { endpoints: [endpoint('$a', { name: 'new' })] }, null],
  ['its own name', { endpoints: [endpoint('$a', { name: 'A' })] }, null],
  ['no name, as another endpoint', { endpoints: [endpoint('$a')] }, null],
  [
    'a name that another endpoint has',
    { endpoints: [endpoint('$a', { name: 'B' })] },
    unique({ ws_id: '$in', name: 'B' }),
  ],
  ['a name that another source has', { sources: [source('$t', { name: 'S' })] }, unique({ ws_id: '$in', name: 'S' })],
  ['a name of another kind', { endpoints: [endpoint('$a', { name: 'S' })] }, null],
  ['a name of another workspace', { endpoints: [endpoint('$a', { name: 'X' })] }, null],
  ['swapped names', { endpoints: [endpoint('$a', { name: 'B' }), endpoint('$b', { name: 'A' })] }, null],
  ['the name of a removed row', { endpoints: [endpoint('$a', { name: 'B' })], removed: { endpoints: ['$b'] } }, null],
  [
    'a new name twice',
    { endpoints: [endpoint('$a', { name: 'new' }), endpoint('$c', { name: 'new' })] },
    unique({ ws_id: '$in', name: 'new' }),
  ],
  ['an id of another workspace', { endpoints: [endpoint('$x', { name: 'B' })] }, unique({ id: '$x' })],
  ['its own routes', { sources: [source('$s', { methods: ['PUT', 'POST', 'PUT'] })] }, null],
  ['other methods of a path', { sources: [source('$t', { path: '/$s', methods: ['GET'] })] }, null],
  [
    'a route that another source has',
    { sources: [source('$t', { path: '/$s', methods: ['GET', 'PUT'] })] },
    unique({ method: 'PUT', path: '/$s' }),
  ],
  [
    'a route of another workspace',
    { sources: [source('$t', { path: '/$y' })] },
    unique({ method: 'POST', path: '/$y' }),
  ],
  ['a taken route, disabled', { sources: [source('$t', { path: '/$y', enabled: false })] }, null],
  ['the route of a disabled source', { sources: [source('$t', { path: '/$off' })] }, null],
  [
    'a route taken meanwhile by another source',
    { sources: [source('$t', { path: '/$new' }), source('$off', { path: '/$new' })] },
    unique({ method: 'POST', path: '/$new' }),
  ],
  ['a second kind on an endpoint', { plugins: [plugin('$new', { endpoint_id: '$a', name: 'basic-auth' })] }, null],
  [
    'the same kind on an endpoint',
    { plugins: [plugin('$new', { endpoint_id: '$a' })] },
    unique({ endpoint_id: '$a', name: 'webhookx-signature' }),
  ],
  [
    'a move to an endpoint that has the kind',
    { plugins: [plugin('$q', { endpoint_id: '$a' })] },
    unique({ endpoint_id: '$a', name: 'webhookx-signature' }),
  ],
  ['a move to another endpoint', { plugins: [plugin('$q', { endpoint_id: '$c' })] }, null],
  ['a move to a source', { plugins: [plugin('$q', { source_id: '$s' })] }, null],
  [
    'an unknown owner',
    { plugins: [plugin('$q', { source_id: '$none' })] },
    foreignKey('sources', { source_id: '$none' }),
  ],
  [
    'an owner of another workspace',
    { plugins: [plugin('$q', { endpoint_id: '$x' })] },
    foreignKey('endpoints', { endpoint_id: '$x' }),
  ],
  [
    'an owner that the plan removes',
    { plugins: [plugin('$q', { endpoint_id: '$a' })], removed: { endpoints: ['$a'] } },
    foreignKey('endpoints', { endpoint_id: '$a' }),
  ],
  [
    'an owner that the plan makes',
    { endpoints: [endpoint('$new')], plugins: [plugin('$q', { endpoint_id: '$new' })] },
    null,
  ],
  [
    'an owner too many and a taken name',
    { sources: [source('$t', { name: 'S' })], plugins: [plugin('$q', { endpoint_id: '$none' })] },
    unique({ ws_id: '$in', name: 'S' }),
  ],
  ['an endpoint too many', { endpoints: [endpoint('$new')], bounds: { endpoints: 3 } }, full('endpoints', 3)],
  [
    'one endpoint for another',
    { endpoints: [endpoint('$new')], removed: { endpoints: ['$a'] }, bounds: { endpoints: 3 } },
    null,
  ],
  [
    'plugins that go with their owner make room',
    {
      plugins: [plugin('$new', { endpoint_id: '$c' })],
      removed: { endpoints: ['$a'] },
      bounds: { plugins: 2 },
    },
    null,
  ],
  [
    'a pattern too many',
    { endpoints: [endpoint('$a', { events: ['x', 'y'] })], bounds: { patterns: 3 } },
    full('patterns', 3),
  ],
  ['as many patterns as before', { endpoints: [endpoint('$a', { events: ['x'] })], bounds: { patterns: 2 } }, null],
  ['fewer patterns, still too many', { endpoints: [endpoint('$a', { events: [] })], bounds: { patterns: 1 } }, null],
  [
    'a taken name and a pattern too many',
    { endpoints: [endpoint('$a', { name: 'B', events: ['x', 'y'] })], bounds: { patterns: 3 } },
    unique({ ws_id: '$in', name: 'B' }),
  ],
]

/** The same value with `$` as the case writes it. */
function inCase<Value>(number: number, value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('$', `c${number}-`)) as Value // texts stay texts
}

function planOf(workspaceId: string, { removed = {}, bounds, ...writes }: Writes): ConfigPlan {
  const change = <Row>(put: readonly Row[] = [], remove: readonly string[] = []) => ({ put, remove })
  return {
    workspaceId,
    endpoints: change(writes.endpoints, removed.endpoints),
    sources: change(writes.sources, removed.sources),
    plugins: change(writes.plugins, removed.plugins),
    bounds: bounds && { ...unbounded, ...bounds },
  }
}

async function write(storage: Storage, plan: ConfigPlan) {
  return await storage.applyConfig(plan, await revisionOf(storage, plan.workspaceId))
}

/** Makes the workspaces of a case with their rows, and answers the id of the workspace that the case writes to. */
async function opened(storage: Storage, number: number): Promise<string> {
  const [here, away] = inCase(number, ['$in', '$out'] as const)
  await made(storage, here)
  await made(storage, away)
  equal(await write(storage, planOf(here, inCase(number, before))), 'applied', 'the rows before')
  equal(await write(storage, planOf(away, inCase(number, elsewhere))), 'applied', 'the rows elsewhere')
  return here
}

/** Replaces the row of a plan that puts a single row, and that row exists; null for any other plan. */
async function updated(storage: Storage, plan: ConfigPlan) {
  const rows = kinds.flatMap((kind) => [...plan[kind].put.map((row) => ({ kind, row })), ...plan[kind].remove])
  const [only] = rows
  if (only === undefined || typeof only === 'string' || rows.length > 1) return null
  const { kind, row } = only
  const stored = await storage[kind].get(plan.workspaceId, row.id)
  if (stored === null) return null
  const collection = storage[kind] as Storage['endpoints'] // the row is of the kind
  return await collection.update(plan.workspaceId, row as Endpoint, stored.revision, plan.bounds)
}

export const ruleCases: Contract<Storage> = [
  promise('every engine refuses the same configurations, with the same violation', async (storage) => {
    for (const [number, [says, writes, violation]] of cases.entries()) {
      const here = await opened(storage, number)
      const plan = planOf(here, inCase(number, writes))
      equal(await write(storage, plan), inCase(number, violation) ?? 'applied', says)
      const count = there(await storage.configuration(here), here).endpoints.length
      if (violation !== null) equal(count, 3, `${says}: endpoints after it`)
    }
  }),

  promise('the replacement of one row is judged like a plan', async (storage) => {
    let tried = 0
    for (const [number, [says, writes, violation]] of cases.entries()) {
      const plan = planOf(await opened(storage, number), inCase(number, writes))
      const answer = await updated(storage, plan)
      if (answer === null) continue
      tried++
      equal(answer, inCase(number, violation) ?? 'written', says)
      const [row] = kinds.flatMap((kind): readonly Rows[Kind][] => plan[kind].put)
      const stored = await Promise.all(kinds.map((kind) => storage[kind].get(plan.workspaceId, row!.id)))
      const found = stored.find((each) => each !== null)?.row
      equal(isEqual(found, row), violation === null, `${says}: whether the row is written`)
    }
    equal(tried > 20, true, 'that most cases replace one row')
  }),
]
