import type { Claim, Job } from '../contracts/queue.ts'
import { maxFor } from '../core/fair-share.ts'
import { countBy, type SlotRequest } from './tenant-slots.ts'

/** More endpoints are not told apart: jobs of any endpoint may wait then. */
const maxGroups = 10_000
/** More endpoints are not looked through by `isEmptyBut`, which then answers no. */
const maxLooked = 32

interface Waiting {
  /** Null where nobody knows. */
  readonly workspace: string | null
  /** At most so many jobs wait. Infinity: nobody knows. */
  readonly jobs: number
}

/** What was known when a claim began. */
interface Before {
  readonly waiting: ReadonlyMap<string, Waiting>
  readonly isUnknown: boolean
  readonly unknown: ReadonlySet<string>
}

/**
 * How many due jobs of usual priority an endpoint may have in the queue, as far as this process knows: those that it added
 * itself since a claim, and what the claim left. Of workspaces that use fewer slots than the claim gave others, nothing is
 * left but what their endpoints have no room for. A claim only takes jobs away: where it may have left some, no more are left
 * than were known before. Jobs of low priority are not counted, since new jobs come before them anyway.
 */
export class Backlog {
  /** By endpoint; those that are not here have none. */
  #waiting = new Map<string, Waiting>()
  /** What was known when the claim under way began, which is to find those jobs. */
  #before: Before | null = null
  /** Whether any endpoint may have due jobs. */
  #isUnknown = true
  /** Whether others added jobs that the claim under way does not find, nobody knows for whom. */
  #isNews = false
  /** Workspaces of which any endpoint may have due jobs. */
  #unknown: ReadonlySet<string> = new Set()

  /** How many due jobs of an endpoint of a workspace may wait, at most. */
  of(group: string, workspace: string): number {
    if (this.#isUnknown || this.#unknown.has(workspace)) return Infinity
    return (this.#waiting.get(group)?.jobs ?? 0) + (this.#before?.waiting.get(group)?.jobs ?? 0)
  }

  /** Whether no endpoint has due jobs, but those that `skips` names. May answer no where it would take long to tell. */
  isEmptyBut(skips: (group: string) => boolean): boolean {
    if (this.#isUnknown || this.#unknown.size > 0) return false
    if (this.#waiting.size > maxLooked || (this.#before?.waiting.size ?? 0) > maxLooked) return false
    for (const group of this.#waiting.keys()) if (!skips(group)) return false
    for (const group of this.#before?.waiting.keys() ?? []) if (!skips(group)) return false
    return true
  }

  /** Jobs were added to the queue. Jobs that fall due later do not matter: they come when they are due. */
  added(jobs: readonly Job[], now: number): void {
    for (const { group, workspace, due_at, priority } of jobs) {
      if (due_at <= now && priority !== 'low') this.#add(group, workspace, 1)
    }
  }

  /** Other processes added jobs, or gave some back. */
  addedElsewhere(): void {
    this.#isUnknown = true
    this.#isNews = true
  }

  /** A claim begins. It finds the jobs that were added until now. Answers the endpoints that may have some. */
  claimBegins(): Iterable<string> {
    if (this.#before !== null) this.#isUnknown = true // the claim before failed
    this.#before = { waiting: this.#waiting, isUnknown: this.#isUnknown, unknown: this.#unknown }
    this.#waiting = new Map()
    this.#isNews = false
    return this.#before.waiting.keys()
  }

  /** A claim ended. `surplus`: those of its jobs that went back to the queue. */
  claimed(request: SlotRequest, claims: readonly Claim[], surplus: readonly Claim[]): void {
    const before = this.#before! // a claim began
    this.#before = null
    const { busy, cap, leaveOut } = request
    const taken = countBy(claims, 'group')
    const groups = sums(busy.groups, taken)
    const workspaces = sums(busy.workspaces, countBy(claims, 'workspace'))
    const level = levelReached(request, claims, workspaces)
    const wasCut = (workspace: string): boolean => level <= 1 || (workspaces.get(workspace) ?? 0) + 1 >= level
    const wasPassed = (group: string): boolean => leaveOut.has(group) || (groups.get(group) ?? 0) >= cap
    this.#isUnknown = this.#isNews || (before.isUnknown && level <= 1)
    let isVague = before.isUnknown
    for (const [group, { workspace, jobs }] of before.waiting) {
      if (workspace === null) isVague = true
      if (!wasPassed(group) && (workspace === null ? level > 1 : !wasCut(workspace))) continue
      const left = jobs - (taken.get(group) ?? 0)
      if (left > 0) this.#add(group, workspace, left)
    }
    for (const { group, workspace } of claims) {
      // The claim took more than were known, since some fell due: there may be still more of them.
      const isMore = taken.get(group)! > (before.waiting.get(group)?.jobs ?? 0)
      if (isMore && (wasPassed(group) || wasCut(workspace))) this.#add(group, workspace, Infinity)
    }
    // Where the workspace of an endpoint is not known, the endpoint may be of any workspace that was cut short.
    this.#unknown = new Set([...(isVague ? workspaces.keys() : []), ...before.unknown].filter(wasCut))
    if (before.isUnknown || before.unknown.size > 0) {
      for (const group of leaveOut) this.#add(group, null, Infinity)
      for (const group of groups.keys()) if (wasPassed(group)) this.#add(group, null, Infinity)
    }
    for (const { group, workspace } of surplus) this.#add(group, workspace, Infinity)
  }

  #add(group: string, workspace: string | null, jobs: number): void {
    if (this.#waiting.size >= maxGroups) this.#isUnknown = true
    else this.#waiting.set(group, { workspace, jobs: (this.#waiting.get(group)?.jobs ?? 0) + jobs })
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
