/** A job names an attempt and when it falls due. It carries no data: storage does. */
export interface Job {
  /** The attempt. */
  readonly id: string
  /** The endpoint. */
  readonly group: string
  /** Unix milliseconds; it never changes. */
  readonly due_at: number
}

/** A job held by one worker until its lease ends. The token proves the hold; a stale one changes nothing. */
export interface Claim extends Job {
  readonly token: string
}

export interface ClaimOptions {
  readonly limit: number
  /** The most jobs of one group that this caller holds at once. */
  readonly cap: number
  /** How many jobs of each group this caller holds already. The caller may change it once it has its answer. */
  readonly busy: Readonly<Record<string, number>>
  readonly leaseMs: number
  readonly now: number
}

/** Says when to look at which attempt. Losing it loses nothing: storage is the truth, and the sweep adds jobs again. */
export interface Queue {
  /**
   * A job already known, waiting or held, is left as it is. `wake: false`: other processes need not be told, for a worker
   * of this one takes them. A hint, like all wake-ups; default true.
   */
  add(jobs: readonly Job[], options?: { readonly wake?: boolean }): Promise<void>
  /**
   * Takes up to `limit` due jobs: groups by their oldest due job, inside a group by (due_at, id). A group gives at most
   * `cap - busy[group]` jobs, none while it is paused. Two callers never hold the same job. A lapsed hold is waiting again,
   * at its old place.
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>
  /** Lengthens holds to `until`; answers the ids whose token is no longer valid. A lapsed hold that nobody took is lengthened. */
  extend(claims: readonly Claim[], until: number): Promise<readonly string[]>
  /** Gives jobs back unsent. Each keeps its due_at, so nothing overtakes it. */
  release(claims: readonly Claim[]): Promise<void>
  /** Removes held jobs. */
  complete(claims: readonly Claim[]): Promise<void>
  /** No job of these groups is claimed before `until`. Of two pauses the later one holds. */
  pause(groups: readonly { readonly group: string; readonly until: number }[]): Promise<void>
  /** All jobs, waiting and held, and the due time of the oldest one that is due and not held. */
  stats(now: number): Promise<{ readonly size: number; readonly oldestDueAt: number | null }>
  /** Throws when the engine does not answer, or refuses writes. */
  ping?(): Promise<void>
  /** Until when a group is paused; null when it is not. For explanations only. */
  pausedUntil?(group: string, now: number): Promise<number | null>
  /** When the next waiting job may be claimed, pauses and leases counted; null when none waits. Only saves polls. */
  nextDueAt?(now: number): Promise<number | null>
  /** Calls `wake` when jobs were added anywhere: a hint; polling stays the truth. Answers how to stop. */
  onAdded?(wake: () => void): Promise<() => Promise<void>>
}
