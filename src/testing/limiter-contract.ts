import type { Grant, Limiter } from '../contracts/limiter.ts'
import { applyRateLimit } from '../core/rate-limit.ts'
import { equal, there } from './assert.ts'
import { type Contract, promise } from './contract.ts'
import { random } from './random.ts'

const now = 1_767_225_600_000

async function take(
  limiter: Limiter,
  key: string,
  quota: number,
  period: number,
  want: number,
  at: number,
): Promise<Grant> {
  const [grant] = await limiter.take([{ key, limit: { quota, period }, want }], at)
  return there(grant, 'a grant')
}

/** What every limiter promises: the answers of `applyRateLimit`, to the millisecond. */
export const limiterContract: Contract<Limiter> = [
  promise('a burst of the quota is granted, then one more each period / quota', async (limiter) => {
    equal(
      await take(limiter, 'k', 4, 2, 1, now),
      { granted: 1, remaining: 3, retryAfterMs: 0, resetMs: 500 },
      'the first',
    )
    equal(
      await take(limiter, 'k', 4, 2, 5, now),
      { granted: 3, remaining: 0, retryAfterMs: 500, resetMs: 2000 },
      'the first three of five',
    )
    const refused = { granted: 0, remaining: 0, retryAfterMs: 1, resetMs: 1501 }
    equal(await take(limiter, 'k', 4, 2, 1, now + 499), refused, 'a millisecond too early')
    equal((await take(limiter, 'k', 4, 2, 2, now + 500)).granted, 1, 'when it was said')
  }),

  promise('what is refused, and what is only looked at, consumes nothing', async (limiter) => {
    await take(limiter, 'k', 2, 10, 2, now)
    for (let i = 0; i < 5; i++) equal((await take(limiter, 'k', 2, 10, 1, now + i)).granted, 0, 'refused')
    equal((await take(limiter, 'k', 2, 10, 0, now + 5000)).remaining, 1, 'a look')
    equal((await take(limiter, 'k', 2, 10, 1, now + 5000)).granted, 1, 'granted')
  }),

  promise('quota 0 refuses all and says to come back after a period', async (limiter) => {
    const none = { granted: 0, remaining: 0, retryAfterMs: 7000, resetMs: 7000 }
    equal(await take(limiter, 'k', 0, 7, 1, now), none, 'one')
    equal(await take(limiter, 'k', 0, 7, 0, now), none, 'a look')
    equal((await take(limiter, 'k', 1, 7, 1, now)).granted, 1, 'once there is a quota')
  }),

  promise('a loosened limit acts at once', async (limiter) => {
    await take(limiter, 'k', 1, 3600, 1, now)
    equal((await take(limiter, 'k', 1, 3600, 1, now + 1)).retryAfterMs, 3_599_999, 'under the old one')
    equal((await take(limiter, 'k', 1, 2, 1, now + 1)).retryAfterMs, 2000, 'under the new one')
    equal((await take(limiter, 'k', 1, 2, 1, now + 2001)).granted, 1, 'after its period')
  }),

  promise('keys do not touch each other, and one call may hold one key more than once', async (limiter) => {
    const limit = { quota: 3, period: 1 }
    const grants = await limiter.take(
      [
        { key: 'a', limit, want: 2 },
        { key: 'b', limit, want: 5 },
        { key: 'a', limit, want: 2 },
        { key: '__proto__', limit, want: 1 },
      ],
      now,
    )
    equal(
      grants.map(({ granted }) => granted),
      [2, 3, 1, 1],
      'granted',
    )
    equal(await limiter.take([], now), [], 'no wants')
  }),

  promise('callers at once get the quota between them, no more', async (limiter) => {
    const grants = await Promise.all(Array.from({ length: 20 }, () => take(limiter, 'k', 30, 60, 2, now)))
    equal(
      grants.reduce((sum, { granted }) => sum + granted, 0),
      30,
      'granted',
    )
  }),

  promise('quotas that do not divide the period, and large ones, keep their burst', async (limiter) => {
    for (const [quota, period] of [
      [3, 1],
      [7, 1],
      [700, 1],
      [100_000, 3600],
      [1_000_000, 86_400],
      [1, 9_007_199_254_740_991],
      [9_007_199_254_740_991, 1],
    ] as const) {
      const key = `${quota}/${period}`
      equal((await take(limiter, key, quota, period, 1, now)).granted, 1, `${key}, the first`)
      const rest = Math.min(quota - 1, 1_000_000)
      equal((await take(limiter, key, quota, period, rest, now)).granted, rest, `${key}, the rest`)
    }
  }),

  promise('a random sequence is answered as the rule says', async (limiter) => {
    const { below, of } = random(20_260_101)
    const tats = new Map<string, number | null>()
    let at = now
    for (let step = 0; step < 30; step++) {
      at += of([0, 1, 17, 333, 1000, 60_000])
      const wants = Array.from({ length: 1 + below(4) }, () => ({
        key: of(['a', 'b', 'c']),
        limit: of([
          { quota: 1, period: 1 },
          { quota: 3, period: 1 },
          { quota: 7, period: 60 },
          { quota: 0, period: 5 },
          { quota: 100, period: 1 },
        ]),
        want: below(6),
      }))
      const expected = wants.map(({ key, limit, want }) => {
        const { tat, ...grant } = applyRateLimit(tats.get(key) ?? null, limit, want, at)
        tats.set(key, tat)
        return grant
      })
      equal(await limiter.take(wants, at), expected, `step ${step}, ${JSON.stringify(wants)}`)
    }
  }),
]
