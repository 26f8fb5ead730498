import type { Context } from '../context.ts'
import type { Deliver } from '../services/deliver.ts'
import type { Sent } from '../services/loaded-attempt.ts'
import { claimsOf, type Hold, type Holds, leaseMs } from './holds.ts'
import type { LetGo } from './let-go.ts'
import type { LeaveLine, Lines } from './lines.ts'
import type { Outcomes } from './outcomes.ts'
import type { LimitedJobs, RateLimits } from './rate-limits.ts'
import { inTwo, loadedApart, matchJobs, type ReadyJob } from './ready-job.ts'
import type { Rests } from './resting-endpoints.ts'
import { inSlices } from '../runtime/slices.ts'
import type { Slots } from './slots.ts'
import type { Wakeup } from './wakeup.ts'

interface Needs {
  readonly ctx: Context
  readonly deliver: Deliver
  readonly slots: Slots
  readonly lines: Lines
  readonly holds: Holds
  readonly letGo: LetGo
  readonly limits: RateLimits
  readonly rests: Rests
  readonly outcomes: Outcomes
  readonly wakeup: Wakeup
  /** Logs a failure that may come again and again. */
  readonly complain: (message: string, cause: unknown) => void
}

/**
 * The way of a delivery: claim, load, limit, send, settle, let go.
 *
 * A claimed job is held: nobody else may send it until its lease ends. It waits in the line of its endpoint (for the queue: its
 * group) for a slot of this process. The slot is free when the request has ended; the hold ends later, when the outcome is
 * stored. Of a job that is not sent, `letGo` frees the slot and ends the hold.
 */
export class Deliveries {
  readonly #needs: Needs
  #isClaiming = false
  isClosed = false

  constructor(needs: Needs) {
    this.#needs = needs
    needs.lines.open({
      send: (job, paced, leaveLine) => void this.#sendAndSettle(job, paced, leaveLine),
      giveBack: (jobs) => void needs.letGo.giveBack(jobs.map(({ hold }) => hold)),
    })
  }

  /** How many jobs a claim may take now: 0 while another claim is under way. */
  mayClaim(): number {
    return this.isClosed || this.#isClaiming ? 0 : this.#needs.slots.mayClaim()
  }

  /** Claims due jobs, starts to deliver them, answers how many. `paced`: for the loop, which lets slow endpoints wait; else for a tick. */
  async claim({ paced }: { paced: boolean }): Promise<number> {
    if (this.mayClaim() === 0) return 0
    const { ctx, slots, lines, limits, rests, holds, wakeup } = this.#needs
    this.#isClaiming = true
    try {
      await ctx.clock.ready()
      wakeup.forget() // this claim finds the jobs that the wake-ups until now were for
      const maxInLine = (group: string) => (limits.isUnlimited(group) ? lines.maxAhead(group) : 0)
      const request = slots.request({ paced, leaveOut: [...limits.undecided(), ...rests.groups()], ahead: maxInLine })
      const loads = ctx.ownQueue // the storage's own queue answers the attempts with their jobs
      const claims = await ctx.queue.claim({ ...request, leaseMs, now: ctx.clock.now(), loads })
      const { admitted, surplus } = slots.taken(claims, request)
      for (const part of loadedApart(holds.add(admitted))) void this.#deliverAll(part, paced) // loaded ones wait for no others
      const givenBack = holds.giveBack(surplus, { insists: paced }) // of slow and new endpoints, which have one slot
      if (!paced) await givenBack // a tick claims again at once, and is to find the surplus in the queue
      return admitted.length
    } finally {
      this.#isClaiming = false
    }
  }

  /** Until the limiter has answered for these jobs, other claims leave out their endpoints, so that order holds. */
  async #deliverAll(claimed: readonly Hold[], paced: boolean): Promise<void> {
    const { limits, holds, letGo, wakeup } = this.#needs
    limits.markUndecided(claimed)
    const { granted, refused, obsolete } = await this.#loadAndLimit(claimed)
    const claimsLeftSomeOut = limits.markDecided(claimed)
    await this.#sendAll(granted, paced)
    await Promise.all([letGo.unsent(obsolete, holds.complete(claimsOf(obsolete))), letGo.giveBack(refused)])
    if (claimsLeftSomeOut) wakeup.wake('limited')
  }

  /** `granted` may be sent now, `refused` later. The attempts of `obsolete` jobs have ended, or were deleted. */
  async #loadAndLimit(claimed: readonly Hold[]): Promise<LimitedJobs & { readonly obsolete: readonly Hold[] }> {
    const { deliver, limits, complain } = this.#needs
    try {
      const loaded = await deliver.load(claimsOf(claimed))
      const { ready, obsolete } = matchJobs(claimed, loaded)
      if (this.isClosed) return { granted: [], refused: ready.map(({ hold }) => hold), obsolete }
      return { ...(await limits.take(ready)), obsolete }
    } catch (cause) {
      complain('claimed attempts could not be loaded', cause)
      return { granted: [], refused: claimed, obsolete: [] }
    }
  }

  /** Requests to slow and new endpoints come second: opening a connection takes time that the others need not lose. */
  async #sendAll(granted: readonly ReadyJob[], paced: boolean): Promise<void> {
    const { ctx, slots, lines } = this.#needs
    const { first, second } = inTwo(granted, ({ hold }) => slots.isSlowOrNew(hold.claim.group))
    await inSlices(ctx.clock, first, (job) => lines.enter(job, paced))
    if (second.length > 0 && first.length > 0) await ctx.clock.sleep(0)
    await inSlices(ctx.clock, second, (job) => lines.enter(job, paced))
  }

  async #sendAndSettle({ hold, loaded }: ReadyJob, paced: boolean, leaveLine: LeaveLine): Promise<void> {
    const { ctx, deliver, slots, holds, letGo, rests, outcomes } = this.#needs
    const { claim, cancellation } = hold
    let sent: Sent | 'busy' | null = null
    try {
      if (holds.has(hold)) sent = await deliver.attempt(loaded, cancellation)
    } catch (cause) {
      ctx.log.error(`attempt ${claim.id} broke off`, { cause })
    }
    if (sent === 'busy') {
      rests.begin(claim.group) // the HTTP client had no place, so nothing was sent
      leaveLine(true)
      return await letGo.giveBack([hold])
    }
    slots.freed(claim, sent?.slow ?? null)
    leaveLine(sent?.slow ?? true)
    const lingers = paced && (sent?.slow === true || ctx.storage.inProcess !== true) // to be stored with others
    // Without `sent` the hold was lost, or nobody knows what the receiver got: another try waits for the lease to end.
    if (sent !== null) await outcomes.store(deliver.conclude(loaded, sent, claim), cancellation, { lingers })
    letGo.ended(hold)
  }

  /** Claims and sends nothing more until `open`. Resolves when this process holds no job. */
  async close(): Promise<void> {
    const { holds, outcomes } = this.#needs
    this.isClosed = true
    this.#needs.lines.close()
    holds.close()
    outcomes.close()
    while (holds.size > 0 || this.#isClaiming) await holds.untilFewer(1000) // milliseconds
  }

  open(): void {
    this.isClosed = false
    this.#needs.lines.reopen()
    this.#needs.holds.open()
    this.#needs.outcomes.open()
  }
}
