import type { AttemptErrorCode, AttemptRequest, AttemptResponse, FinalStatus, TriggerMode } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import type { Workspace } from '../schema/workspace.ts'
import type { EnginePart } from './engine.ts'
import type { Inbox } from './inbox.ts'
import type { Limiter } from './limiter.ts'
import type { Claim, Job, Queue } from './queue.ts'

/**
 * Where the truth is kept. Every method is one atomic step, whoever calls at the same moment; a batch answers entry by
 * entry. Ids compare bytewise. Rows are stored as given: times, ids and defaults are the services' work.
 *
 * A workspace has a revision, raised in the same step by every write to it or to its endpoints, sources and plugins.
 * A row remembers the revision it was last written at; `update` takes it back, so that two writers never lose each
 * other's fields.
 */
export interface Storage extends EnginePart {
  /** The engine, for messages: `memory`, `postgres`, `redis`. */
  readonly name: string
  readonly workspaces: Workspaces
  readonly endpoints: Collection<Endpoint, OwnedQuery>
  readonly sources: Collection<Source, OwnedQuery>
  readonly plugins: Collection<Plugin, PluginQuery>
  readonly events: Events
  readonly attempts: Attempts

  /** The engine's own queue, inbox and limiter, used where the host names no others. */
  readonly queue?: Queue
  readonly inbox?: Inbox
  readonly limiter?: Limiter

  /** Everything that delivery needs of a workspace's configuration; null when there is no such workspace. */
  configuration(workspaceId: string): Promise<Configuration | null>
  /** What the gateway serves: enabled sources of all workspaces, with a revision that every change of them raises. */
  routes(): Promise<{ readonly revision: number; readonly routes: readonly Route[] }>
  /** One config sync, all or nothing, if the workspace is still at revision `from`. */
  applyConfig(plan: ConfigPlan, from: number): Promise<'applied' | 'conflict' | Violation>

  /**
   * Removes at most `limit` rows that nobody may read any more: of deleted workspaces; events created before
   * `eventsBefore` that have no open attempt, with their attempts; finished attempts created before `attemptsBefore`.
   * Answers how many rows went; 0 when there is nothing left to do.
   */
  purge(options: { eventsBefore: number | null; attemptsBefore: number | null; limit: number }): Promise<number>
  /** Takes a turn at periodic work: true for one caller in each period of `periodMs` (aligned to the epoch), of all processes. */
  turn(name: string, periodMs: number, now: number): Promise<boolean>

  /** Tells when configuration changed elsewhere. It only saves reloads: nothing depends on it. Answers how to stop. */
  onChanged?(listener: (change: Change) => void): Promise<() => Promise<void>>
  /**
   * The same storage, reading and writing through the host's open transaction alone. `wake: false` sends no notification.
   * `storage.queue` of it writes its jobs there too.
   */
  using?(tx: unknown, options?: { wake?: boolean }): BoundStorage
  /** Refuses an engine that cannot serve, such as an old schema, with an `unavailable` error that says what to run. */
  verify?(): Promise<void>

  /** The engine's clock, unix milliseconds. */
  time(): Promise<number>
  /** Throws when the engine does not answer, or refuses writes. */
  ping(): Promise<void>
  /** Connections: all and busy. */
  stats(): Promise<{ readonly total: number; readonly active: number }>
  /** Closes what the adapter opened itself, never the host's client. */
  close(): Promise<void>
}

export interface BoundStorage extends Storage {
  /** Whether the handle is inside an open transaction. */
  inTransaction(): Promise<boolean>
}

export type Change = { readonly workspaceId: string } | 'routes' | 'everything'

/** A row that cannot stand. `key` is as messages show it, in order: `{ ws_id: 'default', name: 'orders' }`. */
export type Violation =
  | { readonly kind: 'unique'; readonly key: Readonly<Record<string, string>> }
  | {
      readonly kind: 'foreign_key'
      readonly key: Readonly<Record<string, string>>
      readonly references: 'endpoints' | 'sources'
    }
  /** The workspace would have more than `most` of these. */
  | { readonly kind: 'full'; readonly of: keyof Bounds; readonly most: number }

/** The most rows of each kind that a workspace may have, and the most event patterns of all its endpoints together. */
export interface Bounds {
  readonly endpoints: number
  readonly sources: number
  readonly plugins: number
  readonly patterns: number
}

/** A row with the workspace's revision at which it was last written. */
export interface Stored<Row> {
  readonly row: Row
  readonly revision: number
}

/** `missing`: the row, or the workspace around it, is not there. `conflict`: somebody wrote the row meanwhile. */
export type Inserted = 'written' | 'missing' | Violation
export type Updated = 'written' | 'missing' | 'conflict' | Violation

