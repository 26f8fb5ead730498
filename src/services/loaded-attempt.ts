import type { CompiledConfiguration } from '../context.ts'
import type { Delivery } from '../contracts/storage/attempts.ts'
import type { Outcome } from '../core/settle.ts'
import type { Endpoint } from '../schema/endpoint.ts'

/** An open attempt, with all that is needed to send the request. `endpoint` is null when the endpoint was deleted. */
export interface Loaded {
  readonly delivery: Delivery
  readonly configuration: CompiledConfiguration
  readonly endpoint: Endpoint | null
}

/** What came of sending the request. */
export interface Sent {
  readonly outcome: Outcome
  readonly startedAt: number
  /**
   * Whether the endpoint timed out, could not be reached, or the answer did not end in time. Null when that is not known, since
   * the address was denied or a plugin failed. False where the attempt was canceled: many such may wait, and each ends at once.
   */
  readonly slow: boolean | null
}
