import { expect, test } from 'vitest'

import { simulateAll } from '../support/simulate-all.ts'

test(
  '150 runs of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing',
  { timeout: 300_000 },
  async () => {
    expect(await simulateAll({ from: 0, to: 150 })).toBeGreaterThan(150)
  },
)

// What finds no slot waits in a process that works alone, and dies with it.
test('50 runs of a process that works alone lose nothing and double nothing', { timeout: 300_000 }, async () => {
  expect(await simulateAll({ from: 0, to: 50 }, { workers: 1, events: 40 })).toBeGreaterThan(50)
})