export interface Workspaces {
  /** Refuses an id or name that is another workspace's id or name: `{ id }` or `{ name }`, id first. Never 'missing'. */
  insert(row: Workspace): Promise<Inserted>
  get(id: string): Promise<Stored<Workspace> | null>
  /** The workspace with that id, else the one with that name. */
  find(idOrName: string): Promise<Stored<Workspace> | null>
  list(query: ListQuery): Promise<Page<Workspace>>
  update(row: Workspace, from: number): Promise<Updated>
  /** After it the workspace and its configuration are gone, its events and attempts unreadable, its open attempts closed. */
  delete(id: string): Promise<boolean>
}

/**
 * Configuration rows of a workspace. Violations: `{ id }` (any workspace's row of this kind), `{ ws_id, name }` where
 * name is not null, for plugins `{ endpoint_id, name }` or `{ source_id, name }`, for enabled sources `{ method, path }`;
 * a plugin's owner must be a row of the same workspace. Deleting an owner deletes its plugins. `bounds` hold whoever
 * writes at the same moment; judging them costs the same however many rows there are.
 */
export interface Collection<Row, Query extends ListQuery> {
  insert(workspaceId: string, row: Row, bounds?: Bounds): Promise<Inserted>
  get(workspaceId: string, id: string): Promise<Stored<Row> | null>
  list(workspaceId: string, query: Query): Promise<Page<Row>>
  /** Replaces the row with that id if it was last written at revision `from`. */
  update(workspaceId: string, row: Row, from: number, bounds?: Bounds): Promise<Updated>
  delete(workspaceId: string, id: string): Promise<boolean>
}

/** Bounds in unix milliseconds, all of which hold. */
export interface TimeRange {
  readonly eq?: number
  readonly gt?: number
  readonly gte?: number
  readonly lt?: number
  readonly lte?: number
}

/**
 * A page in the order of ids. Offset mode: `page` counts from 1. Cursor mode: `page` null; rows strictly beyond `after`
 * or `before` in the direction of the sort, those nearest to it, shown in the sort's order.
 */
export interface ListQuery {
  readonly limit: number
  readonly page: number | null
  readonly after: string | null
  readonly before: string | null
  readonly descending: boolean
  readonly name?: string
  readonly created_at?: TimeRange
  /** Every pair must be there. */
  readonly metadata?: Readonly<Record<string, string>>
}
export interface OwnedQuery extends ListQuery {
  readonly enabled?: boolean
}
export interface PluginQuery extends OwnedQuery {
  readonly endpoint_id?: string
  readonly source_id?: string
}
export interface EventQuery extends Omit<ListQuery, 'name' | 'metadata'> {
  readonly ingested_at?: TimeRange
  readonly event_type?: string
  readonly unique_id?: string
  /** The page ends after the row with which its data reaches this many bytes, and has at least one row. */
  readonly maxBytes: number
}
export interface AttemptQuery extends Omit<ListQuery, 'name' | 'metadata'> {
  readonly attempted_at?: TimeRange
  readonly event_id?: string
  readonly endpoint_id?: string
  readonly status?: StoredStatus
  readonly scheduled_at?: TimeRange
  /** For attempts that were asked for by hand, in place of `scheduled_at`: null leaves them out. */
  readonly scheduled_at_by_hand?: TimeRange | null
}

/** `preceded` and `followed` tell exactly whether rows of the same filters stand before and after these. `total` is null in cursor mode. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly total: number | null
  readonly preceded: boolean
  readonly followed: boolean
}

export interface Configuration {
  readonly workspace: Workspace
  readonly revision: number
  readonly endpoints: readonly Stored<Endpoint>[]
  readonly sources: readonly Stored<Source>[]
  readonly plugins: readonly Stored<Plugin>[]
}

/** An enabled source as the gateway finds it: by exact path, then method. */
export interface Route {
  readonly workspaceId: string
  readonly sourceId: string
  readonly path: string
  readonly methods: readonly string[]
}

/** Rows to insert or replace, and ids to delete, of one workspace. Rules are judged on the state after all of it. */
export interface ConfigPlan {
  readonly workspaceId: string
  readonly endpoints: { readonly put: readonly Endpoint[]; readonly remove: readonly string[] }
  readonly sources: { readonly put: readonly Source[]; readonly remove: readonly string[] }
  readonly plugins: { readonly put: readonly Plugin[]; readonly remove: readonly string[] }
  /** Default: none. */
  readonly bounds?: Bounds | undefined
}

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

/** OPEN is shown as INIT or QUEUED, by its due time at the moment of asking. */
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
}

