import type { EnginePart } from './engine.ts'
import type { Delivery } from './storage/delivery.ts'

/** A job names an attempt and when it falls due. It carries no data: storage does. */
export interface Job {
  /** The attempt. */
  readonly id: string
  /** The id of the workspace. Workspaces take turns. */
  readonly workspace: string
  /** The endpoint. All jobs of a group are of one workspace. */
  readonly group: string
  /** Unix milliseconds; it never changes. */
  readonly due_at: number
  /**
   * `low`: behind all other due jobs of its group, in fewer slots. Missing: as usual. A queue that is lost loses it
   * too.
   */
  readonly priority?: 'low'
  /** How a new job is held from the start. Only for a queue that `takesLeases`; no job that is answered has it. */
  readonly lease?: Lease
}

/** A hold on a job between two times, unix milliseconds. The token ends with `/` and the id of the workspace. */
export interface Lease {
  /** What proves the hold, as the token of a claim does. */
  readonly token: string
  /** When the hold begins. */
  readonly from: number
  /** When the hold ends, unless it is lengthened. */
  readonly until: number
}

/** A job held by one worker until its lease ends. The token proves the hold; a stale token changes nothing. */
export interface Claim extends Job {
  readonly token: string
  /**
   * Where the claim `loads`: what `Attempts.load` would answer of the attempt, null where that would leave the attempt out.
   * Missing: the caller asks for it. Holds are judged without it.
   */
  readonly delivery?: Delivery | null
}

/** Slots that a caller has in use. A workspace or a group that is not named uses none. */
export interface SlotsInUse {
  readonly workspaces: ReadonlyMap<string, number>
  /** A negative number: the group may give so many jobs more than `cap`. */
  readonly groups: ReadonlyMap<string, number>
  /** Those of `groups` that jobs of low priority use. */
  readonly low: ReadonlyMap<string, number>
}

export interface ClaimOptions {
  /** The most jobs to take. */
  readonly limit: number
  /** Slots of the caller that are free, at least `limit`: the shares of workspaces are judged by them. */
  readonly free: number
  /** The most jobs of one group that the caller has in work at once. */
  readonly cap: number
  readonly busy: SlotsInUse
  /** Groups that this caller takes nothing of now. Other callers do. */
  readonly leaveOut: ReadonlySet<string>
  readonly leaseMs: number
  readonly now: number
  /** Whether to answer the attempts too, if the queue can: only where the storage of the same engine holds them. Default false. */
  readonly loads?: boolean
}

/**
 * Says when to look at which attempt. A lost queue loses no delivery: storage is the truth, and workers queue lost jobs
 * again within seconds.
 *
 * Sharding would fit behind this contract: shards divide jobs by group, and each shard is a queue.
 */
export interface Queue extends EnginePart {
  /**
   * A job already known, waiting or held, is left as it is. A new job with a lease is held as if it had been claimed, unless
   * its group is paused when the lease begins: then it waits. Answers the ids of the jobs that are held with the leases given.
   */
  add(jobs: readonly Job[]): Promise<readonly string[]>
  /** Whether new jobs may have a lease; storage of the same engine then takes attempts with a lease too. */
  readonly takesLeases?: true
  /**
   * Takes due jobs, in turns by workspace. Two callers never hold the same job. A job whose hold lapsed waits again, at
   * its old place.
   *
   * Each workspace offers its due jobs in order: groups by their oldest due job, inside a group by (due_at, id), those of
   * low priority last. A group offers at most `cap - busy.groups`, and nothing while it is paused or left out; its
   * jobs of low priority get at most `maxLow(cap)` slots, those that they use already included (`core/job-rank.ts`). The first job that a workspace offers
   * takes the slot after those that the workspace has in use, the second job the slot after that, and so on: the number of
   * that slot is the job's level. Jobs are taken by their level, the lowest first; of equal levels that of the workspace
   * whose turn is the oldest, then by the workspace's id. A turn is the later of two times: when the oldest due job
   * of the first group that offers one fell due, and when the workspace was last served (which is remembered for an hour).
   *
   * Taking ends at `limit`, and where the level of the next job is more than `maxFor` allows of the slots that are free
   * then (`core/fair-share.ts`).
   *
   * Jobs of a claim whose answer did not come are given back by a later claim through the same object, before they lapse.
   */
  claim(options: ClaimOptions): Promise<readonly Claim[]>
  /** Lengthens holds to `until`; answers the ids whose token is no longer valid. A lapsed hold that nobody took is lengthened. */
  extend(claims: readonly Claim[], until: number): Promise<readonly string[]>
  /** Gives jobs back unsent. Each job keeps its `due_at`, so no later job overtakes it. */
  release(claims: readonly Claim[]): Promise<void>
  /** Removes held jobs. */
  complete(claims: readonly Claim[]): Promise<void>
  /** No job of these groups is claimed before `until`. Of two pauses the later pause holds. */
  pause(groups: readonly { readonly group: string; readonly until: number }[]): Promise<void>
  /** Ends the pauses of these groups, whoever asked for them. Without this method a pause ends when its time is up. */
  resume?(groups: readonly string[]): Promise<void>
  /** All jobs, waiting and held, and the due time of the oldest job that is due and not held. */
  stats(now: number): Promise<{ readonly size: number; readonly oldestDueAt: number | null }>
  /** Throws when the engine does not answer, or refuses writes. */
  ping?(): Promise<void>
  /** Until when a group is paused; null when it is not. For explanations only. */
  pausedUntil?(group: string, now: number): Promise<number | null>
  /** How many waiting jobs of a group are due, pauses left aside; at most 10,000 are counted. For explanations only. */
  dueOf?(group: string, now: number): Promise<number>
  /** When the next waiting job may be claimed, pauses and leases counted; null when none waits. Only saves polls. */
  nextDueAt?(now: number): Promise<number | null>
  /**
   * Calls `wake` when jobs were added or given back anywhere: a hint; polling stays the truth. `here` says that it was
   * done through this very object, so that the caller knows already; an engine that cannot tell says `elsewhere`.
   * Answers a function that ends the calls.
   */
  onAdded?(wake: (where: 'here' | 'elsewhere') => void): Promise<() => Promise<void>>
}
