import type { Storage } from '../../contracts/storage.ts'
import { equal, ok, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { endpoint, everything, ids, made, plugin, revisionOf, source, start } from './rows.ts'

const unique = (key: Record<string, string>) => ({ kind: 'unique', key })

export const collectionCases: Contract<Storage> = [
  promise('rows come back as they were written, with their revision', async (storage) => {
    await made(storage, 'w')
    const rows = [
      endpoint('ep', {
        name: 'Größe 🎉',
        request: { url: 'https://example.com/ü', method: 'PUT', headers: { 'x-a': '1', constructor: 'b' }, timeout: 0 },
        events: ['invoice.**', '日本'],
        metadata: { k: '', constructor: 'x' },
        rate_limit: { quota: 0, period: 1 },
      }),
      source('src', { path: '/ä b', methods: ['GET', 'POST'], async: true }),
      plugin('pl', {
        endpoint_id: 'ep',
        config: { deep: { list: [1, null, { a: 'é' }], no: false, big: 9007199254740991 } },
      }),
    ] as const
    equal(await storage.endpoints.insert('w', rows[0]), 'written', 'endpoint')
    equal(await storage.sources.insert('w', rows[1]), 'written', 'source')
    equal(await storage.plugins.insert('w', rows[2]), 'written', 'plugin')
    equal((await storage.endpoints.get('w', 'ep'))?.row, rows[0], 'endpoint')
    equal((await storage.sources.get('w', 'src'))?.row, rows[1], 'source')
    equal((await storage.plugins.get('w', 'pl'))?.row, rows[2], 'plugin')
    equal((await storage.plugins.get('w', 'pl'))?.revision, await revisionOf(storage, 'w'), 'revision')
  }),

  promise('what is handed out is a copy', async (storage) => {
    await made(storage, 'w')
    const row = endpoint('ep', { metadata: { k: 'v' } })
    await storage.endpoints.insert('w', row)
    Object.assign(row.metadata, { k: 'changed' })
    Object.assign(there(await storage.endpoints.get('w', 'ep'), 'ep').row.metadata, { k: 'changed' })
    equal((await storage.endpoints.get('w', 'ep'))?.row.metadata, { k: 'v' }, 'metadata')
  }),

  promise('a row of another workspace is unknown', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('other', endpoint('ep'))
    const { revision } = there(await storage.endpoints.get('other', 'ep'), 'ep')
    equal(await storage.endpoints.get('w', 'ep'), null, 'get')
    equal(await storage.endpoints.update('w', endpoint('ep', { name: 'x' }), revision), 'missing', 'update')
    equal(await storage.endpoints.delete('w', 'ep'), false, 'delete')
    equal((await storage.endpoints.list('w', everything)).rows, [], 'list')
    equal((await storage.endpoints.get('other', 'ep'))?.row.name, null, 'untouched')
    equal(await storage.endpoints.insert('nowhere', endpoint('ep2')), 'missing', 'insert without a workspace')
  }),

  promise('ids are unique in the instance for each kind, and names in the workspace', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('w', endpoint('a', { name: 'n' }))
    equal(await storage.endpoints.insert('w', endpoint('a')), unique({ id: 'a' }), 'id')
    equal(await storage.endpoints.insert('other', endpoint('a')), unique({ id: 'a' }), 'id elsewhere')
    equal(await storage.endpoints.insert('w', endpoint('b', { name: 'n' })), unique({ ws_id: 'w', name: 'n' }), 'name')
    equal(await storage.endpoints.insert('other', endpoint('b', { name: 'n' })), 'written', 'name elsewhere')
    equal(await storage.endpoints.insert('w', endpoint('c')), 'written', 'no name')
    equal(await storage.endpoints.insert('w', endpoint('d')), 'written', 'no name twice')
    equal(await storage.sources.insert('w', source('a', { name: 'n' })), 'written', 'another kind')
    const { revision } = there(await storage.endpoints.get('w', 'c'), 'c')
    const renamed = await storage.endpoints.update('w', endpoint('c', { name: 'n' }), revision)
    equal(renamed, unique({ ws_id: 'w', name: 'n' }), 'update')
    await storage.endpoints.delete('w', 'a')
    equal(await storage.endpoints.insert('w', endpoint('e', { name: 'n' })), 'written', 'once it is free')
  }),

  promise('no two enabled sources of the instance share a path and a method', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.sources.insert('w', source('a', { path: '/x', methods: ['GET', 'POST'] }))
    const taken = unique({ method: 'POST', path: '/x' })
    equal(await storage.sources.insert('other', source('b', { path: '/x', methods: ['PUT', 'POST'] })), taken, 'insert')
    equal(await storage.sources.insert('w', source('b', { path: '/x', methods: ['PUT'] })), 'written', 'another method')
    equal(await storage.sources.insert('other', source('c', { path: '/X' })), 'written', 'another path')
    const disabled = source('d', { path: '/x', enabled: false })
    equal(await storage.sources.insert('other', disabled), 'written', 'a disabled one')
    const { revision } = there(await storage.sources.get('other', 'd'), 'd')
    equal(await storage.sources.update('other', { ...disabled, enabled: true }, revision), taken, 'enabling it')
    await storage.sources.delete('w', 'a')
    equal(await storage.sources.update('other', { ...disabled, enabled: true }, revision), 'written', 'once it is free')
  }),

  promise('a plugin’s owner is a row of its workspace, and has one plugin of a name', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('w', endpoint('ep'))
    await storage.endpoints.insert('other', endpoint('foreign'))
    await storage.sources.insert('w', source('src'))
    const missing = (key: Record<string, string>, references: string) => ({ kind: 'foreign_key', key, references })
    const { plugins } = storage
    const missingEndpoint = missing({ endpoint_id: 'foreign' }, 'endpoints')
    equal(await plugins.insert('w', plugin('p', { endpoint_id: 'foreign' })), missingEndpoint, 'another workspace’s')
    const missingSource = missing({ source_id: 'nobody' }, 'sources')
    equal(await plugins.insert('w', plugin('p', { source_id: 'nobody' })), missingSource, 'nobody’s')
    equal(await plugins.insert('w', plugin('p', { endpoint_id: 'ep', name: 'n' })), 'written', 'on an endpoint')
    equal(await plugins.insert('w', plugin('q', { source_id: 'src', name: 'n' })), 'written', 'on a source')
    const onEndpoint = unique({ endpoint_id: 'ep', name: 'n' })
    equal(await plugins.insert('w', plugin('r', { endpoint_id: 'ep', name: 'n' })), onEndpoint, 'twice on an endpoint')
    const onSource = unique({ source_id: 'src', name: 'n' })
    equal(await plugins.insert('w', plugin('r', { source_id: 'src', name: 'n' })), onSource, 'twice on a source')
    equal(await plugins.insert('w', plugin('p', { endpoint_id: 'ep', name: 'm' })), unique({ id: 'p' }), 'id')
  }),

  promise('deleting an owner deletes its plugins and no others', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('same'))
    await storage.sources.insert('w', source('same'))
    await storage.plugins.insert('w', plugin('p', { endpoint_id: 'same', name: 'a' }))
    await storage.plugins.insert('w', plugin('q', { source_id: 'same', name: 'a' }))
    equal(await storage.endpoints.delete('w', 'same'), true, 'deleted')
    equal(await storage.endpoints.delete('w', 'same'), false, 'once')
    equal(ids((await storage.plugins.list('w', everything)).rows), ['q'], 'plugins')
    equal(await storage.plugins.insert('w', plugin('p', { source_id: 'same', name: 'b' })), 'written', 'its id is free')
  }),

  promise('of updates from one revision one is written, the others are conflicts', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('ep'))
    const { revision } = there(await storage.endpoints.get('w', 'ep'), 'ep')
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        storage.endpoints.update('w', endpoint('ep', { name, updated_at: start + 1 }), revision),
      ),
    )
    equal(answers.map(String).toSorted(), ['conflict', 'conflict', 'written'], 'answers')
    equal((await storage.endpoints.get('w', 'ep'))?.row.name, ['a', 'b', 'c'][answers.indexOf('written')], 'the winner')
    equal(await storage.endpoints.update('w', endpoint('nobody'), revision), 'missing', 'an unknown one')
  }),

  promise('a row’s revision is untouched by writes to others', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert('w', endpoint('a'))
    const { revision } = there(await storage.endpoints.get('w', 'a'), 'a')
    await storage.endpoints.insert('w', endpoint('b'))
    equal(await storage.endpoints.update('w', endpoint('a', { name: 'x' }), revision), 'written', 'update')
  }),

  promise('every write raises the workspace’s revision, and no other’s', async (storage) => {
    let revision = await made(storage, 'w')
    const other = await made(storage, 'other')
    const raised = async (what: string) => {
      const now = await revisionOf(storage, 'w')
      ok(now > revision, `${what}: the revision stayed at ${now}`)
      revision = now
    }
    await storage.endpoints.insert('w', endpoint('ep'))
    await raised('an endpoint')
    await storage.sources.insert('w', source('src'))
    await raised('a source')
    await storage.plugins.insert('w', plugin('pl', { endpoint_id: 'ep' }))
    await raised('a plugin')
    const kept = there(await storage.endpoints.get('w', 'ep'), 'ep')
    await storage.endpoints.update('w', endpoint('ep', { enabled: false }), kept.revision)
    await raised('an update')
    await storage.endpoints.delete('w', 'ep')
    await raised('a deletion')
    const row = there(await storage.workspaces.get('w'), 'w')
    await storage.workspaces.update({ ...row.row, description: 'x' }, row.revision)
    await raised('the workspace')
    equal(await revisionOf(storage, 'other'), other, 'the other’s')
  }),

  promise('rows are filtered by name, enabled, time, metadata and owner', async (storage) => {
    await made(storage, 'w')
    await storage.endpoints.insert(
      'w',
      endpoint('a', { name: 'x', metadata: { k: '1', constructor: 'c' }, created_at: 100 }),
    )
    await storage.endpoints.insert('w', endpoint('b', { enabled: false, metadata: { k: '2' }, created_at: 200 }))
    await storage.endpoints.insert('w', endpoint('c', { metadata: { k: '1' }, created_at: 300 }))
    await storage.sources.insert('w', source('s'))
    await storage.plugins.insert('w', plugin('p', { endpoint_id: 'a' }))
    await storage.plugins.insert('w', plugin('q', { source_id: 's', enabled: false }))
    const endpoints = async (query: object) =>
      ids((await storage.endpoints.list('w', { ...everything, ...query })).rows)
    equal(await endpoints({ name: 'x' }), ['a'], 'name')
    equal(await endpoints({ name: 'X' }), [], 'name, exactly')
    equal(await endpoints({ enabled: false }), ['b'], 'disabled')
    equal(await endpoints({ enabled: true }), ['a', 'c'], 'enabled')
    equal(await endpoints({ metadata: { k: '1' } }), ['a', 'c'], 'metadata')
    equal(await endpoints({ metadata: { k: '1', constructor: 'c' } }), ['a'], 'every pair')
    equal(await endpoints({ metadata: { toString: 'x' } }), [], 'a key that is not there')
    equal(await endpoints({ created_at: { eq: 200 } }), ['b'], 'at')
    equal(await endpoints({ created_at: { gt: 100, lte: 300 } }), ['b', 'c'], 'after and up to')
    equal(await endpoints({ created_at: { gte: 100, lt: 300 } }), ['a', 'b'], 'from and before')
    equal(await endpoints({ created_at: { gte: 100 }, enabled: true, metadata: { k: '1' }, name: 'x' }), ['a'], 'all')
    const plugins = async (query: object) => ids((await storage.plugins.list('w', { ...everything, ...query })).rows)
    equal(await plugins({ endpoint_id: 'a' }), ['p'], 'endpoint')
    equal(await plugins({ source_id: 's' }), ['q'], 'source')
    equal(await plugins({ source_id: 's', enabled: true }), [], 'both')
  }),

  promise('pages are exact in both modes, both orders and both directions', async (storage) => {
    await made(storage, 'w')
    for (const id of ['1', '2', '3', '4', '5', '6', '7']) {
      await storage.endpoints.insert('w', endpoint(id, { enabled: id !== '4' }))
    }
    const list = async (query: object) => {
      const page = await storage.endpoints.list('w', { ...everything, enabled: true, limit: 2, ...query })
      return [ids(page.rows).join(''), page.total, page.preceded, page.followed]
    }
    equal(await list({ page: 1 }), ['12', 6, false, true], 'page 1')
    equal(await list({ page: 2 }), ['35', 6, true, true], 'page 2')
    equal(await list({ page: 3 }), ['67', 6, true, false], 'page 3')
    equal(await list({ page: 1, descending: true }), ['76', 6, false, true], 'page 1, descending')
    const empty = await storage.endpoints.list('w', { ...everything, enabled: true, limit: 2, page: 4 })
    equal([empty.rows, empty.total], [[], 6], 'page 4')
    const far = await storage.endpoints.list('w', { ...everything, limit: 1000, page: Number.MAX_SAFE_INTEGER })
    equal([ids(far.rows), far.followed], [[], false], 'a page far beyond the end')
    equal(await list({ page: null }), ['12', null, false, true], 'from the start')
    equal(await list({ page: null, after: '2' }), ['35', null, true, true], 'after')
    equal(await list({ page: null, after: '4' }), ['56', null, true, true], 'after a row that the filter leaves out')
    equal(await list({ page: null, after: '5' }), ['67', null, true, false], 'after, at the end')
    equal(await list({ page: null, before: '6' }), ['35', null, true, true], 'before: the nearest')
    equal(await list({ page: null, before: '3' }), ['12', null, false, true], 'before, at the start')
    equal(await list({ page: null, before: '2' }), ['1', null, false, true], 'before, fewer')
    equal(await list({ page: null, before: 'x' }), ['67', null, true, false], 'before an id that is not there')
    equal(await list({ page: null, descending: true }), ['76', null, false, true], 'descending')
    equal(await list({ page: null, descending: true, after: '5' }), ['32', null, true, true], 'descending, after')
    equal(await list({ page: null, descending: true, before: '3' }), ['65', null, true, true], 'descending, before')
    equal(await list({ page: null, limit: 6 }), ['123567', null, false, false], 'all of it')
  }),

  promise('a page of rows ends with the row with which their JSON reaches maxBytes', async (storage) => {
    await made(storage, 'w')
    const metadata = { k: 'é'.repeat(4000) } // 8,000 bytes, and less than 1,000 for the rest of a row
    for (const id of ['a', 'b', 'c', 'd', 'e']) await storage.endpoints.insert('w', endpoint(id, { metadata }))
    await storage.sources.insert('w', source('s', { metadata }))
    await storage.plugins.insert('w', plugin('p', { metadata, endpoint_id: 'a' }))
    const list = async (query: object) => {
      const { rows, preceded, followed } = await storage.endpoints.list('w', { ...everything, page: null, ...query })
      return [ids(rows).join(''), preceded, followed]
    }
    equal(await list({ maxBytes: 1 }), ['a', false, true], 'at least one row')
    equal(await list({ maxBytes: 8000 }), ['a', false, true], 'reached by the first')
    equal(await list({ maxBytes: 10_000 }), ['ab', false, true], 'reached by the next')
    equal(await list({ maxBytes: 10_000, after: 'c' }), ['de', true, false], 'at the end')
    equal(await list({ maxBytes: 10_000, descending: true }), ['ed', false, true], 'descending')
    equal(await list({ maxBytes: 10_000, before: 'e' }), ['cd', true, true], 'before: the nearest')
    equal(await list({ maxBytes: 100_000, limit: 3 }), ['abc', false, true], 'the limit comes first')
    const numbered = await storage.endpoints.list('w', { ...everything, page: 1, maxBytes: 10_000 })
    equal([ids(numbered.rows).join(''), numbered.total], ['ab', 5], 'a numbered page')
    for (const kind of ['sources', 'plugins'] as const) {
      equal((await storage[kind].list('w', { ...everything, page: null, maxBytes: 1 })).rows.length, 1, kind)
    }
  }),

  promise('paging on while rows are inserted skips and repeats nothing', async (storage) => {
    await made(storage, 'w')
    for (const id of ['b', 'd', 'f', 'h']) await storage.endpoints.insert('w', endpoint(id))
    const seen: string[] = []
    for (let after: string | null = null; ;) {
      const page = await storage.endpoints.list('w', { ...everything, page: null, limit: 2, after })
      seen.push(...ids(page.rows))
      if (!page.followed) break
      after = there(seen.at(-1), 'a last id')
      if (seen.length === 2) for (const id of ['a', 'e', 'i']) await storage.endpoints.insert('w', endpoint(id))
    }
    equal(seen, ['b', 'd', 'e', 'f', 'h', 'i'], 'ids')
  }),
]
