import { describe, expect, test } from 'vitest'

import { maxFor, mayTake, mayTakeAtOnce } from '../../src/core/fair-share.ts'

describe('the most that one tenant may hold', () => {
  test.each([
    { free: 256, max: 768 },
    { free: 64, max: 192 },
    { free: 2, max: 6 },
    { free: 1, max: 3 },
    { free: 0.4, max: 1.2000000000000002 },
    { free: 0.1, max: 1 },
    { free: 0, max: 0 },
    { free: -1, max: 0 },
  ])('while $free are free is $max', ({ free, max }) => {
    expect(maxFor(free)).toBe(max)
  })
})

describe('a tenant that takes a unit at once, of 64', () => {
  test.each([
    { held: 0, free: 64, may: true },
    { held: 31, free: 33, may: true },
    { held: 31, free: 32, may: false },
    { held: 7, free: 32, may: true },
    { held: 8, free: 32, may: false },
    { held: 0, free: 4, may: true },
    { held: 0, free: 3, may: false },
    { held: 0, free: 0, may: false },
  ])('holds $held while $free are free: $may', ({ held, free, may }) => {
    expect(mayTakeAtOnce(held, free, 64)).toBe(may)
  })
})

/** Tenants that take as much as they may, in turns. Answers what each holds in the end. */
function greedy(units: number, tenants: number): number[] {
  const held = Array.from({ length: tenants }, () => 0)
  for (let took = true; took;) {
    took = false
    held.forEach((holds, tenant) => {
      const free = units - held.reduce((sum, each) => sum + each, 0)
      if (!mayTake(holds, free)) return
      held[tenant] = holds + 1
      took = true
    })
  }
  return held
}

describe('greedy tenants', () => {
  test.each([
    { units: 256, tenants: 1, each: [192] },
    { units: 256, tenants: 2, each: [110, 110] },
    { units: 256, tenants: 3, each: [77, 77, 77] },
    { units: 28, tenants: 2, each: [12, 12] },
    { units: 4, tenants: 1, each: [3] },
    { units: 1, tenants: 1, each: [1] },
    { units: 1, tenants: 3, each: [1, 0, 0] },
    { units: 3, tenants: 5, each: [1, 1, 1, 0, 0] },
  ])('$tenants of $units units hold $each', ({ units, tenants, each }) => {
    expect(greedy(units, tenants)).toEqual(each)
  })

  test.each([8, 16, 100, 256, 1000])('leave of %i units some for a tenant that comes new', (units) => {
    for (const tenants of [1, 2]) {
      const free = units - greedy(units, tenants).reduce((sum, each) => sum + each, 0)
      expect(mayTake(0, free)).toBe(true)
    }
  })
})
