import type { Clock } from '../contracts/clock.ts'
import { alarm } from '../services/alarm.ts'

const mostMs = 10_000

/** Wakes one waiting loop. A ring while nobody waits is remembered. */
export interface Bell {
  ring(): void
  /** Rings after `ms`, once for all that ask until then. What is more than ten seconds away is left to who polls. */
  ringIn(ms: number): void
  /** Resolves when it rings, after `ms`, or when the signal aborts. Answers whether it rang. */
  wait(ms: number, signal?: AbortSignal): Promise<boolean>
}

export function bell(clock: Clock): Bell {
  let rung = false
  let pending: { readonly at: number; readonly cancel: () => void } | null = null
  const waiting = new Set<(rang: boolean) => void>()

  function ring(): void {
    rung = waiting.size === 0
    for (const wake of waiting) wake(true)
  }

  return {
    ring,

    ringIn(ms) {
      if (ms <= 0) return ring()
      if (ms > mostMs) return
      const at = clock.now() + ms
      if (pending !== null && pending.at <= at) return
      pending?.cancel()
      const cancel = alarm(clock, ms, () => {
        pending = null
        ring()
      })
      pending = { at, cancel }
    },

    wait(ms, signal) {
      if (rung || signal?.aborted) {
        const rang = rung
        rung = false
        return Promise.resolve(rang)
      }
      return new Promise((resolve) => {
        const wake = (rang: boolean): void => {
          waiting.delete(wake)
          cancel()
          signal?.removeEventListener('abort', giveUp)
          resolve(rang)
        }
        const giveUp = (): void => wake(false)
        const cancel = alarm(clock, ms, giveUp)
        waiting.add(wake)
        signal?.addEventListener('abort', giveUp)
      })
    },
  }
}
