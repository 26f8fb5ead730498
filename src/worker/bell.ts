import type { Clock } from '../contracts/clock.ts'

/** Wakes one waiting loop. A ring while nobody waits is remembered. */
export interface Bell {
  ring(): void
  /** Resolves when it rings, after `ms`, or when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

export function bell(clock: Clock): Bell {
  let rung = false
  const waiting = new Set<AbortController>()
  return {
    ring() {
      rung = waiting.size === 0
      for (const waiter of waiting) waiter.abort()
    },
    async wait(ms, signal) {
      if (rung || signal?.aborted) {
        rung = false
        return
      }
      const over = new AbortController()
      const end = () => over.abort()
      waiting.add(over)
      signal?.addEventListener('abort', end, { once: true })
      await clock.sleep(ms, over.signal)
      signal?.removeEventListener('abort', end)
      waiting.delete(over)
    },
  }
}
