import type { EngineClock } from '../contracts/clock.ts'
import { startTimer } from '../runtime/timer.ts'

interface Alarm {
  readonly afterMs: number
  readonly ring: () => void
  cancel: () => void
}

/** The time at which a stop is to have ended. It may be moved to an earlier one. */
export class StopDeadline {
  readonly #clock: EngineClock
  readonly #alarms = new Set<Alarm>()
  /** On the clock's `elapsed`. */
  #at: number

  constructor(clock: EngineClock, timeoutMs: number) {
    this.#clock = clock
    this.#at = clock.elapsed() + timeoutMs
  }

  /** It comes in so many milliseconds at the latest. */
  atMost(timeoutMs: number): void {
    const at = this.#clock.elapsed() + timeoutMs
    if (at >= this.#at) return
    this.#at = at
    for (const alarm of this.#alarms) {
      alarm.cancel()
      this.#set(alarm)
    }
  }

  /** Calls `ring` so long after it, unless what is answered is called before. */
  alarm(afterMs: number, ring: () => void): () => void {
    const alarm = { afterMs, ring, cancel: () => {} }
    this.#alarms.add(alarm)
    this.#set(alarm)
    return () => {
      this.#alarms.delete(alarm)
      alarm.cancel()
    }
  }

  /** The outcome of work that ends at most so long after it; else rejects with what `late` makes. The work itself goes on. */
  async within<Answer>(work: Promise<Answer>, afterMs: number, late: () => Error): Promise<Answer> {
    let cancel = (): void => {}
    const tooLate = new Promise<never>((_, reject) => (cancel = this.alarm(afterMs, () => reject(late()))))
    try {
      return await Promise.race([work, tooLate])
    } finally {
      cancel()
    }
  }

  #set(alarm: Alarm): void {
    const inMs = Math.max(this.#at - this.#clock.elapsed(), 0) + alarm.afterMs
    alarm.cancel = startTimer(this.#clock, inMs, () => {
      this.#alarms.delete(alarm)
      alarm.ring()
    })
  }
}
