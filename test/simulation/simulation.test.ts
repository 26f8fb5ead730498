import { expect, test } from 'vitest'

import { simulateAll } from '../support/simulate-all.ts'

test(
  '60 runs of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing',
  { timeout: 300_000 },
  async () => {
    expect(await simulateAll({ from: 0, to: 60 })).toBeGreaterThan(60)
  },
)

// What finds no slot waits in a process that works alone, and dies with it.
test('20 runs of a process that works alone lose nothing and double nothing', { timeout: 300_000 }, async () => {
  expect(await simulateAll({ from: 0, to: 20 }, { workers: 1, events: 40 })).toBeGreaterThan(20)
})
