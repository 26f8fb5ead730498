import { expect, test } from 'vitest'

import { type Surroundings, violationOf } from '../../src/core/configuration-rules.ts'
import { endpoint, plugin } from '../../src/testing/storage/rows.ts'

const nothing = { put: [], remove: [] }
const around: Surroundings = {
  rowOf: () => 'none',
  holderOf: () => undefined,
  orphans: new Set(),
  counts: { endpoints: 0, sources: 0, plugins: 0, patterns: 0 },
  patternsOf: () => 0,
}

test('to judge a plan of many owners and plugins looks at each row a few times', () => {
  const count = 2000
  let looks = 0
  const counted = <Row extends { readonly id: string }>(row: Row): Row => {
    const { id } = row
    return Object.defineProperty(row, 'id', {
      get() {
        looks++
        return id
      },
    })
  }
  const plan = {
    workspaceId: 'w',
    endpoints: { put: Array.from({ length: count }, (_, i) => counted(endpoint(`e${i}`))), remove: [] },
    sources: nothing,
    plugins: { put: Array.from({ length: count }, (_, i) => plugin(`p${i}`, { endpoint_id: `e${i}` })), remove: [] },
  }
  expect(violationOf(plan, around)).toBeNull()
  expect(looks).toBeLessThan(20 * count)
  const orphan = { ...plan, plugins: { put: [plugin('p', { endpoint_id: 'nobody' })], remove: [] } }
  expect(violationOf(orphan, around)).toMatchObject({ kind: 'foreign_key', key: { endpoint_id: 'nobody' } })
})
