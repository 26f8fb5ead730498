import { expect, test } from 'vitest'

import { simulateAll } from '../support/simulate-all.ts'

test(
  '150 runs of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing',
  { timeout: 300_000 },
  async () => {
    expect(await simulateAll({ from: 0, to: 150 })).toBeGreaterThan(150)
  },
)
