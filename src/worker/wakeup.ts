import type { EngineClock } from '../contracts/clock.ts'
import { startTimer } from '../runtime/timer.ts'

/** No timer is set for what falls due later than this: the loop asks the engine before that. */
const maxMs = 10_000

/**
 * Why a loop is woken:
 *
 * - `added`: jobs or messages were added, given back, or fell due.
 * - `freed`: slots fell free, or room for messages, and some may wait that had none before.
 * - `proven`: an endpoint that had a single request at a time may have more.
 * - `turn`: slow and new endpoints may be tried again.
 * - `more`: a claim took as many jobs as it was to take at once, and slots are left for others.
 * - `rested`: endpoints that rested may be claimed again.
 * - `limited`: endpoints that were left out while the rate limiter was asked may be claimed again.
 */
export type Cause = 'added' | 'freed' | 'proven' | 'turn' | 'more' | 'rested' | 'limited'

/** Wakes a waiting loop. A cause that comes while nobody waits is remembered. */
export interface Wakeup {
  wake(cause: Cause): void
  /** Wakes after `ms`, once for all calls until then. Sets no timer for more than ten seconds. */
  wakeIn(ms: number, cause: Cause): void
  /** Whether `wakeIn` may set timers. A timer would keep a process alive in which no loop runs. */
  set(hasTimers: boolean): void
  /** Forgets a remembered cause. For a claim that begins now: it finds the jobs that the cause was about. */
  forget(): void
  /** Whether a cause is remembered: the next wait would end at once. */
  isRemembered(): boolean
  /**
   * Resolves with the next cause (with `only`, where it is given), or with null after `ms` or when the signal aborts.
   */
  wait(ms: number, signal?: AbortSignal, only?: Cause): Promise<Cause | null>
}

export function wakeup(clock: EngineClock): Wakeup {
  let remembered: Cause | null = null
  let hasTimers = false
  let pending: { readonly at: number; readonly cancel: () => void } | null = null
  const waiting = new Set<Waiter>()

  function wake(cause: Cause): void {
    // New jobs are the most urgent cause: freed slots may gather for a moment.
    if (waiting.size === 0 && (remembered === null || cause === 'added')) remembered = cause
    for (const resolve of waiting) resolve(cause)
  }

  return {
    wake,

    wakeIn(ms, cause) {
      if (ms <= 0) return wake(cause)
      if (ms > maxMs || !hasTimers) return
      const at = clock.elapsed() + ms
      if (pending !== null && pending.at <= at) return
      pending?.cancel()
      const cancel = startTimer(clock, ms, () => {
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

    isRemembered: () => remembered !== null,

    wait(ms, signal, only) {
      const cause = only === undefined || remembered === only ? remembered : null
      if (cause === null && signal?.aborted !== true) {
        return new Promise((resolve) => waitFor(clock, waiting, { ms, signal, only }, resolve))
      }
      remembered = null
      return Promise.resolve(cause)
    },
  }
}

type Waiter = (cause: Cause | null) => void

/** Adds a waiter that resolves with the first cause it does not ignore, with null after `ms` or when the signal aborts. */
function waitFor(
  clock: EngineClock,
  waiting: Set<Waiter>,
  { ms, signal, only }: { ms: number; signal: AbortSignal | undefined; only: Cause | undefined },
  resolve: Waiter,
): void {
  const end: Waiter = (cause) => {
    if (cause !== null && only !== undefined && cause !== only) return
    waiting.delete(end)
    cancel()
    signal?.removeEventListener('abort', giveUp)
    resolve(cause)
  }
  const giveUp = (): void => end(null)
  const cancel = startTimer(clock, ms, giveUp)
  waiting.add(end)
  signal?.addEventListener('abort', giveUp)
}
