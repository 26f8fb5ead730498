import type { Logger } from '../contracts/observer.ts'

/** Work that nobody waits for: what fails is logged, and `idle` waits for all of it. */
export interface Background {
  run(what: string, work: () => Promise<unknown>): void
  idle(): Promise<void>
}

export function background(log: Logger): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(what, work) {
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
