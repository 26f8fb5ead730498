/**
 * Why an operational event is to be published. `troubled` stays after the event of a disabled or failing endpoint, until
 * the endpoint has a success again: then that it recovered is published.
 */
export type CauseKind = 'exhausted' | 'disabled' | 'failing' | 'troubled'

/** Why one operational event is to be published. */
export interface Cause {
  /** What happened. */
  readonly kind: CauseKind
  /** Unique among causes of its kind: the id of the attempt or, for a cause without attempt, endpoint and time. */
  readonly id: string
  /** Id of the workspace. */
  readonly workspace_id: string
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** Id of the attempt; null where the cause is none of an attempt's. */
  readonly attempt_id: string | null
  /** When it happened, unix milliseconds. */
  readonly at: number
  /** Why the endpoint was disabled. */
  readonly reason: 'gone' | 'breaker' | 'failing' | null
}

/** What operational events are yet to be published of. A cause outlives the process that saw it. */
export interface Causes {
  /** Causes that exist already stay as they are. */
  add(causes: readonly Cause[]): Promise<void>
  /** Causes of a kind in id order, after an id. */
  list(options: { kind: CauseKind; after: string | null; limit: number }): Promise<readonly Cause[]>
  /** Removes causes. A cause that does not exist is no error. */
  remove(causes: readonly Pick<Cause, 'kind' | 'id'>[]): Promise<void>
}
