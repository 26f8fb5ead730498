import { pacer, type SliceClock } from './slices.ts'

/**
 * Pieces of work that may be long, those of a tenant one by one in the order in which they came. Between two of them others get a
 * turn of the event loop, once two milliseconds have passed.
 */
export class OneByOne {
  readonly #clock: SliceClock
  /** The last piece of each tenant that has work. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(clock: SliceClock) {
    this.#clock = clock
  }

  async run<Result>(tenant: string, work: () => Result): Promise<Result> {
    const before = this.#last.get(tenant)
    const mine = this.#after(before, work)
    this.#last.set(tenant, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(tenant) === mine) this.#last.delete(tenant)
    }
  }

  async #after<Result>(before: Promise<unknown> | undefined, work: () => Result): Promise<Result> {
    const pace = pacer(this.#clock)
    await before?.catch(() => {}) // whoever asked for it gets its failure
    const turn = pace()
    if (turn !== undefined) await turn
    return work()
  }
}
