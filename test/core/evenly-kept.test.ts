import { expect, test } from 'vitest'

import { EvenlyKept } from '../../src/core/evenly-kept.ts'

test('a tenant alone may have all, and loses what was set longest ago', () => {
  const kept = new EvenlyKept<number>(3)
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) kept.set('w', key, value)
  kept.set('w', 'a', 4) // used again
  kept.set('w', 'd', 5)
  expect([...kept.values()]).toEqual([3, 4, 5])
})

test('a tenant with many pushes out nothing of another', () => {
  const kept = new EvenlyKept<string>(10)
  kept.set('quiet', 'a', 'kept')
  for (let n = 0; n < 100; n++) kept.set('greedy', String(n), 'x')
  expect(kept.get('quiet', 'a')).toBe('kept')
  expect([...kept.values()]).toHaveLength(10)
  for (let n = 0; n < 4; n++) kept.set('quiet', String(n), 'y')
  expect([...kept.values()].toSorted().join('')).toBe('keptxxxxxyyyy')
  kept.delete('quiet', 'a')
  kept.delete('quiet', 'a')
  expect([...kept.values()]).toHaveLength(9)
})
