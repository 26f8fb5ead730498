import type { EngineClock } from '../contracts/clock.ts'
import type { Claim } from '../contracts/queue.ts'
import { startTimer } from '../runtime/timer.ts'
import { Backlog } from './backlog.ts'
import { TenantSlots, type SlotRequest } from './tenant-slots.ts'
import { SlowEndpoints } from './slow-endpoints.ts'
import { Spread } from './spread.ts'
import type { Wakeup } from './wakeup.ts'

/** The most jobs that a claim takes. */
const maxClaims = 500

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
  /** What may wait in the queue. */
  readonly backlog = new Backlog()
  #holds = 0
  /** Whether the last claim brought jobs for which no slot was free: then the next claim has to look past them. */
  #hadSurplus = false
  /** The timer of the next turn of slow and new endpoints. Each claim is a turn, and stops the timer. */
  #turn: { readonly at: number; readonly stop: () => void } | null = null

  /** @param wakeup wakes the loop that claims. */
  constructor(
    { concurrency, perEndpoint }: { readonly concurrency: number; readonly perEndpoint: number },
    clock: EngineClock,
    wakeup: Wakeup,
  ) {
    this.#concurrency = concurrency
    this.#perEndpoint = perEndpoint
    this.#clock = clock
    this.#wakeup = wakeup
    this.#inUse = new TenantSlots(concurrency, perEndpoint)
    this.#spread = new Spread(concurrency, clock)
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
  request({ paced, leaveOut, ahead }: Asking): SlotRequest {
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
      leaveOut: new Set([...leftOut, ...leaveOut]),
    }
  }

  /** Gives slots to claimed jobs. `surplus`: jobs for which slow and new endpoints have no slot, to be given back. */
  taken(claims: readonly Claim[], request: SlotRequest): { admitted: readonly Claim[]; surplus: readonly Claim[] } {
    const { admitted, surplus } = this.#slow.admit(claims)
    this.#hadSurplus = surplus.length > 0
    const isLimited = claims.length >= request.limit && request.limit < this.mayClaim()
    this.#inUse.take(admitted)
    this.#spread.began(admitted.flatMap(({ id, group }) => (this.#slow.has(group) ? [] : id)))
    this.#holds += admitted.length
    this.backlog.claimed(request, claims, surplus)
    if (isLimited) this.#wakeup.wake('more')
    // Others may have the slots that the surplus did not get.
    if (surplus.length > 0 || this.#wasCutShort(admitted, request)) this.#wakeup.wake('freed')
    this.#wakeForTurn()
    return { admitted, surplus }
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
      this.#slow.isProven(group) &&
      this.#inUse.roomOf(group) > this.backlog.of(group, workspace)
    )
  }

  /** Gives a slot to a new job that no claim brought. */
  handed(claim: Claim): void {
    this.#inUse.take([claim])
    this.#spread.began([claim.id])
    this.#holds++
  }

  /** Whether a claim stopped at the cap of an endpoint, or the share of a workspace, that slots fell free of meanwhile. */
  #wasCutShort(claims: readonly Claim[], request: SlotRequest): boolean {
    for (const group of this.#inUse.groupsBelowCapSince(request, claims)) if (!this.#slow.has(group)) return true
    return this.#inUse.someWorkspaceBelowShareSince(request, claims)
  }

  /**
   * A request ended, or is not made. `isSlow`: whether the endpoint was slow; null when nobody knows. Wakes when a job may
   * be claimed now that could not be claimed before.
   */
  freed(claim: Claim, isSlow: boolean | null): void {
    const wasFull = this.mayClaim() === 0
    const { workspace, group, priority } = claim
    const wasAtCap =
      (this.#inUse.isShort(group) && this.backlog.of(group, workspace) > 0) ||
      (priority === 'low' && this.#inUse.isShortOfLow(group))
    this.#spread.ended(claim.id)
    const isProven = isSlow !== null && this.#slow.ended(claim, isSlow)
    const wasAtShare = this.#inUse.release(claim)
    this.#slow.freed(claim.group)
    if (wasFull || wasAtCap || wasAtShare) this.#wakeup.wake('freed')
    else if (isProven) this.#wakeup.wake('proven')
    else this.#wakeForTurn()
  }

  /** The hold on a job ended. */
  holdEnded(): void {
    const wasFull = this.mayClaim() === 0
    this.#holds--
    if (wasFull) this.#wakeup.wake('freed')
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
