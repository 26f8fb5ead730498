import type { Clock } from '../contracts/clock.ts'

/** Wakes one waiting loop. A ring while nobody waits is remembered. */
export interface Bell {
  ring(): void
  /** Resolves when it rings, after `ms`, or when the signal aborts. Answers whether it rang. */
  wait(ms: number, signal?: AbortSignal): Promise<boolean>
}

/** Given as the reason of an abort, so that none is made, with its stack, each time. */
const ended = 'ended'

export function bell(clock: Clock): Bell {
  let rung = false
  const waiting = new Set<{ readonly over: AbortController; rang: boolean }>()
  return {
    ring() {
      rung = waiting.size === 0
      for (const waiter of waiting) {
        waiter.rang = true
        waiter.over.abort(ended)
      }
    },
    async wait(ms, signal) {
      if (rung || signal?.aborted) {
        const rang = rung
        rung = false
        return rang
      }
      const over = new AbortController()
      const end = () => over.abort(ended)
      const waiter = { over, rang: false }
      waiting.add(waiter)
      signal?.addEventListener('abort', end, { once: true })
      await clock.sleep(ms, over.signal)
      signal?.removeEventListener('abort', end)
      waiting.delete(waiter)
      return waiter.rang
    },
  }
}
