import type { EngineClock } from '../contracts/clock.ts'
import { alarm } from '../services/alarm.ts'

/** What falls due later than this is left to whoever polls. */
const mostMs = 10_000

/**
 * Why a loop is woken:
 *
 * - `added`: jobs or messages were added, given back, or fell due.
 * - `freed`: slots fell free that waiting jobs could not have before.
 * - `proven`: an endpoint that had one request at a time may have more.
 * - `turn`: slow and new endpoints may be tried again.
 * - `limited`: endpoints that were left out while the rate limiter was asked may be claimed again.
 */
export type Cause = 'added' | 'freed' | 'proven' | 'turn' | 'limited'

/** Wakes a waiting loop. A cause that comes while nobody waits is remembered. */
export interface Wakeup {
  wake(cause: Cause): void
  /** Wakes after `ms`, once for all that ask until then. What is more than ten seconds away is left to who polls. */
  wakeIn(ms: number, cause: Cause): void
  /** Sets timers from now on, or no more: they would keep a process alive in which nobody waits. */
  set(hasTimers: boolean): void
  /** Forgets a remembered cause: a claim that begins now sees whatever there was to see. */
  forget(): void
  /** Resolves with the cause when one comes, with null after `ms` or when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<Cause | null>
}

export function wakeup(clock: EngineClock): Wakeup {
  let remembered: Cause | null = null
  let hasTimers = false
  let pending: { readonly at: number; readonly cancel: () => void } | null = null
  const waiting = new Set<(cause: Cause | null) => void>()

  function wake(cause: Cause): void {
    if (waiting.size === 0) remembered ??= cause
    for (const resolve of waiting) resolve(cause)
  }

  return {
    wake,

    wakeIn(ms, cause) {
      if (ms <= 0) return wake(cause)
      if (ms > mostMs || !hasTimers) return
      const at = clock.elapsed() + ms
      if (pending !== null && pending.at <= at) return
      pending?.cancel()
      const cancel = alarm(clock, ms, () => {
        pending = null
        wake(cause)
      })
      pending = { at, cancel }
    },

    set(has) {
      hasTimers = has
      if (has) return
      pending?.cancel()
      pending = null
    },

    forget() {
      remembered = null
    },

    wait(ms, signal) {
      if (remembered !== null || signal?.aborted) {
        const cause = remembered
        remembered = null
        return Promise.resolve(cause)
      }
      return new Promise((resolve) => {
        const end = (cause: Cause | null): void => {
          waiting.delete(end)
          cancel()
          signal?.removeEventListener('abort', giveUp)
          resolve(cause)
        }
        const giveUp = (): void => end(null)
        const cancel = alarm(clock, ms, giveUp)
        waiting.add(end)
        signal?.addEventListener('abort', giveUp)
      })
    },
  }
}
