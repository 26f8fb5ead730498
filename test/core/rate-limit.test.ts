import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { applyRateLimit } from '../../src/core/rate-limit.ts'

const now = 1_767_225_600_000

/** A naive bucket in exact fractions: tokens times the period in ms, so that `quota` of them come back each millisecond. */
function naiveBucket(quota: number, periodMs: number) {
  const size = BigInt(quota) * BigInt(periodMs)
  let filled = size
  let last = BigInt(now)
  return (want: number, at: number): number => {
    const later = filled + (BigInt(at) - last) * BigInt(quota)
    filled = later > size ? size : later
    last = BigInt(at)
    const granted = BigInt(want) < filled / BigInt(periodMs) ? BigInt(want) : filled / BigInt(periodMs)
    filled -= granted * BigInt(periodMs)
    return Number(granted)
  }
}

const takes = fc.array(fc.record({ after: fc.nat(3000), want: fc.nat(12) }), { maxLength: 60 })

describe('a rate limit', () => {
  test('grants what a bucket of the quota grants that refills evenly, whole intervals exactly', () => {
    const limits = fc.constantFrom(
      { quota: 1, period: 1 },
      { quota: 4, period: 2 },
      { quota: 10, period: 1 },
      { quota: 100, period: 60 },
    )
    fc.assert(
      fc.property(limits, takes, (limit, steps) => {
        const bucket = naiveBucket(limit.quota, limit.period * 1000)
        let stored: number | null = null
        let at = now
        for (const { after, want } of steps) {
          at += after
          const verdict = applyRateLimit(stored, limit, want, at)
          stored = verdict.tat
          expect(verdict.granted).toBe(bucket(want, at))
        }
      }),
    )
  })

  test('of any shape never refuses what the bucket grants, and gives back less than a microsecond a grant', () => {
    const limits = fc.record({ quota: fc.integer({ min: 1, max: 5000 }), period: fc.integer({ min: 1, max: 100_000 }) })
    fc.assert(
      fc.property(limits, takes, (limit, steps) => {
        const bucket = naiveBucket(limit.quota, limit.period * 1000)
        let stored: number | null = null
        let at = now
        let ours = 0
        let naive = 0
        for (const { after, want } of steps) {
          at += after
          const verdict = applyRateLimit(stored, limit, want, at)
          stored = verdict.tat
          ours += verdict.granted
          naive += bucket(want, at)
          expect(ours).toBeGreaterThanOrEqual(naive)
        }
        const givenBack = (ours * limit.quota) / (limit.period * 1_000_000)
        expect(ours - naive).toBeLessThanOrEqual(Math.ceil(givenBack))
      }),
    )
  })

  test('says exactly when one more is granted: not a millisecond before', () => {
    const limits = fc.record({ quota: fc.integer({ min: 1, max: 1000 }), period: fc.integer({ min: 1, max: 10_000 }) })
    fc.assert(
      fc.property(limits, fc.nat(2000), (limit, want) => {
        const { tat, remaining, retryAfterMs, resetMs } = applyRateLimit(null, limit, want, now)
        if (remaining > 0) expect(retryAfterMs).toBe(0)
        else {
          expect(applyRateLimit(tat, limit, 1, now + retryAfterMs).granted).toBe(1)
          if (retryAfterMs > 1) expect(applyRateLimit(tat, limit, 1, now + retryAfterMs - 1).granted).toBe(0)
        }
        expect(applyRateLimit(tat, limit, 0, now + resetMs).remaining).toBe(limit.quota)
      }),
    )
  })

  test('consumes nothing by refusing or by a look', () => {
    const spent = applyRateLimit(null, { quota: 2, period: 10 }, 2, now)
    expect(applyRateLimit(spent.tat, { quota: 2, period: 10 }, 1, now).tat).toBe(spent.tat)
    expect(applyRateLimit(spent.tat, { quota: 2, period: 10 }, 0, now + 5000)).toMatchObject({
      tat: spent.tat,
      remaining: 1,
    })
    expect(applyRateLimit(null, { quota: 2, period: 10 }, 0, now)).toMatchObject({
      tat: null,
      remaining: 2,
      resetMs: 0,
    })
  })

  test('of quota 0 refuses all, and says to come back after a period', () => {
    const verdict = { granted: 0, remaining: 0, retryAfterMs: 7000, resetMs: 7000, tat: null }
    expect(applyRateLimit(null, { quota: 0, period: 7 }, 3, now)).toEqual(verdict)
  })

  test('that was loosened acts at once: a later time is cut to a period from now', () => {
    const strict = applyRateLimit(null, { quota: 1, period: 86_400 }, 1, now)
    const loose = applyRateLimit(strict.tat, { quota: 1, period: 10 }, 1, now)
    expect(loose).toEqual({
      granted: 0,
      remaining: 0,
      retryAfterMs: 10_000,
      resetMs: 10_000,
      tat: (now + 10_000) * 1000,
    })
    expect(applyRateLimit(loose.tat, { quota: 1, period: 10 }, 1, now + 10_000).granted).toBe(1)
  })

  test('keeps its stored time an exact integer, whatever the limit', () => {
    const any = fc.record({ quota: fc.nat(1_000_000), period: fc.maxSafeNat().map((n) => n + 1) })
    fc.assert(
      fc.property(any, fc.maxSafeNat(), (limit, want) => {
        const { tat, granted } = applyRateLimit(null, limit, want, now)
        expect(granted).toBeLessThanOrEqual(limit.quota)
        expect(tat === null || Number.isSafeInteger(tat)).toBe(true)
      }),
    )
  })
})
