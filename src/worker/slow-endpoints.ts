import type { Claim } from '../contracts/queue.ts'
import { mayTake } from '../core/share.ts'
import { watchlist, type Watched } from './watchlist.ts'

/** More endpoints than this of a kind are not watched, and more are not remembered to have answered. */
const mostWatched = 2000
const mostProven = 10_000
/** A new endpoint that has not answered its first request after this time counts as slow. */
const silentAfterMs = 500
/** The wait before a claim for watched endpoints, so that one claim serves several slots that fell free. */
const gatherMs = 5
/** Tries of slow endpoints are at least, and at most, this far apart. */
const leastGapMs = 5
const mostGapMs = 25

/**
 * Endpoints that are watched: they get one request at a time.
 *
 * - A slow endpoint: its last try timed out, could not connect, or did not end its answer in time. A new endpoint whose
 *   first try is silent for half a second counts as slow too. All slow endpoints together use at most half of the slots.
 * - A new endpoint: none of its tries has ended in this process. All new endpoints together use at most a quarter. Were
 *   they trusted at once, a few silent ones would fill all slots, above all after a start.
 *
 * So a quarter of the slots is always left for endpoints that are known to answer. Workspaces share both parts by dynamic
 * thresholds and take turns in them, as they do in all slots.
 */
export interface SlowEndpoints {
  /** Chooses the watched endpoints of which the next claim may take one job. `paced`: slow endpoints go a few at a time. */
  choose(paced: boolean): { readonly chosen: ReadonlySet<string>; readonly leftOut: ReadonlySet<string> }
  /** Learns what a claim brought. Jobs beyond the shares are surplus: a claim may bring several jobs of a new endpoint. */
  admit(claims: readonly Claim[]): { readonly admitted: readonly Claim[]; readonly surplus: readonly Claim[] }
  has(group: string): boolean
  /** Learns how a try ended; answers whether the endpoint may have more requests at once than before. */
  ended(claim: Claim, slow: boolean): boolean
  /** Learns that a slot of the endpoint is free. */
  freed(group: string): void
  /** Milliseconds until a waiting job of a watched endpoint may be claimed; null when no such job is known, or none may. */
  untilTurn(): number | null
  /** Milliseconds until a new endpoint that is being tried counts as slow, so that its slot goes to another new one. */
  untilSilent(): number
}

/**
 * @param elapsed the monotonic clock, milliseconds.
 * @param slotsOf the slots that an endpoint uses.
 */
export function slowEndpoints(
  concurrency: number,
  elapsed: () => number,
  slotsOf: (group: string) => number,
): SlowEndpoints {
  const list = watchlist({
    slow: Math.max(Math.floor(concurrency / 2), 1),
    new: Math.max(Math.floor(concurrency / 4), 1),
  })
  const proven = new Set<string>()
  const slowAtOnce = Math.max(Math.round(concurrency / 64), 1)
  const newAtOnce = Math.max(Math.round(concurrency / 8), 1)
  let chosen: ReadonlySet<string> = new Set()
  let slowChosenAt = -Infinity
  /** How long the tries of slow endpoints took lately. */
  let slowTakesMs = 0

  /**
   * Tries of slow endpoints go so far apart as fills their slots while a try takes what the last ones took: were all tried
   * together, their timeouts would come together too, again and again.
   */
  function slowGapMs(): number {
    return Math.min(Math.max((2 * slowTakesMs) / concurrency, leastGapMs), mostGapMs)
  }

  function countSilentAsSlow(): void {
    for (const one of list.tried('new')) {
      if (elapsed() - one.triedAt < silentAfterMs || list.free('slow') < 1) return
      list.put({ ...one, kind: 'slow' })
    }
  }

  function choose(paced: boolean): { chosen: ReadonlySet<string>; leftOut: ReadonlySet<string> } {
    countSilentAsSlow()
    const turns = Math.round((elapsed() - slowChosenAt) / slowGapMs())
    const slow = list.choose('slow', paced ? Math.min(turns, slowAtOnce) : slowAtOnce)
    if (slow.length > 0) slowChosenAt = elapsed()
    chosen = new Set([...slow, ...list.choose('new', newAtOnce)])
    const leftOut = new Set<string>()
    for (const group of list.groups()) if (!chosen.has(group)) leftOut.add(group)
    return { chosen, leftOut }
  }

  function admit(claims: readonly Claim[]): { admitted: Claim[]; surplus: Claim[] } {
    for (const group of chosen) list.foundNothing(group) // what came of it is seen below
    const admitted: Claim[] = []
    const surplus: Claim[] = []
    for (const claim of claims) {
      const one = list.get(claim.group) ?? strange(claim)
      if (one === null) admitted.push(claim)
      else if (one.slots > 0) surplus.push(claim)
      else if (mayTake(list.slotsOf(one.kind, one.workspace), list.free(one.kind))) {
        list.put({ ...one, slots: 1, isWaiting: false, triedAt: elapsed() })
        admitted.push(claim)
      } else {
        list.put({ ...one, isWaiting: true })
        surplus.push(claim)
      }
    }
    return { admitted, surplus }
  }

  /** Watches an endpoint that this process knows nothing of; null when it is known to answer, or too many are watched. */
  function strange({ group, workspace }: Claim): Watched | null {
    if (proven.has(group) || list.count('new') >= mostWatched) return null
    const one: Watched = { group, workspace, kind: 'new', slots: 0, isWaiting: false, triedAt: elapsed() }
    list.put(one)
    return one
  }

  function ended({ group, workspace }: Claim, slow: boolean): boolean {
    const one = list.get(group)
    if (one?.kind === 'slow') slowTakesMs += (elapsed() - one.triedAt - slowTakesMs) / 4
    if (slow) {
      proven.delete(group)
      if (one?.kind === 'slow') return false
      if (one !== undefined) list.remove(group)
      const triedAt = one?.triedAt ?? elapsed()
      if (list.count('slow') < mostWatched) {
        list.put({ group, workspace, kind: 'slow', slots: slotsOf(group), isWaiting: false, triedAt })
      }
      return false
    }
    if (proven.size >= mostProven) proven.clear() // they prove themselves anew
    proven.add(group)
    list.remove(group)
    return one !== undefined
  }

  return {
    choose,
    admit,
    ended,
    has: (group) => list.get(group) !== undefined,
    freed(group) {
      const one = list.get(group)
      if (one !== undefined) list.put({ ...one, slots: one.slots - 1, isWaiting: one.slots === 1 })
    },
    untilTurn() {
      if (list.mayTry('new')) return gatherMs
      return list.mayTry('slow') ? Math.max(slowChosenAt + slowGapMs() - elapsed(), gatherMs) : null
    },
    untilSilent() {
      if (list.free('slow') < 1) return Infinity
      for (const { triedAt } of list.tried('new')) return Math.max(triedAt + silentAfterMs - elapsed(), 1) // the oldest
      return Infinity
    },
  }
}
