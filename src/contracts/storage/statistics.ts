import type { StatsGroup, StatsStep } from '../../schema/stats.ts'

/** One number for each of `countNames` of core/counts.ts. */
export type Counts = number[]

/** Which sums are asked for. Filters that are given must all hold. */
export interface StatisticsQuery {
  /** Null: of all workspaces. */
  readonly workspaceId: string | null
  /** How long a bucket is. Minutes know no event types. */
  readonly step: StatsStep
  /** Unix milliseconds: buckets that begin at `from` or later and before `to`. Days are those of UTC. */
  readonly from: number
  /** See `from`. */
  readonly to: number
  /** Sums of this endpoint. */
  readonly endpoint_id?: string | undefined
  /** Sums of this event type. */
  readonly event_type?: string | undefined
}

/** The groups that are answered by name. All others are added up as `*`. */
export interface Grouping {
  /** What is grouped by. */
  readonly by: StatsGroup
  /** The names of the groups. */
  readonly names: readonly string[]
}

/** The sums of one bucket, of one group. */
export interface StatisticsRow {
  /** When the bucket begins, unix milliseconds. */
  readonly time: number
  /** Null where nothing is grouped. */
  readonly group: string | null
  /** The sums. */
  readonly counts: Counts
}

/**
 * What became of an endpoint's tries, canceled tries left out. `failures` and `exhausted` count since the last success.
 */
export interface Streak {
  /** When a try succeeded last, unix milliseconds. */
  readonly succeeded_at: number | null
  /** When a try failed last, unix milliseconds. */
  readonly failed_at: number | null
  /** The attempt that failed last. */
  readonly attempt_id: string | null
  /** Tries that failed. */
  readonly failures: number
  /** Deliveries that were given up. */
  readonly exhausted: number
}

/**
 * Sums of what settlements counted (`Settlement.counted`): by minute and endpoint, and by hour, endpoint and event
 * type. A settlement only writes a note, in its own step, so that no settlement waits for another settlement. `fold`
 * adds each note to the sums exactly once, whichever process dies meanwhile. A workspace counts at most `maxTypes`
 * event types, and the rest as `*`.
 */
export interface Statistics {
  /**
   * Goes a step towards all notes being in the sums. Answers 0 once they are, else more. Inside a transaction of the host it does nothing,
   * and answers 0.
   */
  fold(): Promise<number>
  /** Sums of the notes that were folded. Buckets without an attempt are left out. */
  sums(query: StatisticsQuery, grouping: Grouping | null): Promise<readonly StatisticsRow[]>
  /** The groups with the most attempts, most first, at most `limit`. */
  groups(query: StatisticsQuery, by: StatsGroup, limit: number): Promise<readonly string[]>
  /** Of the notes that were folded; null for an endpoint that was never tried. */
  streak(workspaceId: string, endpointId: string): Promise<Streak | null>
  /**
   * Removes minutes before `minutesBefore` and days before `daysBefore`, and makes days of hours before `hoursBefore`
   * (the start of a day). At most `limit` sums at a time; answers how many; 0 when nothing is left to do.
   */
  tidy(options: { minutesBefore: number; hoursBefore: number; daysBefore: number; limit: number }): Promise<number>
}
