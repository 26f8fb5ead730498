import type { Claim, Job } from '../contracts/queue.ts'
import { maxFor } from '../core/fair-share.ts'
import { countBy, type SlotRequest } from './tenant-slots.ts'

/** More endpoints are not told apart: jobs of any endpoint may wait then. */
const maxGroups = 10_000

/**
 * How many due jobs of usual priority an endpoint may have in the queue, as far as this process knows: those that it added
 * itself since a claim, and what the claim left. Of workspaces that use fewer slots than the claim gave others, nothing is
 * left but what their endpoints have no room for. Jobs of low priority are not counted, since new jobs come before them
 * anyway.
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
  /** Workspaces of which the last claim may have left due jobs of any endpoint. */
  #cut: ReadonlySet<string> = new Set()

  /** How many due jobs of an endpoint of a workspace may wait, at most. */
  of(group: string, workspace: string): number {
    if (this.#isUnknown || this.#cut.has(workspace)) return Infinity
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

  /** A claim ended. `surplus`: those of its jobs that went back to the queue. */
  claimed(request: SlotRequest, claims: readonly Claim[], surplus: readonly Claim[]): void {
    const { busy, cap, leaveOut } = request
    const groups = sums(busy.groups, countBy(claims, 'group'))
    const workspaces = sums(busy.workspaces, countBy(claims, 'workspace'))
    const level = levelReached(request, claims, workspaces)
    this.#sought = null
    this.#isUnknown = this.#isNews || level <= 1
    this.#cut = new Set([...workspaces].flatMap(([workspace, slots]) => (slots + 1 >= level ? workspace : [])))
    for (const group of leaveOut) this.#add(group, Infinity)
    for (const [group, slots] of groups) if (slots >= cap) this.#add(group, Infinity)
    for (const { group } of surplus) this.#add(group, Infinity)
  }

  #add(group: string, jobs: number): void {
    if (this.#added.size < maxGroups) this.#added.set(group, (this.#added.get(group) ?? 0) + jobs)
    else this.#isUnknown = true
  }
}

/**
 * A level is a slot of a workspace: the first, the second and so on. A claim takes jobs by their level (see `Queue.claim`):
 * all jobs below the level that is answered, where their endpoints have room; of this level and above some may be left.
 */
function levelReached(
  { limit, free }: SlotRequest,
  claims: readonly Claim[],
  used: ReadonlyMap<string, number>,
): number {
  if (claims.length < limit) return maxFor(free - claims.length) + 1
  return Math.max(...claims.map(({ workspace }) => used.get(workspace)!)) // of all that were claimed
}

function sums(some: ReadonlyMap<string, number>, more: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const all = new Map(some)
  for (const [key, count] of more) all.set(key, (all.get(key) ?? 0) + count)
  return all
}
