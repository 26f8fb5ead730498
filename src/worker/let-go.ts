import { claimsOf, type Hold, type Holds } from './holds.ts'
import type { Slots } from './slots.ts'

/** The end of a job in this process: the hold ends, and the slot is free if it was not before. */
export class LetGo {
  readonly #slots: Slots
  readonly #holds: Holds

  constructor(slots: Slots, holds: Holds) {
    this.#slots = slots
    this.#holds = holds
  }

  /** This process has no more to do with a job. */
  ended(hold: Hold): void {
    this.#slots.holdEnded()
    this.#holds.remove(hold)
  }

  /** Jobs that were not sent leave the queue: their attempts have ended, or were deleted. */
  async complete(obsolete: readonly Hold[]): Promise<void> {
    await this.unsent(obsolete, this.#holds.complete(claimsOf(obsolete)))
  }

  /** Jobs were not sent. `asked`: the queue was asked to remove them or to take them back. */
  async unsent(unsent: readonly Hold[], asked: Promise<void>): Promise<void> {
    await asked
    for (const hold of unsent) {
      this.#slots.freed(hold.claim, null)
      this.ended(hold)
    }
  }

  /** Jobs that were not sent go back to the queue. */
  async giveBack(unsent: readonly Hold[]): Promise<void> {
    await this.unsent(unsent, this.#holds.giveBack(claimsOf(unsent), { triesAgain: true }))
  }
}
