import type { EngineClock } from '../contracts/clock.ts'
import type { Claim, Job } from '../contracts/queue.ts'
import { startTimer } from '../runtime/timer.ts'
import type { Sent } from '../services/loaded-attempt.ts'
import { Backlog } from './backlog.ts'
import { TenantSlots, type SlotRequest } from './tenant-slots.ts'
import { Pace } from './pace.ts'
import { SlowEndpoints } from './slow-endpoints.ts'
import { Spread } from './spread.ts'
import type { Wakeup } from './wakeup.ts'

/** The most jobs that a claim takes. */
const maxClaims = 500

/** While slots are in use and nothing is known to wait in the queue, claims that look for what fell due are so far apart. */
export const fallenDueMs = 50

/** Claims for more jobs of endpoints that have answered for the first time are so far apart. */
const provenGapMs = 20

/** Where jobs of this process wait for slots. */
interface Room {
  has(group: string): boolean
  /** Endpoints that the claim that begins now leaves out. */
  leftOut(): Iterable<string>
  /** A slot is free: one of this endpoint, or, with null, nobody knows of which. */
  freed(group: string | null): void
  /** A claim had its turn. */
  claimed(): void
}

interface Asking {
  readonly paced: boolean
  readonly leaveOut: Iterable<string>
  readonly ahead: (group: string) => number
}

/**
 * The slots of this process: who uses them, and who may have more. Whether a new claim is worth the cost is decided here
 * alone. A slot is a request in flight, free again when the request has ended. The hold on the job ends when the outcome is
 * stored. There are at most twice as many holds as slots.
 */
export class Slots {
  readonly #concurrency: number
  readonly #perEndpoint: number
  readonly #clock: EngineClock
  readonly #wakeup: Wakeup
  readonly #inUse: TenantSlots
  readonly #slow: SlowEndpoints
  readonly #spread: Spread
  /** How quickly requests begin. */
  readonly pace: Pace
  /** What may wait in the queue. */
  readonly backlog = new Backlog()
  #room: Room | null = null
  #holds = 0
  /** When endpoints that answered for the first time woke last, or will wake. */
  #provenAt = -Infinity
  /** Whether the last claim brought jobs for which no slot was free: then the next claim has to look past them. */
  #hadSurplus = false
  /** The timer of the next turn of slow and new endpoints. Each claim is a turn, and stops the timer. */
  #turn: { readonly at: number; readonly stop: () => void } | null = null

