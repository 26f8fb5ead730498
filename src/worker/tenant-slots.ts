import type { Claim, ClaimOptions } from '../contracts/queue.ts'
import { maxLow } from '../core/job-rank.ts'
import { maxFor, mayTakeAtOnce } from '../core/fair-share.ts'

/** What a claim is asked for, as far as slots decide it. */
export type SlotRequest = Pick<ClaimOptions, 'limit' | 'free' | 'cap' | 'busy' | 'leaveOut'>

/** Counts the slots in use: all of them, those of each workspace, and those of each endpoint. */
export class TenantSlots {
  readonly byWorkspace = new Map<string, number>()
  readonly byGroup = new Map<string, number>()
  /** Of `byGroup`, those of jobs of low priority. */
  readonly low = new Map<string, number>()
  /** How many jobs of an endpoint may be held beyond `perEndpoint`, to wait for a slot here. */
  readonly ahead = new Map<string, number>()
  readonly #concurrency: number
  readonly #perEndpoint: number
  #used = 0

  /** `concurrency`: all slots of this process. `perEndpoint`: the most slots that an endpoint may use. */
  constructor(concurrency: number, perEndpoint: number) {
    this.#concurrency = concurrency
    this.#perEndpoint = perEndpoint
  }

  get free(): number {
    return this.#concurrency - this.#used
  }

  take(claims: readonly Claim[]): void {
    this.#used += claims.length
    for (const { workspace, group, priority } of claims) {
      change(this.byWorkspace, workspace, 1)
      change(this.byGroup, group, 1)
      if (priority === 'low') change(this.low, group, 1)
    }
  }

  /** Answers whether a workspace used as many slots as it might, and may use more now. */
  release({ workspace, group, priority }: Claim): boolean {
    const maxBefore = maxFor(this.free)
    const mayBeAtShare = this.#used >= maxBefore // no workspace is, while most slots are free
    this.#used--
    change(this.byWorkspace, workspace, -1)
    change(this.byGroup, group, -1)
    if (priority === 'low') change(this.low, group, -1)
    if (!mayBeAtShare) return false
    const max = maxFor(this.free)
    const own = this.byWorkspace.get(workspace) ?? 0
    if (own + 1 >= maxBefore && own < max) return true
    for (const used of this.byWorkspace.values()) if (used >= maxBefore && used < max) return true
    return false
  }

  /** Whether an endpoint uses as many slots as it may, or its jobs of low priority do. */
  isAtCap(group: string): boolean {
    const low = this.low.get(group) ?? 0
    return this.roomOf(group) <= 0 || low >= maxLow(this.#perEndpoint) + this.lowAhead(group)
  }

  /** How many jobs of an endpoint may be held more. */
  roomOf(group: string): number {
    return this.#perEndpoint + (this.ahead.get(group) ?? 0) - (this.byGroup.get(group) ?? 0)
  }

  /** How many jobs of low priority may be held beyond those that may be in flight: as with slots, a quarter. */
  lowAhead(group: string): number {
    return Math.floor((this.ahead.get(group) ?? 0) / 4)
  }

  /** Whether an endpoint has so few jobs here that a claim should bring more. */
  isShort(group: string): boolean {
    const used = this.byGroup.get(group) ?? 0
    return used >= this.#perEndpoint && used <= this.#perEndpoint + (this.ahead.get(group) ?? 0) / 2
  }

  /** The same for its jobs of low priority. */
  isShortOfLow(group: string): boolean {
    const used = this.low.get(group) ?? 0
    const max = maxLow(this.#perEndpoint)
    return used >= max && used <= max + this.lowAhead(group) / 2
  }

  /**
   * Allows each of the endpoints as many jobs ahead as it may have, while most slots are free: half of the slots are left
   * for requests to others.
   */
  allowAhead(groups: ReadonlySet<string>, maxAhead: (group: string) => number): void {
    this.ahead.clear()
    const each = Math.floor(Math.max(2 * this.free - this.#concurrency, 0) / 2 / Math.max(groups.size, 1))
    if (each === 0) return
    for (const group of groups) {
      const ahead = Math.min(maxAhead(group), each)
      if (ahead > 0) this.ahead.set(group, ahead)
    }
  }

  /** Whether a workspace uses as many slots as it may. */
  isAtShare(workspace: string): boolean {
    return (this.byWorkspace.get(workspace) ?? 0) >= maxFor(this.free)
  }

  /** Whether a workspace may have one of these slots without a claim. */
  mayTakeAtOnce(workspace: string): boolean {
    return mayTakeAtOnce(this.byWorkspace.get(workspace) ?? 0, this.free, this.#concurrency)
  }

  /** Endpoints that were at their cap after a claim, and are below it by now. */
  *groupsBelowCapSince({ busy, cap }: SlotRequest, claims: readonly Claim[]): Generator<string, void> {
    const low = countBy(
      claims.filter(({ priority }) => priority === 'low'),
      'group',
    )
    for (const [group, count] of countBy(claims, 'group')) {
      const wasAtCap =
        (busy.groups.get(group) ?? 0) + count >= cap ||
        (low.has(group) && (busy.low.get(group) ?? 0) + low.get(group)! >= maxLow(cap))
      if (wasAtCap && !this.isAtCap(group)) yield group
    }
  }

  /** Whether a workspace was at its share after a claim, and is below it by now, as more slots are free. */
  someWorkspaceBelowShareSince({ busy, free }: SlotRequest, claims: readonly Claim[]): boolean {
    const freeThen = free - claims.length
    if (freeThen >= this.free) return false
    for (const [workspace, count] of countBy(claims, 'workspace')) {
      const wasAtShare = (busy.workspaces.get(workspace) ?? 0) + count >= maxFor(freeThen)
      if (wasAtShare && !this.isAtShare(workspace)) return true
    }
    return false
  }
}

/** How many claims there are of each endpoint or workspace. */
export function countBy(claims: readonly Claim[], key: 'group' | 'workspace'): Map<string, number> {
  const counts = new Map<string, number>()
  for (const claim of claims) change(counts, claim[key], 1)
  return counts
}

/** Changes a count. A count of 0 is removed. */
function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
