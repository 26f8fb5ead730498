import type { Context } from '../context.ts'
import type { Cancellation } from '../core/cancellation.ts'
import type { Conclusion, Deliver } from '../services/deliver.ts'

const againMs = 1000

/** Stores the outcomes of attempts, and counts the attempts that ended. */
export class Outcomes {
  /** Attempts that ended since the instance was made. */
  readonly ended = { delivered: 0, failed: 0, canceled: 0 }
  readonly #ctx: Context
  readonly #deliver: Deliver
  readonly #complain: (message: string, cause: unknown) => void
  #isClosed = false

  constructor(ctx: Context, deliver: Deliver, complain: (message: string, cause: unknown) => void) {
    this.#ctx = ctx
    this.#deliver = deliver
    this.#complain = complain
  }

  /**
   * Stores an outcome. Tries again while the storage is away, until `cancellation`. `lingers`: waits up to 100 ms, or
   * until 16 wait, so that several outcomes are stored together.
   */
  async store(conclusion: Conclusion, cancellation: Cancellation, { lingers }: { lingers: boolean }): Promise<void> {
    for (;;) {
      try {
        const status = await this.#deliver.settle(conclusion, { lingers: lingers && !this.#isClosed })
        if (status === 'SUCCESSFUL') this.ended.delivered++
        if (status === 'FAILED') this.ended.failed++
        if (status === 'CANCELED') this.ended.canceled++
        return
      } catch (cause) {
        this.#complain('outcomes of attempts could not be stored; trying again', cause)
        if (cancellation.canceled) return
        await this.#ctx.clock.sleep(againMs, cancellation.signal)
      }
    }
  }

  /** From now on no outcome lingers: those that do are stored at once. */
  close(): void {
    this.#isClosed = true
    void this.#deliver.idle()
  }

  open(): void {
    this.#isClosed = false
  }
}
