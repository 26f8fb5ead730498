import type { Awaitable } from '../contracts/awaitable.ts'
import type { SliceClock } from './slices.ts'
import { WorkTurns } from './work-turns.ts'

/** Shorter texts are parsed at once: whatever they hold, that takes less than a tenth of a millisecond. */
const leastBytes = 1024

/**
 * Parsing of texts that tenants sent, which holds the event loop: up to a tenth of a second for a megabyte, and for a thousand
 * texts that came in the same turn. It takes half of the time at most, and tenants take turns in it.
 */
export class ParsingTurns {
  readonly #turns: WorkTurns

  constructor(clock: SliceClock) {
    this.#turns = new WorkTurns(clock, { rests: true })
  }

  /** Parses a text of so many bytes, at once or when it is the tenant's turn. */
  run<Result>(tenant: string, bytes: number, parse: () => Result): Awaitable<Result> {
    return bytes < leastBytes ? parse() : this.#turns.run(tenant, parse)
  }
}
