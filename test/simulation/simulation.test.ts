import { expect, test } from 'vitest'

import { simulate } from '../../src/testing/simulation/simulate.ts'

const seeds = 1000
const sideBySide = 20

test(
  `${seeds} runs of deaths, lost answers, failing receivers and wrong clocks lose nothing and double nothing`,
  {
    timeout: 300_000,
  },
  async () => {
    let sends = 0
    for (let first = 0; first < seeds; first += sideBySide) {
      const batch = Array.from({ length: sideBySide }, (_, i) => first + i)
      for (const report of await Promise.all(batch.map((seed) => simulate({ seed })))) {
        expect(report.deaths).toBeGreaterThan(0)
        sends += report.sends
      }
    }
    expect(sends).toBeGreaterThan(seeds)
  },
)
