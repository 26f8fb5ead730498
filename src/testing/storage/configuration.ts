import type { ConfigPlan } from '../../contracts/storage/configuration.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal, ok, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, endpoint, entry, event, made, plugin, revisionOf, settlement, source } from './rows.ts'

function plan(more: Partial<Omit<ConfigPlan, 'workspaceId'>>): ConfigPlan {
  const nothing = { put: [], remove: [] }
  return { workspaceId: 'w', endpoints: nothing, sources: nothing, plugins: nothing, ...more }
}
const unique = (key: Record<string, string>) => ({ kind: 'unique', key })

/** The names of all rows, by kind. */
async function names(storage: Storage): Promise<Record<string, string>> {
  const { endpoints, sources, plugins } = there(await storage.configuration('w'), 'the configuration')
  const text = (rows: readonly { row: { id: string; name: string | null } }[]) =>
    rows
      .map(({ row }) => `${row.id}=${row.name}`)
      .toSorted()
      .join(' ')
  return { endpoints: text(endpoints), sources: text(sources), plugins: text(plugins) }
}

export const configurationCases: Contract<Storage> = [
  promise('the configuration holds all rows of its workspace with their revisions', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('other', endpoint('foreign'))
    const rows = [endpoint('b', { enabled: false }), source('s'), plugin('p', { endpoint_id: 'b' })] as const
    await storage.endpoints.insert('w', rows[0])
    await storage.sources.insert('w', rows[1])
    await storage.plugins.insert('w', rows[2])
    const configuration = there(await storage.configuration('w'), 'the configuration')
    equal(configuration.workspace.id, 'w', 'workspace')
    equal(configuration.endpoints, [await storage.endpoints.get('w', 'b')], 'endpoints')
    equal(configuration.sources, [await storage.sources.get('w', 's')], 'sources')
    equal(configuration.plugins, [await storage.plugins.get('w', 'p')], 'plugins')
    equal(await storage.configuration('nowhere'), null, 'of an unknown workspace')
  }),

  promise('what changed since a revision is rows written after it, and the ids of all', async (storage) => {
    if (storage.configurationSince === undefined) return
    const since = (revision: number) => storage.configurationSince!('w', revision)
    const first = await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('b'))
    await storage.endpoints.insert('w', endpoint('a'))
    await storage.sources.insert('w', source('s'))
    await storage.plugins.insert('w', plugin('p', { endpoint_id: 'a' }))
    const whole = there(await storage.configuration('w'), 'the configuration')
    const ids = { endpoints: ['a', 'b'], sources: ['s'], plugins: ['p'] }
    equal(await since(first), { ...whole, ids }, 'since the beginning')
    const nothing = { ...whole, endpoints: [], sources: [], plugins: [] }
    equal(await since(whole.revision), { ...nothing, ids }, 'since the last write')

    const b = there(await storage.endpoints.get('w', 'b'), 'b')
    await storage.endpoints.update('w', endpoint('b', { name: 'new' }), b.revision)
    await storage.endpoints.delete('w', 'a')
    const later = there(await since(whole.revision), 'what changed')
    ok(later.revision > whole.revision, 'the revision is raised')
    equal(later.endpoints, [await storage.endpoints.get('w', 'b')], 'the changed endpoint')
    equal([later.sources, later.plugins], [[], []], 'other rows')
    equal(later.ids, { endpoints: ['b'], sources: ['s'], plugins: [] }, 'ids')

    const { row, revision } = there(await storage.workspaces.get('w'), 'the workspace')
    await storage.workspaces.update({ ...row, description: 'new' }, revision)
    const last = there(await since(later.revision), 'what changed last')
    equal([last.workspace.description, last.endpoints], ['new', []], 'a changed workspace')
    ok(last.revision > later.revision, 'it raises the revision')
    equal(await storage.configurationSince('nowhere', 0), null, 'of an unknown workspace')
  }),

  promise('an endpoint that is gone has changed since', async (storage) => {
    if (storage.configurationSince === undefined) return
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('ep'))
    const { revision } = there(await storage.configuration('w'), 'the configuration')
    const open = attempt('a', 'ev')
    await storage.events.ingest([entry('w', revision, event('ev'), [open])], { enqueue: false })
    const disable = { url: 'https://example.com/hook' }
    await storage.attempts.settle([settlement('w', open, { status: 'FAILED', disable })], { enqueue: false })
    const changed = there(await storage.configurationSince('w', revision), 'what changed')
    equal(changed.endpoints, [await storage.endpoints.get('w', 'ep')], 'endpoints')
    equal(changed.endpoints[0]?.row.enabled, false, 'enabled')
  }),

  promise('routes are found by path and method, among the enabled sources of all workspaces', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.sources.insert('w', source('a', { path: '/a', methods: ['POST', 'GET'] }))
    await storage.sources.insert('other', source('b', { path: '/b' }))
    await storage.sources.insert('w', source('off', { enabled: false }))
    const a = { workspaceId: 'w', sourceId: 'a' }
    const b = { workspaceId: 'other', sourceId: 'b' }
    const find = (...keys: string[]) =>
      storage.routes(
        keys.map((key) => {
          const [method = '', path = ''] = key.split(' ')
          return { method, path }
        }),
      )
    equal(await find('GET /a', 'POST /b', 'POST /a', 'GET /a'), [a, b, a, a], 'in the order asked')
    equal(await find('PUT /a', 'POST /off', 'POST /A', 'POST /a/', 'POST '), [null, null, null, null, null], 'nobody')
    equal(await find(), [], 'nothing asked')

    const { revision } = there(await storage.sources.get('w', 'a'), 'a')
    await storage.sources.update('w', source('a', { path: '/c' }), revision)
    equal(await find('POST /a', 'POST /c', 'GET /c'), [null, a, null], 'a moved source')
    const sources = { put: [source('n', { path: '/c' })], remove: ['a'] }
    await storage.applyConfig(plan({ sources }), await revisionOf(storage, 'w'))
    equal(await find('POST /c'), [{ workspaceId: 'w', sourceId: 'n' }], 'a sync')
    await storage.sources.delete('other', 'b')
    await storage.workspaces.delete('w')
    equal(await find('POST /b', 'POST /c'), [null, null], 'a deleted source, a deleted workspace')
  }),

  promise('a plan is written whole, at one new revision', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('old', { name: 'old' }))
    await storage.endpoints.insert('w', endpoint('kept', { name: 'kept' }))
    await storage.plugins.insert('w', plugin('orphan', { endpoint_id: 'old' }))
    const from = await revisionOf(storage, 'w')
    const whole = plan({
      endpoints: { put: [endpoint('new', { name: 'new' }), endpoint('kept', { name: 'changed' })], remove: ['old'] },
      sources: { put: [source('src', { name: 'src' })], remove: [] },
      plugins: { put: [plugin('p', { endpoint_id: 'new', name: 'x' })], remove: [] },
    })
    equal(await storage.applyConfig(whole, from), 'applied', 'apply')
    equal(
      await names(storage),
      { endpoints: 'kept=changed new=new', sources: 'src=src', plugins: 'p=x' },
      'rows; the plugin of the removed endpoint went with it',
    )
    const { revision, endpoints } = there(await storage.configuration('w'), 'the configuration')
    ok(revision > from, 'the revision is raised')
    equal(
      endpoints.map((kept) => kept.revision),
      [revision, revision],
      'the revision of written rows',
    )
    equal(await storage.applyConfig(whole, from), 'conflict', 'from a stale revision')
    equal(await storage.applyConfig({ ...whole, workspaceId: 'nowhere' }, from), 'conflict', 'without a workspace')
  }),

  promise('of plans from one revision one is applied', async (storage) => {
    const from = await made(storage, 'w')
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) =>
        storage.applyConfig(plan({ endpoints: { put: [endpoint(id)], remove: [] } }), from),
      ),
    )
    equal(answers.map(String).toSorted(), ['applied', 'conflict', 'conflict', 'conflict'], 'answers')
    equal(there(await storage.configuration('w'), 'configuration').endpoints.length, 1, 'endpoints')
  }),

  promise('rules are judged on the state after the plan', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('a', { name: 'one' }))
    await storage.endpoints.insert('w', endpoint('b', { name: 'two' }))
    await storage.sources.insert('w', source('s', { path: '/x' }))
    await storage.sources.insert('w', source('t', { path: '/y' }))
    await storage.plugins.insert('w', plugin('p', { endpoint_id: 'a', name: 'n' }))
    const swap = plan({
      endpoints: { put: [endpoint('a', { name: 'two' }), endpoint('b', { name: 'one' })], remove: [] },
      sources: { put: [source('s', { path: '/y' }), source('t', { path: '/x' })], remove: [] },
      plugins: { put: [plugin('q', { endpoint_id: 'a', name: 'n' })], remove: ['p'] },
    })
    equal(await storage.applyConfig(swap, await revisionOf(storage, 'w')), 'applied', 'swapped names and paths')
    equal(await names(storage), { endpoints: 'a=two b=one', sources: 's=null t=null', plugins: 'q=n' }, 'rows')
    const replace = plan({
      endpoints: { put: [endpoint('c', { name: 'one' })], remove: ['b'] },
      sources: { put: [source('u', { path: '/x' })], remove: ['t'] },
    })
    equal(await storage.applyConfig(replace, await revisionOf(storage, 'w')), 'applied', 'a new owner of a name')
  }),

  promise('a plan that breaks a rule writes nothing', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('other', endpoint('foreign'))
    await storage.sources.insert('other', source('elsewhere', { path: '/taken' }))
    await storage.endpoints.insert('w', endpoint('a', { name: 'one' }))
    await storage.plugins.insert('w', plugin('p', { endpoint_id: 'a', name: 'n' }))
    const before = await names(storage)
    const revision = await revisionOf(storage, 'w')
    const good = endpoint('good', { name: 'good' })
    const refused = async (what: string, broken: ConfigPlan, expected: unknown) => {
      equal(await storage.applyConfig(broken, revision), expected, what)
      equal(await names(storage), before, `${what}: rows`)
      equal(await revisionOf(storage, 'w'), revision, `${what}: revision`)
    }
    const endpoints = (...put: ReturnType<typeof endpoint>[]) => ({ put: [good, ...put], remove: [] })
    const one = unique({ ws_id: 'w', name: 'one' })
    await refused('a taken name', plan({ endpoints: endpoints(endpoint('b', { name: 'one' })) }), one)
    const twice = endpoints(endpoint('b', { name: 'x' }), endpoint('c', { name: 'x' }))
    await refused('one name twice', plan({ endpoints: twice }), unique({ ws_id: 'w', name: 'x' }))
    await refused('a foreign id', plan({ endpoints: endpoints(endpoint('foreign')) }), unique({ id: 'foreign' }))
    const path = { put: [source('s', { path: '/taken' })], remove: [] }
    await refused(
      'a taken path',
      plan({ endpoints: endpoints(), sources: path }),
      unique({ method: 'POST', path: '/taken' }),
    )
    const owner = (endpoint_id: string) => ({ put: [plugin('q', { endpoint_id, name: 'n' })], remove: [] })
    const missing = (endpoint_id: string) => ({ kind: 'foreign_key', key: { endpoint_id }, references: 'endpoints' })
    await refused('a foreign owner', plan({ endpoints: endpoints(), plugins: owner('foreign') }), missing('foreign'))
    const leaving = plan({ endpoints: { put: [good], remove: ['a'] }, plugins: owner('a') })
    await refused('an owner that leaves', leaving, missing('a'))
    const second = unique({ endpoint_id: 'a', name: 'n' })
    await refused('a second plugin of a name', plan({ endpoints: endpoints(), plugins: owner('a') }), second)
  }),
]
