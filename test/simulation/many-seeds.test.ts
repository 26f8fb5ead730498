import { expect, test } from 'vitest'

import { simulateAll } from '../support/simulate-all.ts'

// `simulation.test.ts` has the first 60, and 20 of a process that works alone.
test(
  '940 runs more of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing',
  { timeout: 600_000 },
  async () => {
    expect(await simulateAll({ from: 60, to: 1000 })).toBeGreaterThan(940)
  },
)

test('30 runs more of a process that works alone lose nothing and double nothing', { timeout: 300_000 }, async () => {
  expect(await simulateAll({ from: 20, to: 50 }, { workers: 1, events: 40 })).toBeGreaterThan(30)
})
