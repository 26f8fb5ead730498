import type { EngineClock } from '../contracts/clock.ts'
import type { Claim, Job } from '../contracts/queue.ts'
import { mayTake } from '../core/fair-share.ts'
import type { Sent } from '../services/loaded-attempt.ts'
import type { Watched } from './watched.ts'
import { Watchlist } from './watchlist.ts'

/** More endpoints of a kind than this are not watched, and more are not remembered to have answered. */
const maxWatched = 2000
const maxProven = 50_000
/** A new endpoint that has not answered the first request after this time counts as slow. */
const silentAfterMs = 500
/** The wait before a claim for watched endpoints, so that a single claim fills several slots that fell free. */
const gatherMs = 5
/** Claims for new endpoints are at least so far apart. */
const newGapMs = 20
/** Tries of slow endpoints are at least, and at most, this far apart. */
const minGapMs = 5
const maxGapMs = 25

/**
 * Watched endpoints get a single request at a time. They are of two kinds:
 *
 * - Slow endpoints: the last try timed out, could not connect, or the answer did not end in time or within its bounds. A new endpoint that is
 *   silent for half a second counts as slow too. All slow endpoints together use at most half of the slots.
 * - New endpoints: no try has ended in this process. All new endpoints together use at most a quarter of the slots.
 *   Without this bound a few silent endpoints would fill all slots, above all after a start.
 *
 * So a quarter of the slots is always left for endpoints that are known to answer (`proven`). Workspaces share both parts
 * by dynamic thresholds and take turns in them, as they do in all slots.
 */
export class SlowEndpoints {
  readonly #concurrency: number
  readonly #clock: EngineClock
  readonly #slotsOf: (group: string) => number
  readonly #list: Watchlist
  readonly #proven = new Set<string>()
  /** Watched endpoints that the claim under way may take a job of. */
  #chosen: ReadonlySet<string> = new Set()
  #slowChosenAt = -Infinity
  #newChosenAt = -Infinity
  /** How long recent tries of slow endpoints took, as a moving average. */
  #slowTakesMs = 0

