import type { Clock } from './contracts/clock.ts'
import type { Logger } from './contracts/observer.ts'

const refreshEveryMs = 60_000
const toleratedMs = 500

/** Time of the engine as this process knows it, so that due times, leases and limits of all processes agree. */
export interface EngineClock extends Clock {
  /** Asks the engine for its time when the last answer is older than a minute. A failure keeps the offset. */
  refresh(): Promise<void>
}

/** The system's clock. The only place that reads it. */
export function systemClock(): Clock {
  return { system: true, now: () => Date.now(), sleep }
}

/** A clock corrected by what `engineTime` answers. A fake clock needs none and is kept as it is. */
export function engineClock(clock: Clock, engineTime: () => Promise<number>, log: Logger): EngineClock {
  if (!clock.system) return { ...clock, refresh: () => Promise.resolve() }
  let offset = 0
  let asked = -Infinity
  return {
    system: true,
    now: () => clock.now() + offset,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    async refresh() {
      const before = clock.now()
      if (before - asked < refreshEveryMs) return
      asked = before
      try {
        const engine = await engineTime()
        const measured = Math.round(engine - (before + clock.now()) / 2)
        if (Math.abs(measured) > toleratedMs && Math.abs(measured - offset) > toleratedMs) {
          log.warn('the clock of this process differs from that of the storage; due times follow the storage', {
            differenceMs: -measured,
          })
        }
        offset = measured
      } catch (cause) {
        log.warn('the storage did not tell its time', { cause })
      }
    },
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    // Timers hold 31 bits of milliseconds; a longer one would fire at once.
    const timer = setTimeout(done, Math.min(Math.max(0, ms), 2_147_483_647))
    signal?.addEventListener('abort', done, { once: true })
  })
}
