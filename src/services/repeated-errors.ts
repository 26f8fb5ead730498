import type { EngineClock } from '../contracts/clock.ts'
import type { Logger } from '../contracts/observer.ts'

const everyMs = 60_000

/** Logs an error that may come again and again: the first at once, then one line a minute with how often it came. */
export function repeatedErrors(clock: EngineClock, log: Logger): (message: string, cause: unknown) => void {
  const seen = new Map<string, { loggedAt: number; times: number }>()
  return (message, cause) => {
    const now = clock.elapsed()
    const before = seen.get(message) ?? { loggedAt: -Infinity, times: 0 }
    const times = before.times + 1
    const isDue = now - before.loggedAt >= everyMs
    seen.set(message, isDue ? { loggedAt: now, times: 0 } : { ...before, times })
    if (isDue) log.error(message, times > 1 ? { cause, times } : { cause })
  }
}
