import type { Context } from '../context.ts'
import type { Holds } from './holds.ts'
import type { Cause } from './wakeup.ts'

/** An idle loop asks the engine again after this time, then after twice as long, and so on up to the longest wait. */
const firstIdleMs = 50
/** The longest wait where the engine reports nothing. */
const maxIdleMs = 1000
/** The longest wait where the engine reports new jobs and messages. */
const maxIdleListeningMs = 10_000

/** How long an idle loop waits before it asks the engine again. It asks more rarely the less work it finds. */
export class IdleWait {
  readonly maxMs: number
  #ms = firstIdleMs

  /** @param isListening whether the engine reports what is new. */
  constructor(isListening: boolean) {
    this.maxMs = isListening ? maxIdleListeningMs : maxIdleMs
  }

  /** The next wait. */
  get ms(): number {
    return this.#ms
  }

  /** Something was found: the next wait is short again. */
  reset(): void {
    this.#ms = firstIdleMs
  }

  /** A wait is over. If nothing has ended it early (`null`), the next wait is twice as long. */
  waited(cause: Cause | null): void {
    this.#ms = cause === null ? Math.min(this.#ms * 2, this.maxMs) : firstIdleMs
  }
}

/** Answers in how many milliseconds a waiting job falls due. Asks the engine at most each 50 ms while jobs are held. */
export function dueTimes(ctx: Context, holds: Holds): () => Promise<number> {
  let askedAt = -Infinity
  return async () => {
    if (holds.size > 0 && ctx.clock.elapsed() - askedAt < firstIdleMs) return firstIdleMs
    askedAt = ctx.clock.elapsed()
    const now = ctx.clock.now()
    const next = (await ctx.queue.nextDueAt?.(now)) ?? null
    if (next === null) return Infinity
    // A job that is due and was not claimed has to wait for something else, and may hide the next due time.
    return next <= now ? maxIdleMs : next - now
  }
}
