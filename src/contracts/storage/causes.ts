/**
 * Why an operational event is to be published. `troubled` is kept after the event of a disabled or failing endpoint, until
 * the endpoint has a success again: then that it recovered is published.
 */
export type CauseKind = 'exhausted' | 'disabled' | 'failing' | 'troubled'

export interface Cause {
  readonly kind: CauseKind
  /** Unique among those of its kind: the attempt or, where it is none of an attempt's, endpoint and time. */
  readonly id: string
  readonly workspace_id: string
  readonly endpoint_id: string
  readonly attempt_id: string | null
  readonly at: number
  /** Why the endpoint was disabled. */
  readonly reason: 'gone' | 'breaker' | 'failing' | null
}

/** What operational events are yet to be published of. A cause outlives the process that saw it. */
export interface Causes {
  /** Causes that are there already stay as they are. */
  add(causes: readonly Cause[]): Promise<void>
  /** Causes of a kind in id order, after an id. */
  list(options: { kind: CauseKind; after: string | null; limit: number }): Promise<readonly Cause[]>
  remove(causes: readonly Pick<Cause, 'kind' | 'id'>[]): Promise<void>
}
