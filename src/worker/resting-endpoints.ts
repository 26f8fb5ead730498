import type { EngineClock } from '../contracts/clock.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { startTimer } from '../runtime/timer.ts'
import type { Wakeup } from './wakeup.ts'

const restMs = 500
/** No more endpoints rest: each claim leaves them out one by one. Jobs of others wait here instead. */
const maxResting = 2000

const rested = Promise.resolve()

/**
 * Endpoints whose attempts this process cannot make now: it has no free process for a function, no free connection, or lacks the
 * plugin. Claims of this process leave them out for half a second, so that the same jobs do not go back and forth. Nothing is
 * stored: other processes may have what it takes.
 */
export class Rests {
  readonly #clock: EngineClock
  readonly #wakeup: Wakeup
  /** When the rest of each endpoint ends; the first to end is the first. */
  readonly #until = new Map<string, number>()
  #stop = (): void => {}

  /** @param wakeup wakes the loop that claims. */
  constructor(clock: EngineClock, wakeup: Wakeup) {
    this.#clock = clock
    this.#wakeup = wakeup
  }

  /** Resolves when the job may go back to the queue: at once, or, where too many rest, half a second later, or when it is canceled. */
  begin(group: string, until: Cancellation): Promise<void> {
    if (this.#until.size >= maxResting && !this.#until.has(group)) return this.#clock.sleep(restMs, until.signal)
    this.#rest(group)
    return rested
  }

  #rest(group: string): void {
    this.#until.delete(group)
    this.#until.set(group, this.#clock.elapsed() + restMs)
    if (this.#until.size > 1) return
    this.#stop() // that of an earlier rest of the same endpoint
    this.#ringIn(restMs)
  }

  /** Milliseconds until the first rest ends; 0 when nothing rests. */
  untilFirst(): number {
    const [first] = this.#until.values()
    return first === undefined ? 0 : Math.max(first - this.#clock.elapsed(), 0)
  }

  has(group: string): boolean {
    return this.#until.has(group)
  }

  groups(): Iterable<string> {
    return this.#until.keys()
  }

  /** Ends all rests. */
  end(): void {
    this.#stop()
    this.#until.clear()
  }

  #ringIn(ms: number): void {
    this.#stop = startTimer(this.#clock, ms, () => {
      const now = this.#clock.elapsed()
      for (const [group, until] of this.#until) if (until <= now) this.#until.delete(group)
      this.#wakeup.wake('rested')
      const [next] = this.#until.values()
      if (next !== undefined) this.#ringIn(Math.max(next - now, 1))
    })
  }
}
