import type { Claim, Job } from '../contracts/queue.ts'
import type { SlotRequest } from './tenant-slots.ts'

/** More endpoints are not told apart: jobs of any endpoint may wait then. */
const maxGroups = 10_000

/**
 * Which endpoints may have due jobs in the queue, as far as this process knows. A claim that took less than it might shows
 * that no other endpoint has any, but for those that it was not to take from.
 */
export class Backlog {
  /** Endpoints that may have due jobs. */
  #groups = new Set<string>()
  /** Whether any endpoint may have due jobs. So it is while a claim is under way. */
  #isUnknown = true
  /** Whether jobs were added that the claim under way does not find, nobody knows for whom. */
  #isNews = false

  /** Whether a new job of the endpoint may come behind others. */
  mayHave(group: string): boolean {
    return this.#isUnknown || this.#groups.has(group)
  }

  /** Jobs were added to the queue. Jobs that fall due later do not matter: they come when they are due. */
  added(jobs: readonly Job[], now: number): void {
    for (const { group, due_at } of jobs) if (due_at <= now) this.#add(group)
  }

  /** Other processes added jobs, or gave some back. */
  addedElsewhere(): void {
    this.#isUnknown = true
    this.#isNews = true
  }

  /** A claim begins. It finds the jobs that were added until now. Answers the endpoints that may have some. */
  claimBegins(): ReadonlySet<string> {
    const groups = this.#groups
    this.#groups = new Set()
    this.#isUnknown = true
    this.#isNews = false
    return groups
  }

  /**
   * A claim ended. `isCut`: it may have left due jobs of any endpoint. `isFull`: whether an endpoint has all slots that it
   * may have, so that more of its jobs may wait.
   */
  claimed(request: SlotRequest, claims: readonly Claim[], isCut: boolean, isFull: (group: string) => boolean): void {
    if (isCut || claims.length >= request.limit) return
    this.#isUnknown = this.#isNews
    for (const group of request.leaveOut) this.#add(group)
    for (const [group, slots] of request.busy.groups) if (slots >= request.cap) this.#add(group)
    for (const { group } of claims) if (isFull(group)) this.#add(group)
  }

  #add(group: string): void {
    if (this.#groups.size < maxGroups) this.#groups.add(group)
    else this.#isUnknown = true
  }
}
