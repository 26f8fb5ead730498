import type { Claim, Job } from '../contracts/queue.ts'
import type { SlotRequest } from './tenant-slots.ts'

/** More endpoints are not told apart: jobs of any endpoint may wait then. */
const maxGroups = 10_000

/**
 * How many due jobs of usual priority an endpoint may have in the queue, as far as this process knows: those that it added
 * itself since a claim, and what a claim could not take. A claim that took less than it might shows that nothing else is due.
 * Jobs of low priority are not counted, since new jobs come before them anyway.
 */
export class Backlog {
  /** Jobs that were added since the last claim began, by endpoint. Infinity: the last claim may have left some. */
  #added = new Map<string, number>()
  /** Jobs that the claim under way is to find. */
  #sought: ReadonlyMap<string, number> | null = null
  /** Whether any endpoint may have due jobs. */
  #isUnknown = true
  /** Whether others added jobs that the claim under way does not find, nobody knows for whom. */
  #isNews = false

  /** How many due jobs of an endpoint may wait, at most. */
  of(group: string): number {
    if (this.#isUnknown) return Infinity
    return (this.#added.get(group) ?? 0) + (this.#sought?.get(group) ?? 0)
  }

  /** Jobs were added to the queue. Jobs that fall due later do not matter: they come when they are due. */
  added(jobs: readonly Job[], now: number): void {
    for (const { group, due_at, priority } of jobs) if (due_at <= now && priority !== 'low') this.#add(group, 1)
  }

  /** Other processes added jobs, or gave some back. */
  addedElsewhere(): void {
    this.#isUnknown = true
    this.#isNews = true
  }

  /** A claim begins. It finds the jobs that were added until now. Answers the endpoints that may have some. */
  claimBegins(): Iterable<string> {
    if (this.#sought !== null) this.#isUnknown = true // the claim before failed
    this.#sought = this.#added
    this.#added = new Map()
    this.#isNews = false
    return this.#sought.keys()
  }

  /**
   * A claim ended. `isCut`: it may have left due jobs of any endpoint. `isFull`: whether an endpoint has all slots that it
   * may have, so that more of its jobs may wait.
   */
  claimed(request: SlotRequest, claims: readonly Claim[], isCut: boolean, isFull: (group: string) => boolean): void {
    this.#sought = null
    this.#isUnknown = this.#isNews || isCut || claims.length >= request.limit
    for (const group of request.leaveOut) this.#add(group, Infinity)
    for (const [group, slots] of request.busy.groups) if (slots >= request.cap) this.#add(group, Infinity)
    for (const { group } of claims) if (isFull(group)) this.#add(group, Infinity)
  }

  #add(group: string, jobs: number): void {
    if (this.#added.size < maxGroups) this.#added.set(group, (this.#added.get(group) ?? 0) + jobs)
    else this.#isUnknown = true
  }
}
