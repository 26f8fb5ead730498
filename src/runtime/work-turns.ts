import type { Awaitable } from '../contracts/awaitable.ts'
import { InTurns, type Waits } from '../core/in-turns.ts'
import { othersTurn, type SliceClock, sliceMs } from './slices.ts'

interface Piece extends Waits {
  run(): void
}

/**
 * Work for tenants that may hold the event loop for long: a piece that takes milliseconds, or a thousand pieces that come in the same
 * turn. A piece is done at once until two milliseconds of a turn were used; what comes then waits for the next turn.
 * Tenants take turns, and the pieces of a tenant are done in the order in which they came.
 */
export class WorkTurns {
  readonly #clock: SliceClock
  readonly #rests: boolean
  readonly #waiting = new InTurns<Piece>()
  /** How long the event loop was held in this turn. */
  #usedMs = 0
  #isServing = false

  /**
   * @param rests whether the event loop is free for as long as it was held, before what waits is done: then such work takes half of
   * the time at most. Else what others of the process have ready comes first, and nothing more is waited for.
   */
  constructor(clock: SliceClock, { rests }: { readonly rests: boolean }) {
    this.#clock = clock
    this.#rests = rests
  }

  /** Does a piece of work, at once or when it is the tenant's turn. */
  run<Result>(tenant: string, work: () => Result): Awaitable<Result> {
    if (!this.#isServing) void this.#serve()
    if (this.#usedMs < sliceMs && this.#waiting.size === 0) return this.#timed(work)
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(this.#timed(work))
        } catch (cause) {
          reject(cause)
        }
      }
      this.#waiting.add({ workspace: tenant, run })
    })
  }

  /** Resolves when no work waits. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await othersTurn(this.#clock)
  }

  /** Gives the turn to others, then does what waits, and so on until a turn had nothing to do. */
  async #serve(): Promise<void> {
    this.#isServing = true
    do {
      await othersTurn(this.#clock)
      if (this.#rests && this.#usedMs >= sliceMs) await this.#clock.sleep(this.#usedMs)
      this.#usedMs = 0
      while (this.#usedMs < sliceMs && this.#waiting.size > 0) this.#waiting.nextOf()!.run()
    } while (this.#usedMs > 0)
    this.#isServing = false
  }

  #timed<Result>(work: () => Result): Result {
    const since = this.#clock.elapsed()
    try {
      return work()
    } finally {
      this.#usedMs += this.#clock.elapsed() - since
    }
  }
}
