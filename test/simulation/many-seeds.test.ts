import { expect, test } from 'vitest'

import { simulateAll } from '../support/simulate-all.ts'

// `simulation.test.ts` has the first 150.
test(
  '850 runs more of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing',
  { timeout: 600_000 },
  async () => {
    expect(await simulateAll({ from: 150, to: 1000 })).toBeGreaterThan(850)
  },
)
