import type { Storage } from '../../contracts/storage.ts'
import { equal, ok, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import {
  attempt,
  endpoint,
  entry,
  event,
  everything,
  filled,
  ids,
  made,
  plugin,
  revisionOf,
  source,
  start,
  workspace,
} from './rows.ts'

const cursor = { ...everything, page: null }

export const workspaceCases: Contract<Storage> = [
  promise('a workspace comes back as it was written, by id and by name', async ({ workspaces }) => {
    const row = workspace('w1', { name: 'Größe 🎉', description: null, metadata: { k: 'v', constructor: 'x' } })
    equal(await workspaces.insert(row), 'written', 'insert')
    equal((await workspaces.get('w1'))?.row, row, 'get')
    equal((await workspaces.find('w1'))?.row, row, 'find by id')
    equal((await workspaces.find('Größe 🎉'))?.row, row, 'find by name')
    equal(await workspaces.get('Größe 🎉'), null, 'get takes ids only')
    equal(await workspaces.find('w2'), null, 'an unknown one')
  }),

  promise('an id is found before a name', async ({ workspaces }) => {
    equal(await workspaces.insert(workspace('default', { name: 'default' })), 'written', 'its own id as its name')
    equal((await workspaces.find('default'))?.row.id, 'default', 'find')
  }),

  promise('no id or name is another workspace’s id or name', async ({ workspaces }) => {
    await workspaces.insert(workspace('a', { name: 'x' }))
    const unique = (key: Record<string, string>) => ({ kind: 'unique', key })
    equal(await workspaces.insert(workspace('a')), unique({ id: 'a' }), 'id as an id')
    equal(await workspaces.insert(workspace('x')), unique({ id: 'x' }), 'id as a name')
    equal(await workspaces.insert(workspace('b', { name: 'x' })), unique({ name: 'x' }), 'name as a name')
    equal(await workspaces.insert(workspace('b', { name: 'a' })), unique({ name: 'a' }), 'name as an id')
    equal(await workspaces.insert(workspace('b')), 'written', 'a free one')
    const { revision } = there(await workspaces.get('b'), 'b')
    equal(await workspaces.update(workspace('b', { name: 'a' }), revision), unique({ name: 'a' }), 'update to an id')
    equal(await workspaces.update(workspace('b', { name: 'x' }), revision), unique({ name: 'x' }), 'update to a name')
    equal(await workspaces.update(workspace('b', { name: 'b' }), revision), 'written', 'update to its own id')
    equal((await workspaces.get('a'))?.row.name, 'x', 'the other one is untouched')
  }),

  promise('two that take one name at once: one gets it', async ({ workspaces }) => {
    const answers = await Promise.all(['a', 'b', 'c'].map((id) => workspaces.insert(workspace(id, { name: 'n' }))))
    equal(answers.filter((answer) => answer === 'written').length, 1, 'written')
    equal(answers.filter((answer) => typeof answer === 'object').length, 2, 'refused')
  }),

  promise('an update from a stale revision is a conflict, and unknown ones are missing', async ({ workspaces }) => {
    await workspaces.insert(workspace('w', { name: 'one' }))
    const { revision } = there(await workspaces.get('w'), 'w')
    equal(await workspaces.update(workspace('w', { name: 'two' }), revision), 'written', 'the first')
    equal(await workspaces.update(workspace('w', { name: 'three' }), revision), 'conflict', 'the second')
    equal((await workspaces.find('two'))?.row.id, 'w', 'by its new name')
    equal(await workspaces.find('one'), null, 'by its old name')
    equal(await workspaces.update(workspace('nobody'), revision), 'missing', 'an unknown one')
  }),

  promise('workspaces are listed by id and filtered', async ({ workspaces }) => {
    for (const id of ['b', 'A', 'c', 'a']) {
      await workspaces.insert(workspace(id, { name: `n${id}`, metadata: id === 'c' ? { team: 'x', tier: '1' } : {} }))
    }
    equal(ids((await workspaces.list(everything)).rows), ['A', 'a', 'b', 'c'], 'order')
    equal(ids((await workspaces.list({ ...everything, name: 'nb' })).rows), ['b'], 'by name')
    equal(
      ids((await workspaces.list({ ...everything, metadata: { team: 'x', tier: '1' } })).rows),
      ['c'],
      'by metadata',
    )
    equal(ids((await workspaces.list({ ...everything, metadata: { team: 'x', tier: '2' } })).rows), [], 'every pair')
    equal(ids((await workspaces.list({ ...cursor, after: 'a' })).rows), ['b', 'c'], 'after')
  }),

  promise('a page of workspaces ends with the row with which their JSON reaches maxBytes', async ({ workspaces }) => {
    const metadata = { k: 'é'.repeat(4000) } // 8,000 bytes, and less than 1,000 for the rest of a row
    for (const id of ['zz1', 'zz2', 'zz3']) await workspaces.insert(workspace(id, { metadata }))
    const { rows, followed } = await workspaces.list({ ...everything, page: null, after: 'zz', maxBytes: 10_000 })
    equal([ids(rows), followed], [['zz1', 'zz2'], true], 'page')
  }),

  promise('a deleted workspace is gone with all that was in it', async (storage) => {
    const sent = attempt('t', 'e')
    await filled(storage, [event('e', { unique_id: 'u' })], [sent])
    await made(storage, 'other')
    await storage.endpoints.insert('w', endpoint('ep', { name: 'n' }))
    await storage.sources.insert('w', source('src', { path: '/in' }))
    await storage.plugins.insert('w', plugin('pl', { endpoint_id: 'ep' }))
    equal(await storage.workspaces.delete('w'), true, 'deleted')
    equal(await storage.workspaces.delete('w'), false, 'once')
    equal(await storage.workspaces.get('w'), null, 'workspace')
    equal(await storage.configuration('w'), null, 'configuration')
    equal(await storage.routes([{ path: '/in', method: 'POST' }]), [null], 'routes')
    equal(await storage.endpoints.get('w', 'ep'), null, 'endpoint')
    equal(await storage.events.get('w', 'e'), null, 'event')
    equal(await storage.attempts.get('w', 't'), null, 'attempt')
    equal((await storage.events.list('w', everything)).rows, [], 'events')
    equal((await storage.attempts.list('w', everything)).rows, [], 'attempts')
    equal(await storage.attempts.load(['t']), [], 'deliveries')
    equal(await storage.attempts.overdue({ before: start + 1, after: null, limit: 10 }), [], 'overdue')
    const late = entry('w', 1, event('e2'))
    equal(await storage.events.ingest([late], { enqueue: false }), [{ kind: 'stale' }], 'ingest')
    equal(await storage.endpoints.insert('w', endpoint('ep2')), 'missing', 'insert')
    // Ids and paths of configuration rows are free again.
    equal(await storage.endpoints.insert('other', endpoint('ep')), 'written', 'the endpoint’s id')
    equal(await storage.sources.insert('other', source('src', { path: '/in' })), 'written', 'the source’s path')
  }),

  promise('a workspace made anew under an old id starts empty, at a revision that never was', async (storage) => {
    const old = await filled(storage, [event('e', { unique_id: 'u' })], [attempt('t', 'e')])
    await storage.workspaces.delete('w')
    await made(storage, 'w')
    const revision = await revisionOf(storage, 'w')
    ok(revision > old, `a new revision: ${revision} after ${old}`)
    equal(await storage.events.get('w', 'e'), null, 'the old event')
    equal(await storage.attempts.get('w', 't'), null, 'the old attempt')
    equal((await storage.events.list('w', everything)).rows, [], 'events')
    const again = entry('w', revision, event('e2', { unique_id: 'u' }))
    equal(await storage.events.ingest([again], { enqueue: false }), [{ kind: 'stored' }], 'the old unique_id')
  }),
]
