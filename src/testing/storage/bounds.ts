import type { Bounds, ConfigPlan } from '../../contracts/storage/configuration.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { endpoint, made, plugin, revisionOf, source } from './rows.ts'

const wide: Bounds = { endpoints: 100, sources: 100, plugins: 100, patterns: 100 }
const nothing = { put: [], remove: [] }
const full = (of: keyof Bounds, max: number) => ({ kind: 'full', of, max })

function plan(more: Partial<Omit<ConfigPlan, 'workspaceId'>>): ConfigPlan {
  return { workspaceId: 'w', endpoints: nothing, sources: nothing, plugins: nothing, ...more }
}

export const boundsCases: Contract<Storage> = [
  promise('of many who insert at once, as many come through as the bound leaves room for', async (storage) => {
    await made(storage, 'w')
    await made(storage, 'other')
    await storage.endpoints.insert('other', endpoint('foreign'))
    const bounds = { ...wide, endpoints: 5 }
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => storage.endpoints.insert('w', endpoint(`e${i}`), bounds)),
    )
    equal(answers.filter((answer) => answer === 'written').length, 5, 'written')
    equal(
      answers.filter((answer) => answer !== 'written'),
      Array.from({ length: 7 }, () => full('endpoints', 5)),
      'refused',
    )
    await storage.endpoints.delete('w', answers.flatMap((answer, i) => (answer === 'written' ? `e${i}` : []))[0]!)
    equal(await storage.endpoints.insert('w', endpoint('again'), bounds), 'written', 'after a deletion')
    equal(await storage.endpoints.insert('w', endpoint('more'), bounds), full('endpoints', 5), 'full again')
    equal(await storage.endpoints.insert('w', endpoint('more')), 'written', 'without a bound')
    equal(
      await storage.endpoints.insert('w', endpoint('again'), bounds),
      { kind: 'unique', key: { id: 'again' } },
      'id',
    )
  }),

  promise('each kind has its bound, and plugins go with their owner', async (storage) => {
    await made(storage, 'w')
    const bounds = { ...wide, sources: 1, plugins: 1 }
    equal(await storage.sources.insert('w', source('s'), bounds), 'written', 'source')
    equal(await storage.sources.insert('w', source('s2'), bounds), full('sources', 1), 'second source')
    await storage.endpoints.insert('w', endpoint('e'), bounds)
    const owned = { endpoint_id: 'e' }
    equal(await storage.plugins.insert('w', plugin('p', owned), bounds), 'written', 'plugin')
    const other = plugin('q', { ...owned, name: 'standard-webhooks' })
    equal(await storage.plugins.insert('w', other, bounds), full('plugins', 1), 'second plugin')
    await storage.endpoints.delete('w', 'e')
    await storage.endpoints.insert('w', endpoint('e'), bounds)
    equal(await storage.plugins.insert('w', other, bounds), 'written', 'after the owner went')
  }),

  promise('patterns of all endpoints of a workspace are counted, whatever is written', async (storage) => {
    await made(storage, 'w')
    const bounds = { ...wide, patterns: 5 }
    const wants = (id: string, count: number) =>
      endpoint(id, { events: Array.from({ length: count }, (_, i) => `e${i}`) })
    equal(await storage.endpoints.insert('w', wants('a', 3), bounds), 'written', 'three')
    equal(await storage.endpoints.insert('w', wants('b', 3), bounds), full('patterns', 5), 'six')
    equal(await storage.endpoints.insert('w', wants('b', 2), bounds), 'written', 'five')
    const update = async (id: string, count: number) =>
      await storage.endpoints.update('w', wants(id, count), (await storage.endpoints.get('w', id))!.revision, bounds)
    equal(await update('a', 4), full('patterns', 5), 'an update to six')
    equal(await update('b', 1), 'written', 'an update to four')
    equal(await update('a', 4), 'written', 'an update to five')
    await storage.endpoints.delete('w', 'b')
    equal(await storage.endpoints.insert('w', wants('c', 2), bounds), full('patterns', 5), 'six after a deletion')
    equal(await storage.endpoints.insert('w', wants('c', 1), bounds), 'written', 'five after a deletion')
    const tight = { ...wide, patterns: 2 }
    const shrunk = await storage.endpoints.update(
      'w',
      wants('a', 3),
      (await storage.endpoints.get('w', 'a'))!.revision,
      tight,
    )
    equal(shrunk, 'written', 'what is beyond the bound may shrink')
  }),

  promise('a plan is judged by what is there after it', async (storage) => {
    await made(storage, 'w')
    const bounds = { endpoints: 2, sources: 1, plugins: 2, patterns: 3 }
    const apply = async (more: Partial<Omit<ConfigPlan, 'workspaceId'>>) =>
      await storage.applyConfig(plan({ ...more, bounds }), await revisionOf(storage, 'w'))
    const first = {
      endpoints: { put: [endpoint('a'), endpoint('b')], remove: [] },
      plugins: {
        put: [plugin('p', { endpoint_id: 'a' }), plugin('q', { endpoint_id: 'a', name: 'standard-webhooks' })],
        remove: [],
      },
    }
    equal(await apply(first), 'applied', 'at the bounds')
    equal(await apply(first), 'applied', 'the same again')
    equal(await apply({ endpoints: { put: [endpoint('c')], remove: [] } }), full('endpoints', 2), 'one more')
    equal(
      await apply({
        endpoints: { put: [endpoint('c', { events: ['x', 'y'] })], remove: ['a'] },
        plugins: { put: [plugin('r', { endpoint_id: 'c' }), plugin('q', { endpoint_id: 'b' })], remove: ['p'] },
      }),
      'applied',
      'one for another',
    )
    const swapped = { put: [endpoint('b', { events: ['x', 'y'] })], remove: [] }
    equal(await apply({ endpoints: swapped }), full('patterns', 3), 'too many patterns')
    const { plugins = [] } = (await storage.configuration('w')) ?? {}
    equal(plugins.map(({ row }) => row.id).toSorted(), ['q', 'r'], 'plugins')
    equal(
      await apply({ plugins: { put: [plugin('z', { endpoint_id: 'b', name: 'standard-webhooks' })], remove: [] } }),
      full('plugins', 2),
      'a third plugin',
    )
  }),
]
