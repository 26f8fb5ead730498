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
   * Whether the endpoint timed out, could not be reached, or the answer did not end in time. `unsent`: nothing was sent, as the
   * address was denied or a plugin failed. False for canceled attempts: of an endpoint that is off many may wait, and each ends at once.
   */
  readonly slow: boolean | 'unsent'
}
