import type { AttemptErrorCode } from './attempt.ts'
import type { Millis } from './shared.ts'

/** How long a bucket of statistics is. */
export type StatsStep = 'minute' | 'hour' | 'day'
export const statsSteps = ['minute', 'hour', 'day'] as const satisfies readonly StatsStep[]
/** What statistics are grouped by. */
export type StatsGroup = 'endpoint' | 'event_type' | 'workspace'
export const statsGroups = ['endpoint', 'event_type', 'workspace'] as const satisfies readonly StatsGroup[]

/** What statistics are asked of the whole instance. */
export interface InstanceStatsInput {
  /** Unix milliseconds; the bucket in which the time lies is the first. Default: 60 minutes, 24 hours or 30 days before `to`. */
  readonly from?: number
  /** Unix milliseconds; buckets that begin at this time or later are left out. Default: now, with the bucket of now. */
  readonly to?: number
  /**
   * Minutes are stored for 6 hours, hours for 90 days, days for `retention.statsDays`. Days are those of UTC. Default
   * `hour`.
   */
  readonly step?: StatsStep
  /** Attempts at this endpoint. Default: at all. */
  readonly endpoint_id?: string
  /** Not with minutes, which are not counted by type. Beyond 1,000 types of a workspace the rest is counted as `*`. */
  readonly event_type?: string
  /** One list for each group: the 100 groups with the most attempts, and all others as `*`. */
  readonly group_by?: StatsGroup
}

/** What statistics are asked of a workspace. */
export interface StatsInput extends InstanceStatsInput {
  /** One list for each group: the 100 groups with the most attempts, and all others as `*`. Default: no groups. */
  readonly group_by?: Exclude<StatsGroup, 'workspace'>
}

/** The attempts that ended in a bucket of time. Test deliveries are left out. */
export interface StatsBucket {
  /** When the bucket begins, unix milliseconds. */
  readonly time: Millis
  /** Attempts that succeeded. */
  readonly succeeded: number
  /** All that failed, those that were tried again included. */
  readonly failed: number
  /** Those of `failed` that nothing followed. */
  readonly exhausted: number
  /** Attempts that were canceled before they were sent. */
  readonly canceled: number
  /** Median latency of tries, milliseconds, as a histogram of powers of two tells it; null where nothing was tried. */
  readonly p50: number | null
  /** The 95th percentile, milliseconds. */
  readonly p95: number | null
  /** The 99th percentile, milliseconds. */
  readonly p99: number | null
  /** Tries by the class of the answer's status; `none`: no answer came. */
  readonly by_class: Readonly<Record<'2xx' | '3xx' | '4xx' | '5xx' | 'none', number>>
}

/** The statistics of one group. */
export interface StatsGroupReport {
  /** The endpoint, event type or workspace; `*` holds all groups that are not named. */
  readonly group: string
  /** Buckets in order of time, empty buckets included. */
  readonly data: readonly StatsBucket[]
}

/** Attempts that ended, counted by time. */
export interface StatsReport {
  /** Buckets in order of time, empty buckets included, at most 1,500. */
  readonly data: readonly StatsBucket[]
  /** With `group_by`: the same by group, the largest first. `*` holds all groups that are not named. */
  readonly groups?: readonly StatsGroupReport[]
}

/** The last try of an endpoint that failed. */
export interface LastFailure {
  /** When the try failed, unix milliseconds. */
  readonly at: Millis
  /** Id of the attempt. */
  readonly attempt_id: string | null
  /** Why the attempt failed, for programs. */
  readonly error_code: AttemptErrorCode | null
  /** A sentence; null when the attempt was removed meanwhile. */
  readonly reason: string | null
}

/** How an endpoint does. */
export interface EndpointHealth {
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** Whether events are sent to the endpoint. */
  readonly enabled: boolean
  /** When a try succeeded last, unix milliseconds. */
  readonly last_success_at: Millis | null
  /** The last try that failed; null when none failed. */
  readonly last_failure: LastFailure | null
  /** Tries that failed since the last success. */
  readonly consecutive_failures: number
  /** Deliveries that are due and wait, at most 10,000 of them; null where the queue cannot tell. */
  readonly due_now: number | null
  /** Successes among the tries of the last 60 minutes, from 0 to 1; null without a try. */
  readonly success_rate_1h: number | null
  /** The same of the last 24 hours, in whole hours. */
  readonly success_rate_24h: number | null
  /** Until when nothing is sent, because the endpoint asked for a pause or the endpoint's rate limit is used up. */
  readonly paused_until: Millis | null
  /** Whether the last try got no answer: such an endpoint is sent a single request at a time. */
  readonly suspect: boolean
}