  /** @param slotsOf how many slots an endpoint uses. */
  constructor(concurrency: number, clock: EngineClock, slotsOf: (group: string) => number) {
    this.#concurrency = concurrency
    this.#clock = clock
    this.#slotsOf = slotsOf
    this.#list = new Watchlist({
      slow: Math.max(Math.floor(concurrency / 2), 1),
      new: Math.max(Math.floor(concurrency / 4), 1),
    })
  }

  /**
   * Chooses the watched endpoints that may give the next claim one job each. The others are left out. `paced`: a few
   * slow endpoints at a time.
   */
  choose(paced: boolean): { readonly chosen: ReadonlySet<string>; readonly leftOut: ReadonlySet<string> } {
    this.#countSilentAsSlow()
    const slowAtOnce = Math.max(Math.round(this.#concurrency / 64), 1)
    const turns = Math.round((this.#clock.elapsed() - this.#slowChosenAt) / this.#slowGapMs())
    const slow = this.#list.choose('slow', paced ? Math.min(turns, slowAtOnce) : slowAtOnce)
    if (slow.length > 0) this.#slowChosenAt = this.#clock.elapsed()
    const fresh = this.#list.choose('new', Infinity)
    if (fresh.length > 0) this.#newChosenAt = this.#clock.elapsed()
    const chosen = new Set([...slow, ...fresh])
    this.#chosen = chosen
    const leftOut = new Set<string>()
    for (const group of this.#list.groups()) if (!chosen.has(group)) leftOut.add(group)
    return { chosen, leftOut }
  }

  #countSilentAsSlow(): void {
    for (const watched of this.#list.tried('new')) {
      const isSilent = this.#clock.elapsed() - watched.triedAt >= silentAfterMs
      if (!isSilent || this.#list.free('slow') < 1) return // the others were tried later
      this.#list.put({ ...watched, kind: 'slow' })
    }
  }

  /**
   * The time between two tries of slow endpoints: as many tries as there are slots begin in the time that a try takes.
   * Tries that begin together time out together, and would do so again and again.
   */
  #slowGapMs(): number {
    return Math.min(Math.max((2 * this.#slowTakesMs) / this.#concurrency, minGapMs), maxGapMs)
  }

  /** Divides claimed jobs. `surplus`: a claim may bring several jobs of a new endpoint, or more than the share allows. */
  admit(claims: readonly Claim[]): { readonly admitted: readonly Claim[]; readonly surplus: readonly Claim[] } {
    for (const group of this.#chosen) this.#list.foundNothing(group) // unless a job of the group is found below
    const admitted: Claim[] = []
    const surplus: Claim[] = []
    for (const claim of claims) {
      const watched = this.#list.get(claim.group) ?? this.#watchIfNew(claim)
      if (watched === null) admitted.push(claim)
      else if (watched.slots > 0) surplus.push(claim)
      else if (mayTake(this.#list.slotsOf(watched.kind, watched.workspace), this.#list.free(watched.kind))) {
        this.#list.put({ ...watched, slots: 1, isWaiting: false, triedAt: this.#clock.elapsed() })
        admitted.push(claim)
      } else {
        this.#list.put({ ...watched, isWaiting: true })
        surplus.push(claim)
      }
    }
    return { admitted, surplus }
  }

  /** A due job is added to the queue: where the endpoint is new, a turn may bring that job, and no claim brings more. */
  expect({ group, workspace }: Job): void {
    const watched = this.#list.get(group)
    if (watched === undefined) this.#watchIfNew({ group, workspace }, { isWaiting: true })
    else if (watched.kind === 'new' && watched.slots === 0 && !watched.isWaiting) {
      this.#list.put({ ...watched, isWaiting: true })
    }
  }

  /** Null when the endpoint is known to answer, or when too many are watched. */
  #watchIfNew(
    { group, workspace }: Pick<Job, 'group' | 'workspace'>,
    { isWaiting } = { isWaiting: false },
  ): Watched | null {
    if (this.#proven.has(group) || this.#list.count('new') >= maxWatched) return null
    const triedAt = this.#clock.elapsed()
    const watched: Watched = { group, workspace, kind: 'new', slots: 0, isWaiting, triedAt }
    this.#list.put(watched)
    return watched
  }

  /** Whether the last try of the endpoint was answered in time. */
  isProven(group: string): boolean {
    return this.#proven.has(group)
  }

  has(group: string): boolean {
    return this.#list.get(group) !== undefined
  }

  /**
   * A try ended. Answers whether the endpoint may have more requests at once than before. Where nothing was sent a slow endpoint
   * stays slow, but a new one is no longer new: many such tries may wait, and each ends at once.
   */
  ended(claim: Claim, slow: Sent['slow']): boolean {
    const watched = this.#list.get(claim.group)
    if (watched?.kind === 'slow') {
      if (slow === 'unsent') return false
      const tookMs = this.#clock.elapsed() - watched.triedAt
      this.#slowTakesMs += (tookMs - this.#slowTakesMs) / 4
    }
    if (slow === true) this.#becameSlow(claim, watched)
    else this.#answered(claim.group)
    return slow !== true && watched !== undefined
  }

  #becameSlow({ group, workspace }: Claim, watched: Watched | undefined): void {
    this.#proven.delete(group)
    if (watched?.kind === 'slow') return
    if (watched !== undefined) this.#list.remove(group)
    if (this.#list.count('slow') >= maxWatched) return
    const triedAt = watched?.triedAt ?? this.#clock.elapsed()
    this.#list.put({ group, workspace, kind: 'slow', slots: this.#slotsOf(group), isWaiting: false, triedAt })
  }

  #answered(group: string): void {
    this.#list.remove(group)
    if (this.#proven.has(group)) return
    this.#proven.add(group)
    if (this.#proven.size <= maxProven) return
    const [oldest] = this.#proven
    this.#proven.delete(oldest!) // it has to answer anew
  }

  /** A slot of the endpoint is free. */
  freed(group: string): void {
    const watched = this.#list.get(group)
    if (watched === undefined) return
    this.#list.put({ ...watched, slots: watched.slots - 1, isWaiting: watched.slots === 1 })
  }

  /**
   * Milliseconds until a waiting job of a watched endpoint may be claimed; null when no job waits, or no slot is free
   * for it.
   */
  untilTurn(): number | null {
    if (this.#list.mayTry('new')) return Math.max(this.#newChosenAt + newGapMs - this.#clock.elapsed(), gatherMs)
    if (!this.#list.mayTry('slow')) return null
    return Math.max(this.#slowChosenAt + this.#slowGapMs() - this.#clock.elapsed(), gatherMs)
  }

  /** Milliseconds until a new endpoint counts as slow, so that another new endpoint may be tried; Infinity when none does. */
  untilSilent(): number {
    if (this.#list.free('slow') < 1) return Infinity
    const [first] = this.#list.tried('new')
    return first === undefined ? Infinity : Math.max(first.triedAt + silentAfterMs - this.#clock.elapsed(), 1)
  }
}
