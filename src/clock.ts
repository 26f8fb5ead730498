import type { Clock } from './contracts/clock.ts'
import type { Logger } from './contracts/observer.ts'

const refreshEveryMs = 60_000
const toleratedMs = 500

/** Time of the engine as this process knows it, so that due times, leases and limits of all processes agree. */
export interface EngineClock extends Clock {
  /**
   * Asks the engine for its time when that is not known yet, or when the last answer is older than a minute. A failure to
   * refresh what is known only warns.
   * @throws what the engine threw when the time was never known.
   */
  ready(): Promise<void>
}

/** The system's clock. The only place that reads it. */
export function systemClock(): Clock {
  return { system: true, now: () => Date.now(), sleep, alarm }
}

/** A clock corrected by what `engineTime` answers. A fake clock needs none and is kept as it is. */
export function engineClock(clock: Clock, engineTime: () => Promise<number>, log: Logger): EngineClock {
  if (!clock.system) return { ...clock, ready: () => Promise.resolve() }
  let offset = 0
  let knownAt = -Infinity
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    const before = clock.now()
    try {
      const engine = await engineTime()
      const measured = Math.round(engine - (before + clock.now()) / 2)
      if (Math.abs(measured) > toleratedMs && Math.abs(measured - offset) > toleratedMs) {
        log.warn('the clock of this process differs from that of the storage; due times follow the storage', {
          differenceMs: -measured,
        })
      }
      offset = measured
      knownAt = before
    } catch (cause) {
      if (knownAt === -Infinity) throw cause
      log.warn('the storage did not tell its time', { cause })
    }
  }

  return {
    system: true,
    now: () => clock.now() + offset,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    ...(clock.alarm !== undefined && { alarm: clock.alarm }),
    async ready() {
      if (clock.now() - knownAt < refreshEveryMs) return
      await (asking ??= ask().finally(() => (asking = null)))
    },
  }
}

// Timers hold 31 bits of milliseconds; a longer one would fire at once.
const longestMs = 2_147_483_647

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(Math.max(0, ms), longestMs))
    signal?.addEventListener('abort', done, { once: true })
  })
}

function alarm(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, Math.min(Math.max(0, ms), longestMs))
  return () => clearTimeout(timer)
}
