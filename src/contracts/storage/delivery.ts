import type { TriggerMode } from '../../schema/attempt.ts'
import type { StoredEvent } from '../../schema/event.ts'

/** An attempt to be made. */
export interface NewAttempt {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly attempt_number: number
  readonly scheduled_at: number
  readonly trigger_mode: TriggerMode
  readonly created_at: number
}

/** What is needed to make an open attempt. `event` is null when it was purged; `revision` is the workspace's of now. */
export interface Delivery {
  readonly workspaceId: string
  readonly revision: number
  readonly attempt: NewAttempt
  readonly event: StoredEvent | null
  /** The trace context stored with the event; missing when the event has none. */
  readonly trace?: string
}
