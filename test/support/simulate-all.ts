import { expect } from 'vitest'

import { type Simulation, simulate } from '../../src/testing/simulation/simulate.ts'

const sideBySide = 20

/** Runs the simulation with these seeds, `to` left out. Answers how many requests were sent. Throws what a run breaks. */
export async function simulateAll(
  { from, to }: { from: number; to: number },
  options: Omit<Simulation, 'seed'> = {},
): Promise<number> {
  let sends = 0
  for (let first = from; first < to; first += sideBySide) {
    const seeds = Array.from({ length: Math.min(sideBySide, to - first) }, (_, i) => first + i)
    for (const report of await Promise.all(seeds.map((seed) => simulate({ seed, ...options })))) {
      expect(report.deaths).toBeGreaterThan(0)
      sends += report.sends
    }
  }
  return sends
}
