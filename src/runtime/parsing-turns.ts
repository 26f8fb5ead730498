import type { Awaitable } from '../contracts/awaitable.ts'
import { InTurns, type Waits } from '../core/in-turns.ts'
import { othersTurn, type SliceClock, sliceMs } from './slices.ts'

/** Shorter texts are parsed at once: whatever they hold, that takes less than a tenth of a millisecond. */
const leastBytes = 1024

interface Piece extends Waits {
  run(): void
}

/**
 * Parsing of texts that tenants sent, which holds the event loop: up to a tenth of a second for a megabyte, and for a thousand
 * texts that came in the same turn. Once two milliseconds of a turn were used, the next text waits until the event loop was
 * free for as long as it was held. Then tenants take turns. So parsing takes half of the time at most, and others go on in between.
 */
export class ParsingTurns {
  readonly #clock: SliceClock
  readonly #waiting = new InTurns<Piece>()
  /** How long the event loop was held in this turn. */
  #usedMs = 0
  #isServing = false

  constructor(clock: SliceClock) {
    this.#clock = clock
  }

  /** Parses a text of so many bytes, at once or when it is the tenant's turn. */
  run<Result>(tenant: string, bytes: number, parse: () => Result): Awaitable<Result> {
    if (bytes < leastBytes) return parse()
    if (!this.#isServing) void this.#serve()
    if (this.#usedMs < sliceMs && this.#waiting.size === 0) return this.#timed(parse)
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(this.#timed(parse))
        } catch (cause) {
          reject(cause)
        }
      }
      this.#waiting.add({ workspace: tenant, run })
    })
  }

  /** Gives the turn to others, then does what waits, and so on until a turn had nothing to parse. */
  async #serve(): Promise<void> {
    this.#isServing = true
    do {
      await othersTurn(this.#clock)
      if (this.#usedMs >= sliceMs) await this.#clock.sleep(this.#usedMs)
      this.#usedMs = 0
      while (this.#usedMs < sliceMs && this.#waiting.size > 0) this.#waiting.nextOf()!.run()
    } while (this.#usedMs > 0)
    this.#isServing = false
  }

  #timed<Result>(parse: () => Result): Result {
    const since = this.#clock.elapsed()
    try {
      return parse()
    } finally {
      this.#usedMs += this.#clock.elapsed() - since
    }
  }
}
