import fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Configuration } from '../../src/contracts/storage/configuration.ts'
import { mergedConfiguration } from '../../src/core/merged-configuration.ts'
import { endpoint, workspace } from '../../src/testing/storage/rows.ts'

const bare = { workspace: workspace('w'), sources: [], plugins: [] }
const idsOf = (endpoints: readonly string[]) => ({ endpoints, sources: [], plugins: [] })
const stored = (id: string, revision: number) => ({ row: endpoint(id, { name: `${id}${revision}` }), revision })
const known: Configuration = { ...bare, revision: 5, endpoints: [stored('a', 1), stored('b', 5)] }
const names = (merged: Configuration | null) => merged?.endpoints.map(({ row }) => row.name)

test('rows written since take the place of earlier ones, in the order of the ids, and rows that went are left out', () => {
  const since = { ...bare, revision: 9, endpoints: [stored('c', 8), stored('b', 9)], ids: idsOf(['b', 'c']) }
  expect(names(mergedConfiguration(known, since))).toEqual(['b9', 'c8'])
})

test('any rows may change, come and go', () => {
  const id = fc.integer({ min: 0, max: 9 })
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.uniqueArray(id), fc.uniqueArray(id), (before, after, changed) => {
      const has = (list: readonly number[]) => (n: number) => list.includes(n)
      const earlier = before.toSorted((a, b) => a - b).map((n) => stored(`${n}`, 1))
      const written = after.filter((n) => !before.includes(n) || changed.includes(n)).map((n) => stored(`${n}`, 2))
      const ids = after.toSorted((a, b) => a - b).map(String)
      const merged = mergedConfiguration(
        { ...bare, revision: 1, endpoints: earlier },
        { ...bare, revision: 2, endpoints: written, ids: idsOf(ids) },
      )
      const expected = after.toSorted((a, b) => a - b).map((n) => `${n}${has(before)(n) && !has(changed)(n) ? 1 : 2}`)
      expect(names(merged)).toEqual(expected)
    }),
  )
})

test('the whole is needed for a row that nobody told, and for a revision before the known one', () => {
  const unknown = { ...bare, revision: 6, endpoints: [], ids: idsOf(['a', 'b', 'c']) }
  expect(mergedConfiguration(known, unknown)).toBeNull()
  expect(mergedConfiguration(known, { ...bare, revision: 4, endpoints: [], ids: idsOf(['a', 'b']) })).toBeNull()
})