export interface IngestEntry {
  readonly workspaceId: string
  /** The workspace's revision by which `attempts` were matched. */
  readonly revision: number
  readonly event: StoredEvent
  readonly attempts: readonly NewAttempt[]
  /** The trace context to be kept with the event: a W3C traceparent, at most 55 characters. It is no part of what makes two events the same. */
  readonly trace?: string
  /**
   * Made for this very call, where the publisher chose the event's id. An event that is there with this token was stored by
   * an earlier flush of this call, whose answer was lost. Missing: an event that is there with the same content was.
   */
  readonly token?: string
}

/**
 * `stored`: event and attempts are there, now or since an earlier flush of the same call.
 * `duplicate`: the `unique_id` was seen; `event` is the stored one. `id_taken`: another event has this id.
 * `stale`: the configuration moved on (or the workspace is gone); match again. `rejected`: the engine refused this entry alone.
 * `held`: an open transaction of a host holds the id or the `unique_id`, and nobody knows yet what becomes of it: ask again.
 */
export type IngestAnswer =
  | { readonly kind: 'stored' }
  | { readonly kind: 'duplicate'; readonly event: StoredEvent }
  | { readonly kind: 'id_taken' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'rejected'; readonly cause: unknown }
  | { readonly kind: 'held' }

/** What becomes of the jobs of new attempts. */
export interface Enqueueing {
  /** Write them to the engine's own queue in the same step. */
  readonly enqueue: boolean
}

export interface Events {
  /**
   * Stores events with their attempts, in order. Within one batch too a `unique_id` is stored once. A duplicate is
   * looked for before a taken id, and both before a stale revision.
   */
  ingest(entries: readonly IngestEntry[], options: Enqueueing): Promise<readonly IngestAnswer[]>
  get(workspaceId: string, id: string): Promise<StoredEvent | null>
  list(workspaceId: string, query: EventQuery): Promise<Page<StoredEvent>>
}

/** What is needed to make an open attempt. `event` is null when it was purged; `revision` is the workspace's of now. */
export interface Delivery {
  readonly workspaceId: string
  readonly revision: number
  readonly attempt: NewAttempt
  readonly event: StoredEvent | null
  /** What was kept with the event; missing when nothing was. */
  readonly trace?: string
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
  readonly next: NewAttempt | null
  /** Disables the endpoint if its url, as it is configured, is still this one (410 Gone). */
  readonly disable: { readonly url: string } | null
  /** Counts the outcome in the endpoint's tally of the minute, for the circuit breaker. */
  readonly tally: boolean
  /** The hold on the job, completed in the same step where the queue is the engine's own. */
  readonly claim: Claim | null
}

/**
 * `settled`: the attempt was closed by this very settlement, now or by an earlier call whose answer was lost. Two
 * settlements of one attempt are the same when they have the same follow-up, or both have none, and agree in `status`,
 * `attempted_at` and `settled_at`: another one comes from another hold, which begins after this one lapsed. False when the
 * attempt was closed otherwise, or is not there: then nothing was written but the completion of the claim. Of two
 * settlements of one attempt in a batch the first counts. `disabled`: this settlement disabled the endpoint. `refused`: why
 * the engine refused this settlement alone; then neither of the two is true, and the claim is not completed.
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

export interface Attempts {
  /** What deliver needs of each open attempt, in one read; closed and unknown ones are left out. */
  load(ids: readonly string[]): Promise<readonly Delivery[]>
  /** Closes each open attempt once. `enqueue`: with the follow-up's job, and the claim completed, in the same step. */
  settle(settlements: readonly Settlement[], options: Enqueueing): Promise<readonly Settled[]>
  /** Adds attempts to events of the workspace; those whose id is there already, or whose event is not, are left out. Answers which are there now. */
  add(workspaceId: string, attempts: readonly NewAttempt[], options: Enqueueing): Promise<readonly boolean[]>
  get(workspaceId: string, id: string): Promise<StoredAttempt | null>
  list(workspaceId: string, query: AttemptQuery): Promise<Page<StoredAttempt>>
  /** Open attempts due before `before`, of all workspaces, in (due_at, id) order, after a position. */
  overdue(options: {
    before: number
    after: readonly [dueAt: number, id: string] | null
    limit: number
  }): Promise<readonly Job[]>
  /**
   * Deliveries of a workspace that ended without success: attempts FAILED (exhausted) or CANCELED that are the newest of
   * their event and endpoint, in id order after `after`. Times bound the attempt's created_at.
   */
  undelivered(
    workspaceId: string,
    query: {
      readonly status?: 'FAILED' | 'CANCELED'
      readonly event_types?: readonly string[]
      readonly endpoint_id?: string
      readonly created_at?: TimeRange
      readonly after: string | null
      readonly limit: number
    },
  ): Promise<readonly Undelivered[]>
  /** Outcomes counted by `tally` since that time, whole minutes, per endpoint. */
  tallies(since: number): Promise<readonly { workspaceId: string; endpointId: string; total: number; failed: number }[]>
}
