import type { Attempt, AttemptErrorCode, FinalStatus } from './attempt.ts'
import type { Millis } from './shared.ts'

export const deliveryStatuses = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'CANCELED'] as const
/**
 * DELIVERED once any attempt succeeded. Else the newest attempt decides: while it is open, PENDING where no attempt
 * failed yet, RETRYING where an attempt failed; then FAILED or CANCELED.
 */
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** All attempts to deliver one event to one endpoint, as one row. Test deliveries make no such row. */
export interface Delivery {
  /** Id of the event. */
  readonly event_id: string
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** The type of the event. */
  readonly event_type: string
  /** The `unique_id` of the event. */
  readonly unique_id: string | null
  /** Where the delivery stands. */
  readonly status: DeliveryStatus
  /** Requests that were sent. */
  readonly tries: number
  /** When the event was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the last request was sent, unix milliseconds; null when none was. */
  readonly last_attempted_at: Millis | null
  /** When the open attempt is due that comes first, unix milliseconds; null when none is open. */
  readonly next_attempt_at: Millis | null
  /** The newest attempt that has ended; null when none has. */
  readonly last: {
    /** Id of the attempt. */
    readonly attempt_id: string
    /** How it ended. */
    readonly status: FinalStatus
    /** HTTP status of the answer; null when none came. */
    readonly response_status: number | null
    /** Why it did not succeed; null where the status of the answer says it. */
    readonly error_code: AttemptErrorCode | null
    /** The same in words. */
    readonly error_message: string | null
    /** Milliseconds from the start of the request to the end of the answer; null when none came. */
    readonly latency: number | null
  } | null
}

/** A delivery with all its attempts, the oldest first, without headers and bodies. */
export interface DeliveryDetails extends Delivery {
  /** All attempts, the oldest first; headers and bodies are null. */
  readonly attempts: readonly Attempt[]
}
