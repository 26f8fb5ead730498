import type {
  AttemptErrorCode,
  AttemptRequest,
  AttemptResponse,
  FinalStatus,
  TriggerMode,
} from '../../schema/attempt.ts'
import type { Claim, Job, Lease } from '../queue.ts'
import type { Delivery, NewAttempt } from './delivery.ts'
import type { ListQuery, Page, TimeRange } from './list.ts'

export type { Delivery, NewAttempt }

export interface AttemptQuery extends Omit<ListQuery, 'name' | 'metadata'> {
  readonly attempted_at?: TimeRange
  readonly event_id?: string
  readonly endpoint_id?: string
  readonly status?: StoredStatus
  readonly event_type?: string
  /** Of the event. */
  readonly unique_id?: string
  /** Whether it has ended and no automatic try follows. */
  readonly final?: boolean
  readonly trigger_mode?: TriggerMode
  readonly error_code?: AttemptErrorCode
  readonly response_status?: number
  readonly scheduled_at?: TimeRange
  /** For attempts that were asked for by hand, in place of `scheduled_at`: null leaves them out. */
  readonly scheduled_at_by_hand?: TimeRange | null
}

/** An attempt to be added. */
export interface PlannedAttempt extends NewAttempt {
  /** The priority of the attempt's job. Only the queue holds it; storage does not. Missing: as usual. */
  readonly priority?: 'low'
  /** How the attempt's job is held from the start, where storage writes the job too. See `Job`. */
  readonly lease?: Lease
}

/** OPEN is shown as INIT or QUEUED: the due time at the moment of asking decides. */
export type StoredStatus = 'OPEN' | FinalStatus

/** What was sent. `fromEvent`: the body is the event's data, which is not stored again, and `body` is null. */
export interface StoredRequest extends AttemptRequest {
  readonly fromEvent: boolean
}

/** In lists `headers` and `body` of request and response are null. */
export interface StoredAttempt extends NewAttempt {
  readonly status: StoredStatus
  readonly attempted_at: number | null
  readonly exhausted: boolean
  readonly error_code: AttemptErrorCode | null
  readonly error_message: string | null
  readonly request: StoredRequest | null
  readonly response: AttemptResponse | null
  readonly updated_at: number
  /** The type of the event. */
  readonly event_type: string
}

/** What becomes of the jobs of new attempts. */
export interface Enqueueing {
  /** Write them to the engine's own queue in the same step. */
  readonly enqueue: boolean
}

/**
 * `first`: an attempt is added only where the event and the endpoint have no attempt. Of several for the same two,
 * whoever asks, one is added.
 */
export interface Adding extends Enqueueing {
  readonly first?: boolean
}

/** How an outcome is counted. */
export interface Counted {
  readonly event_type: string
  /** Whether it makes a cause of an operational event when the tries are used up, or when the settlement disables the endpoint. */
  readonly told: boolean
}

/** The end of an attempt and all that follows from it, written together. */
export interface Settlement {
  readonly workspaceId: string
  readonly attempt: NewAttempt
  readonly status: FinalStatus
  readonly attempted_at: number | null
  readonly exhausted: boolean
  readonly error_code: AttemptErrorCode | null
  readonly error_message: string | null
  readonly request: StoredRequest | null
  readonly response: AttemptResponse | null
  readonly settled_at: number
  /** The follow-up. */
  readonly next: PlannedAttempt | null
  /** Disables the endpoint (410 Gone) if the configured url is still this url. */
  readonly disable: { readonly url: string } | null
  /** Leaves a note of the outcome to be counted, in the same step. Null: counted nowhere. */
  readonly counted: Counted | null
  /** The hold on the job, completed in the same step where the queue is the engine's own. */
  readonly claim: Claim | null
}

