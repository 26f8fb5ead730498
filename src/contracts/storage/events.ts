import type { StoredEvent } from '../../schema/event.ts'
import type { Enqueueing, PlannedAttempt, StoredStatus } from './attempts.ts'
import type { ListQuery, Page, TimeRange } from './list.ts'

export interface EventQuery extends Omit<ListQuery, 'name' | 'metadata'> {
  readonly ingested_at?: TimeRange
  readonly event_type?: string
  readonly unique_id?: string
  /** The page ends after the row with which the data of the page reaches this many bytes. It has at least one row. */
  readonly maxBytes: number
}

export interface IngestEntry {
  readonly workspaceId: string
  /** The workspace's revision by which `attempts` were matched. */
  readonly revision: number
  readonly event: StoredEvent
  readonly attempts: readonly PlannedAttempt[]
  /**
   * The trace context to be stored with the event: a W3C traceparent, at most 55 characters. It is no part of what
   * makes two events the same.
   */
  readonly trace?: string
  /**
   * Made for this very call, where the publisher chose the event's id. An event that exists with this token was stored by
   * an earlier flush of this call, whose answer was lost. Missing: an event that exists with the same content was.
   */
  readonly token?: string
}

/**
 * `stored`: event and attempts are stored, now or by an earlier flush of the same call. `held`: the attempts whose jobs are
 * held with the leases given; missing where none is, or where nobody knows. `duplicate`: the `unique_id`
 * was seen; `event` is the stored event. `id_taken`: another event has this id. `stale`: the configuration moved on (or
 * the workspace is gone); match again. `rejected`: the engine refused this entry alone. `held`: an open transaction of
 * a host holds the id or the `unique_id`, and nobody knows yet what becomes of it: ask later.
 */
export type IngestAnswer =
  | {
      readonly kind: 'stored'
      /** Ids of attempts. */
      readonly held?: readonly string[]
    }
  | { readonly kind: 'duplicate'; readonly event: StoredEvent }
  | { readonly kind: 'id_taken' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'rejected'; readonly cause: unknown }
  | { readonly kind: 'held' }

/** An event without its data. */
export type EventHead = Pick<StoredEvent, 'id' | 'event_type' | 'unique_id' | 'created_at'>

/** What an attempt has to be, that is no TEST one. */
export interface AttemptSought {
  /** To this endpoint. */
  readonly endpoint_id?: string
  /** An ended attempt is the last of its event and endpoint that ended. */
  readonly status?: StoredStatus
  /** With FAILED: no automatic try followed. */
  readonly exhausted?: true
  /** With OPEN: whether a try failed before. */
  readonly retried?: boolean
  /** With FAILED: the status of the answer. */
  readonly response_status?: number
}

export interface TimelineQuery {
  /** Only these. */
  readonly ids?: readonly string[]
  /** Only events with such an attempt. An engine may answer others too: what it narrows the events by is a matter of speed. */
  readonly having?: AttemptSought
  readonly event_type?: string
  readonly created_at?: TimeRange
  /** Only what is beyond this place; `inclusive`: or at it. */
  readonly from: { readonly created_at: number; readonly id: string; readonly inclusive: boolean } | null
  /** Newest first. */
  readonly descending: boolean
  readonly limit: number
}

export interface Events {
  /**
   * Stores events with their attempts, in order. A `unique_id` is stored once, within one batch too. An entry that is a
   * duplicate answers so even if its id is taken; both come before a stale revision.
   */
  ingest(entries: readonly IngestEntry[], options: Enqueueing): Promise<readonly IngestAnswer[]>
  get(workspaceId: string, id: string): Promise<StoredEvent | null>
  list(workspaceId: string, query: EventQuery): Promise<Page<StoredEvent>>
  /** Events ordered by time, then by id; fewer than `limit` only when no more exist. */
  timeline(workspaceId: string, query: TimelineQuery): Promise<readonly EventHead[]>
  /**
   * Removes events with all their attempts, the jobs of open attempts, and all that was recorded. Ids that do not exist
   * are left out. Answers how many events were removed.
   */
  erase(workspaceId: string, ids: readonly string[]): Promise<number>
}