  /**
   * @param wakeup wakes the loop that claims.
   * @param leastMs the least time that a request to an endpoint took lately; null where nobody knows.
   */
  constructor(
    { concurrency, perEndpoint }: { readonly concurrency: number; readonly perEndpoint: number },
    clock: EngineClock,
    wakeup: Wakeup,
    leastMs: (group: string) => number | null = () => null,
  ) {
    this.#concurrency = concurrency
    this.#perEndpoint = perEndpoint
    this.#clock = clock
    this.#wakeup = wakeup
    this.#inUse = new TenantSlots(concurrency, perEndpoint)
    this.#spread = new Spread(concurrency, clock)
    this.pace = new Pace(clock, leastMs, () => this.#room?.freed(null))
    this.#slow = new SlowEndpoints(concurrency, clock, (group) => this.#inUse.byGroup.get(group) ?? 0)
  }

  /** How many jobs a claim may take now. */
  mayClaim(): number {
    return Math.max(Math.min(this.#inUse.free, 2 * this.#concurrency - this.#holds, maxClaims), 0)
  }

  /**
   * What to ask of a claim that begins now. `paced`: a few jobs at a time where requests take long. `leaveOut`: endpoints
   * that may not be claimed for other reasons than slots. `ahead`: how many jobs of an endpoint may wait here for a slot.
   */
  claimRequest({ paced, leaveOut, ahead }: Asking): SlotRequest {
    this.#turn?.stop()
    this.#turn = null
    const busy = new Set([...this.#inUse.byGroup.keys(), ...this.backlog.claimBegins()])
    const { chosen, leftOut } = this.#slow.choose(paced)
    this.#inUse.allowAhead(busy, ahead)
    const groups = new Map(this.#inUse.byGroup)
    const low = new Map(this.#inUse.low)
    for (const [group, more] of this.#inUse.ahead) {
      groups.set(group, (groups.get(group) ?? 0) - more)
      low.set(group, (low.get(group) ?? 0) - this.#inUse.lowAhead(group))
    }
    for (const group of chosen) groups.set(group, this.#perEndpoint - 1) // so that the claim takes a single job
    return {
      limit: paced && !this.#hadSurplus ? Math.min(this.mayClaim(), this.#spread.atOnce()) : this.mayClaim(),
      free: this.#inUse.free,
      cap: this.#perEndpoint,
      busy: { workspaces: new Map(this.#inUse.byWorkspace), groups, low },
      leaveOut: new Set([...leftOut, ...leaveOut, ...(this.#room?.leftOut() ?? [])]),
    }
  }

  /** Gives slots to claimed jobs. `surplus`: jobs for which slow and new endpoints have no slot, to be given back. */
  taken(claims: readonly Claim[], request: SlotRequest): { admitted: readonly Claim[]; surplus: readonly Claim[] } {
    const { admitted, surplus } = this.#slow.admit(claims)
    this.#hadSurplus = surplus.length > 0
    const isLimited = claims.length >= request.limit && request.limit < this.mayClaim()
    this.#inUse.take(admitted)
    for (const { workspace } of admitted) this.pace.sees(workspace)
    this.#spread.began(admitted.flatMap(({ id, group }) => (this.#slow.has(group) ? [] : id)))
    this.#holds += admitted.length
    this.backlog.claimed(request, claims, surplus)
    if (isLimited) this.#wakeup.wake('more')
    // Others may have the slots that the surplus did not get.
    if (surplus.length > 0 || this.#wasCutShort(admitted, request)) this.#wakeup.wake('freed')
    this.#wakeForTurn()
    this.#room?.claimed()
    return { admitted, surplus }
  }

  /** Tells the room of slots that fall free. */
  attach(room: Room): void {
    this.#room = room
  }

  /** A due job is about to be added to the queue: a claim brings one of each new endpoint, and no more than may be sent. */
  expect(job: Job): void {
    this.#slow.expect(job)
  }

  /** This process added jobs to the queue. */
  queued(jobs: readonly Job[], now: number): void {
    this.backlog.added(jobs, now)
    for (const job of jobs) if (job.due_at <= now) this.#slow.expect(job)
  }

  /** Whether a workspace may have a slot without a claim. */
  mayTakeAtOnce(workspace: string): boolean {
    return this.mayClaim() > 0 && this.#inUse.mayTakeAtOnce(workspace)
  }

  /**
   * Whether a new job may use a slot at once, without a claim: nobody else waits for the slot, the endpoint answers, and it
   * has room for what may wait for it too.
   */
  mayHand(workspace: string, group: string): boolean {
    return (
      this.mayTakeAtOnce(workspace) &&
      this.pace.allows(workspace) &&
      this.#slow.isProven(group) &&
      this.#inUse.roomOf(group) > this.backlog.of(group, workspace)
    )
  }

  /**
   * Whether a job of a workspace that waits in this process may have a slot: as many as claims would give the workspace, and
   * what waits in the queue comes first. `afterClaim`: it had its turn.
   */
  mayBegin(workspace: string, afterClaim: boolean): boolean {
    if (this.mayClaim() === 0 || this.#inUse.isAtShare(workspace) || !this.pace.allows(workspace)) return false
    return afterClaim || this.#inUse.mayTakeAtOnce(workspace) || !this.#othersWait()
  }

  /** Whether jobs may wait in the queue that a claim might bring now. */
  #othersWait(): boolean {
    return !this.backlog.isEmptyBut((group) => this.#room?.has(group) === true)
  }

  /** Whether a new job may wait in this process for a slot: the endpoint answers quickly, and nothing older waits in the queue. */
  mayWait(workspace: string, group: string): boolean {
    return this.#slow.isProven(group) && this.#spread.gapMs() === 0 && this.backlog.of(group, workspace) === 0
  }

  /** Whether an endpoint answered the last try in time. */
  isProven(group: string): boolean {
    return this.#slow.isProven(group)
  }

  /** Whether an endpoint uses fewer slots than it may. */
  hasSlotOf(group: string): boolean {
    return (this.#inUse.byGroup.get(group) ?? 0) < this.#perEndpoint
  }

  /** Gives a slot to a job that no claim brought. `isStored`: its request may begin now; else `pace.stored` is called then. */
  handed(claim: Claim, { isStored }: { isStored: boolean }): void {
    this.#inUse.take([claim])
    this.#spread.began([claim.id])
    this.#holds++
    this.pace.sees(claim.workspace)
    this.pace.begins(claim, isStored)
  }

  /** Whether a claim stopped at the cap of an endpoint, or the share of a workspace, that slots fell free of meanwhile. */
  #wasCutShort(claims: readonly Claim[], request: SlotRequest): boolean {
    for (const group of this.#inUse.groupsBelowCapSince(request, claims)) if (!this.#slow.has(group)) return true
    return this.#inUse.someWorkspaceBelowShareSince(request, claims)
  }

  /**
   * A try ended, or is not made. `slow`: whether the endpoint was slow, or that nothing was sent to it; null when nobody knows.
   * Wakes when a job may be claimed now that could not be claimed before.
   */
  freed(claim: Claim, slow: Sent['slow'] | null): void {
    const wasFull = this.mayClaim() === 0
    const { workspace, group, priority } = claim
    const wasAtCap =
      (this.#inUse.isShort(group) && this.backlog.of(group, workspace) > 0 && this.#room?.has(group) !== true) ||
      (priority === 'low' && this.#inUse.isShortOfLow(group))
    this.#spread.ended(claim.id)
    this.pace.ended(claim)
    const isProven = slow !== null && this.#slow.ended(claim, slow)
    const wasAtShare = this.#inUse.release(claim)
    this.#slow.freed(claim.group)
    const mayBring = wasFull || wasAtCap || (wasAtShare && this.#othersWait())
    if (mayBring) this.#wakeup.wake('freed')
    else if (isProven && this.backlog.of(group, workspace) > 0) this.#wakeForProven()
    else {
      this.#wakeForTurn()
      if (isProven) this.#wakeup.wakeIn(fallenDueMs, 'proven') // nobody knows of jobs of low priority
    }
    if (wasAtShare && !mayBring) this.#wakeup.wakeIn(fallenDueMs, 'freed')
    this.#room?.freed(group)
  }

  /** An endpoint that has more jobs may have more requests than the one that ended. */
  #wakeForProven(): void {
    const now = this.#clock.elapsed()
    if (this.#provenAt > now) return // that claim finds them too
    this.#provenAt = Math.max(this.#provenAt + provenGapMs, now)
    this.#wakeup.wakeIn(this.#provenAt - now, 'proven') // at once, where it was long ago
  }

  /** The hold on a job ended. */
  holdEnded(): void {
    const wasFull = this.mayClaim() === 0
    this.#holds--
    if (!wasFull) return
    this.#wakeup.wake('freed')
    this.#room?.freed(null)
  }

  /** Whether an endpoint is slow or new, and so gets a single request at a time. */
  isSlowOrNew(group: string): boolean {
    return this.#slow.has(group)
  }

  /** Milliseconds between two claims, unless new jobs come. */
  gapMs(): number {
    return this.#spread.gapMs()
  }

  /** Whether more jobs may wait than slots allow: a workspace alone gets three quarters of the slots. */
  areMostlyInUse(): boolean {
    return 2 * this.#inUse.free < this.#concurrency
  }

  /** Milliseconds until a new endpoint may get a slot although no request ends. Infinity: never. */
  untilRoom(): number {
    return this.#slow.untilSilent()
  }

  #wakeForTurn(): void {
    const ms = this.#slow.untilTurn()
    if (ms === null) return
    const at = this.#clock.elapsed() + ms
    if (this.#turn !== null && this.#turn.at <= at) return
    this.#turn?.stop()
    const stop = startTimer(this.#clock, ms, () => {
      this.#turn = null
      this.#wakeup.wake('turn')
    })
    this.#turn = { at, stop }
  }
}