/**
 * `settled`: the attempt was closed by this very settlement, now or by an earlier call whose answer was lost. Two
 * settlements of one attempt are the same when they have the same follow-up, or both have none, and agree in `status`,
 * `attempted_at` and `settled_at`: another settlement comes from another hold, which begins after this hold lapsed.
 * False when the attempt was closed otherwise, or does not exist: then only the completion of the claim was written. Of
 * two settlements of one attempt in a batch the first counts. `disabled`: this settlement disabled the endpoint.
 * `refused`: why the engine refused this settlement alone; then `settled` and `disabled` are false, and the claim is
 * not completed.
 */
export interface Settled {
  readonly settled: boolean
  readonly disabled: boolean
  readonly refused?: unknown
}

export interface Undelivered {
  readonly attemptId: string
  readonly event_id: string
  readonly endpoint_id: string
}

/** Attempts of an event are in the order of endpoint ids, and of ids where they have the same endpoint. */
export interface OfEventsQuery {
  /** Only attempts to this endpoint. */
  readonly endpointId?: string
  /** Only what lies beyond this place. For a single event. */
  readonly after?: readonly [endpointId: string, id: string] | null
  /** Endpoint ids and ids go downwards. */
  readonly descending?: boolean
  /** The most attempts. */
  readonly limit: number
}

/** Events that an endpoint never got. `next` is where to go on; null when all were looked at. */
export interface Missing {
  readonly events: readonly { readonly id: string; readonly event_type: string }[]
  readonly next: string | null
}

export interface Attempts {
  /** What deliver needs of each open attempt, in one read; closed and unknown attempts are left out. */
  load(ids: readonly string[]): Promise<readonly Delivery[]>
  /** Closes each open attempt once. `enqueue`: with the follow-up's job, and the claim completed, in the same step. */
  settle(settlements: readonly Settlement[], options: Enqueueing): Promise<readonly Settled[]>
  /** Adds attempts to events of the workspace; attempts whose id exists already, or whose event does not exist, are left out. Answers which exist now. */
  add(workspaceId: string, attempts: readonly PlannedAttempt[], options: Adding): Promise<readonly boolean[]>
  get(workspaceId: string, id: string): Promise<StoredAttempt | null>
  list(workspaceId: string, query: AttemptQuery): Promise<Page<StoredAttempt>>
  /** Attempts of these events, event by event as they are given, without headers and bodies: no more than `limit`. */
  ofEvents(workspaceId: string, eventIds: readonly string[], query: OfEventsQuery): Promise<readonly StoredAttempt[]>
  /**
   * Open attempts due before `before`, of all workspaces, in (due_at, id) order, after a position. `unqueued`: those that the
   * engine's own queue is sure to have may be left out.
   */
  overdue(options: {
    before: number
    after: readonly [dueAt: number, id: string] | null
    limit: number
    unqueued?: boolean
  }): Promise<readonly Job[]>
  /**
   * Deliveries of a workspace that ended without success: attempts FAILED (exhausted) or CANCELED, but not TEST, that
   * are the newest of their event and endpoint, in id order after `after`. `created_at` bounds the event's,
   * `attempted_at` the attempt's.
   */
  undelivered(
    workspaceId: string,
    query: {
      readonly status?: 'FAILED' | 'CANCELED'
      readonly event_types?: readonly string[]
      readonly endpoint_id?: string
      readonly created_at?: TimeRange
      readonly attempted_at?: TimeRange
      readonly after: string | null
      readonly limit: number
    },
  ): Promise<readonly Undelivered[]>
  /**
   * Events without an attempt to this endpoint, in id order after `after`; those of test deliveries are left out.
   * `created_at` bounds the event's. Looks at no more than `limit` events.
   */
  missing(
    workspaceId: string,
    query: {
      readonly endpoint_id: string
      readonly created_at?: TimeRange
      readonly after: string | null
      readonly limit: number
    },
  ): Promise<Missing>
  /** Successes and failures since that time, whole minutes, per endpoint, of the notes that `statistics.fold` has added. */
  tallies(since: number): Promise<readonly { workspaceId: string; endpointId: string; total: number; failed: number }[]>
}
