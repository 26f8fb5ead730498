import type { Limiter } from '../../src/contracts/limiter.ts'
import { applyRateLimit } from '../../src/core/rate-limit.ts'

/** GCRA limits of this process. */
export function memoryLimiter(): Limiter {
  /** Arrival times as `gcra` tells them, by key. */
  const tats = new Map<string, number>()
  return {
    take: async (wants, now) =>
      wants.map(({ key, limit, want }) => {
        const { tat, ...grant } = applyRateLimit(tats.get(key) ?? null, limit, want, now)
        // A time in the past says no more than none.
        if (tat === null || tat <= now * 1000) tats.delete(key)
        else tats.set(key, tat)
        return grant
      }),
  }
}
