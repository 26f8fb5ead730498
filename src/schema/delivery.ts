import type { Attempt, AttemptErrorCode, FinalStatus } from './attempt.ts'
import type { Millis } from './shared.ts'

export const deliveryStatuses = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'CANCELED'] as const
/**
 * DELIVERED once any attempt succeeded. Else the newest attempt decides: while it is open, PENDING where no attempt failed
 * yet, RETRYING where one did; then FAILED or CANCELED.
 */
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** All attempts to deliver one event to one endpoint, as one row. Test deliveries make none. */
export interface Delivery {
  readonly event_id: string
  readonly endpoint_id: string
  readonly event_type: string
  /** Of the event. */
  readonly unique_id: string | null
  readonly status: DeliveryStatus
  /** Requests that were sent. */
  readonly tries: number
  /** When the event was made. */
  readonly created_at: Millis
  readonly last_attempted_at: Millis | null
  /** When the open attempt is due that comes first; null when none is open. */
  readonly next_attempt_at: Millis | null
  /** The newest attempt that has ended; null when none has. */
  readonly last: {
    readonly attempt_id: string
    readonly status: FinalStatus
    readonly response_status: number | null
    readonly error_code: AttemptErrorCode | null
    readonly error_message: string | null
    /** Milliseconds. */
    readonly latency: number | null
  } | null
}

/** A delivery with all its attempts, the oldest first, without headers and bodies. */
export interface DeliveryDetails extends Delivery {
  readonly attempts: readonly Attempt[]
}
