import type { Grant } from '../contracts/limiter.ts'
import type { RateLimit } from '../schema/shared.ts'

/** Longer periods count as this, about 31 years, so that every sum below stays an exact integer in a double. */
const maxPeriodSeconds = 1_000_000_000

/** A grant, and the time to be stored for the key: see `applyRateLimit`. */
export interface Verdict extends Grant {
  readonly tat: number | null
}

/**
 * The generic cell rate algorithm (ITU-T I.371) for a burst of `quota` and one more grant each `period / quota`
 * seconds.
 *
 * `tat` is the theoretical arrival time: when the whole burst is back, in unix microseconds. It is an integer, and so
 * are all sums here (below 2^53 until the year 2200), so that doubles and 64-bit integers restate the algorithm
 * exactly; only products of a quota and a period beyond 2^53, such as three million an hour, are rounded in doubles.
 * One grant moves it by `period / quota`, rounded down to the microsecond: rounding never costs a caller a grant. A
 * stored time in the past counts as now; a stored time beyond now + period is cut to now + period, so that a loosened
 * limit acts at once.
 *
 * What is refused consumes nothing: with nothing granted `tat` is as it was stored, or cut. The cut is to be stored too,
 * else the wait would begin anew with every refusal. Quota 0 refuses all, and says to come back after a period.
 */
export function applyRateLimit(stored: number | null, limit: RateLimit, want: number, now: number): Verdict {
  const { quota } = limit
  const period = Math.min(limit.period, maxPeriodSeconds) * 1_000_000
  if (quota === 0) {
    return { granted: 0, remaining: 0, retryAfterMs: period / 1000, resetMs: period / 1000, tat: stored }
  }
  const start = now * 1000
  const full = start + period
  const before = Math.min(Math.max(stored ?? start, start), full)

  const granted = Math.min(want, Math.floor(((full - before) * quota) / period))
  const after = before + Math.floor((granted * period) / quota)
  const remaining = Math.floor(((full - after) * quota) / period)
  return {
    granted,
    remaining,
    retryAfterMs: remaining > 0 ? 0 : Math.ceil((after + Math.ceil(period / quota) - full) / 1000),
    resetMs: Math.ceil((after - start) / 1000),
    tat: granted > 0 ? after : stored === null ? null : Math.min(stored, full),
  }
}
