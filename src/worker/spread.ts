import type { EngineClock } from '../contracts/clock.ts'

/** A request that ended counts for one part in this many of the average. */
const averageOver = 64
/** A claim follows the claim before after the time of a request divided by this. */
const claimsInRequest = 50
/** Claims are at most this far apart. */
const maxGapMs = 20
/** Where claims would be less than this apart, starts are not spread. */
const minGapMs = 5
/** A claim takes at least as many jobs, where they are due. */
const minAtOnce = 8

/**
 * Spreads the starts of requests over time. Requests that begin together to endpoints that take equally long end together
 * too, and their slots would be filled together again: a burst each time, which holds up everybody else's deliveries.
 *
 * Example: 256 slots, and answers that come after a second. Claims are 20 ms apart and take up to 11 jobs each, so all slots
 * are filled within half a second. Answers that come in less than 250 ms need no spreading: nothing is limited.
 *
 * Slow and new endpoints are not counted: `SlowEndpoints` spreads these.
 */
export class Spread {
  readonly #concurrency: number
  readonly #clock: EngineClock
  readonly #beganAt = new Map<string, number>()
  /** How long recent requests used their slots, as a moving average. */
  #takesMs = 0

  constructor(concurrency: number, clock: EngineClock) {
    this.#concurrency = concurrency
    this.#clock = clock
  }

  /** Jobs got slots. */
  began(ids: Iterable<string>): void {
    const now = this.#clock.elapsed()
    for (const id of ids) this.#beganAt.set(id, now)
  }

  /** The slot of a job is free. A job that is not known is not counted. */
  ended(id: string): void {
    const beganAt = this.#beganAt.get(id)
    if (beganAt === undefined) return
    this.#beganAt.delete(id)
    this.#takesMs += (this.#clock.elapsed() - beganAt - this.#takesMs) / averageOver
  }

  /** Milliseconds between two claims, unless new jobs come; 0 where starts are not spread. */
  gapMs(): number {
    const ms = this.#takesMs / claimsInRequest
    return ms < minGapMs ? 0 : Math.min(Math.round(ms), maxGapMs)
  }

  /** The most jobs to claim at once: twice as many as requests end in a gap while all slots are in use (Little's law). */
  atOnce(): number {
    const gapMs = this.gapMs()
    if (gapMs === 0) return Infinity
    return Math.max(Math.ceil((2 * this.#concurrency * gapMs) / this.#takesMs), minAtOnce)
  }
}
