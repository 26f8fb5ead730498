import type { Logger } from '../contracts/observer.ts'

const maxRunning = 1000

/** Work that nobody waits for: what fails is logged, and `idle` waits for all of it. */
export interface Background {
  /**
   * Starts the work, unless a thousand others have not ended yet. So only start work here that is done again later when
   * it is left out.
   */
  run(what: string, work: () => Promise<unknown>): void
  idle(): Promise<void>
}

export function background(log: Logger): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(what, work) {
      if (running.size >= maxRunning) return
      const promise = work()
        .catch((cause: unknown) => log.warn(`${what} failed`, { cause }))
        .finally(() => running.delete(promise))
      running.add(promise)
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
