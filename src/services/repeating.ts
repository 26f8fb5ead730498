import type { EngineClock } from '../contracts/clock.ts'
import type { Logger } from '../contracts/observer.ts'

const everyMs = 60_000

/**
 * The same logger, for what may come again and again while an engine is away: a message is logged at once, then once a
 * minute, with `times`: how often it came since it was last logged. So a message names no id.
 */
export function repeating(clock: EngineClock, log: Logger): Logger {
  const seen = new Map<string, { toldAt: number; times: number }>()

  function seldom(tell: Logger['warn']): Logger['warn'] {
    return (message, details) => {
      const now = clock.elapsed()
      const before = seen.get(message) ?? { toldAt: -Infinity, times: 0 }
      const times = before.times + 1
      const isDue = now - before.toldAt >= everyMs
      seen.set(message, isDue ? { toldAt: now, times: 0 } : { ...before, times })
      if (isDue) tell(message, times > 1 ? { ...details, times } : details)
    }
  }

  return {
    debug: seldom(log.debug),
    info: seldom(log.info),
    warn: seldom(log.warn),
    error: seldom(log.error),
  }
}
