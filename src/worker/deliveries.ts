import type { Context } from '../context.ts'
import type { Deliver } from '../services/deliver.ts'
import type { Loaded, Sent } from '../services/loaded-attempt.ts'
import { claimsOf, type Hold, type Holds, leaseMs } from './holds.ts'
import type { LetGo } from './let-go.ts'
import type { LeaveLine, Lines } from './lines.ts'
import type { Outcomes } from './outcomes.ts'
import type { LimitedJobs, RateLimits } from './rate-limits.ts'
import { loadedApart, matchJobs, type ReadyJob } from './ready-job.ts'
import type { Rests } from './resting-endpoints.ts'
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
  readonly othersMayTake: (loaded: Loaded) => boolean // attempts for which this process lacks a plugin
  readonly complain: (message: string, cause: unknown) => void // logs a failure that may come again and again
}

/**
 * The way of a delivery: claim, load, limit, wait in line, send, settle, let go. A job is the queue's entry for an attempt that is to be made.
 *
 * The queue leases a claimed job to this process: nobody else may send it until the lease ends. A hold is what this process knows
 * of such a job, and lengthens the lease. The job has a slot of this process, and enters the line of its endpoint (for the queue:
 * its group), where it waits while the endpoint has as many requests in flight as it may. The slot is free when the request has
 * ended; the hold ends later, when the outcome is stored and the job is out of the queue with it (a retry is a job of its own).
 * `letGo` ends holds, and slots of jobs that are not sent. Only `claim` throws.
 */
export class Deliveries {
  readonly #needs: Needs
  #claiming: symbol | null = null // the claim under way: one that `open` has forgotten ends no later one
  isClosed = false // while true, from `close` to `open`, nothing is claimed or sent

  constructor(needs: Needs) {
    this.#needs = needs
    needs.lines.attach({
      send: (job, paced, leaveLine) => void this.#sendAndSettle(job, paced, leaveLine),
      giveBack: (jobs) => void needs.letGo.giveBack(jobs.map(({ hold }) => hold)),
    })
  }

  /** How many jobs a claim may take now: 0 while another claim is under way, and after `close`. */
  mayClaim(): number {
    return this.isClosed || this.#claiming !== null ? 0 : this.#needs.slots.mayClaim()
  }

  /** Claims due jobs, starts to deliver them, answers how many. `paced`: tries of slow endpoints are spread out over later claims; not in a `tick`. */
  async claim({ paced }: { paced: boolean }): Promise<number> {
    if (this.mayClaim() === 0) return 0
    const { ctx, slots, lines, limits, rests, holds, wakeup } = this.#needs
    const own = (this.#claiming = Symbol())
    try {
      await ctx.clock.ready() // the clock tells the time of the queue's engine: leases are counted in it
      if (this.#claiming !== own) return 0
      wakeup.forget() // this claim finds the jobs that the wake-ups until now were for
      // How many jobs of an endpoint may be claimed to wait in its line: none where a rate limit might refuse them.
      const ahead = (group: string) => (limits.isUnlimited(group) ? lines.maxAhead(group) : 0)
      const claimRequest = slots.claimRequest({ paced, leaveOut: [...limits.undecided(), ...rests.groups()], ahead })
      const askedAt = ctx.clock.elapsed()
      const claims = await ctx.queue.claim({ ...claimRequest, leaseMs, now: ctx.clock.now(), loads: ctx.ownQueue })
      if (this.#claiming !== own) return await holds.giveBack(claims, { triesAgain: true }).then(() => 0) // it was forgotten
      // A slow or new endpoint has a single slot, which the queue does not know: what it gave beyond that is surplus.
      const { admitted, surplus } = slots.taken(claims, claimRequest)
      for (const part of loadedApart(holds.add(admitted, askedAt))) void this.#deliverAll(part, paced) // loaded jobs wait for no others
      const givenBack = holds.giveBack(surplus, { triesAgain: paced }) // surplus has no slot and no hold for `letGo` to end
      if (!paced) await givenBack // a tick is to find the surplus in the queue; when the engine is away this fails at once
      return admitted.length
    } finally {
      if (this.#claiming === own) this.#claiming = null
    }
  }

  /** Sends jobs, or lets them go. Until the limiter has answered, claims leave their endpoints out, so that jobs stay in order. */
  async #deliverAll(claimed: readonly Hold[], paced: boolean): Promise<void> {
    const { limits, lines, letGo, wakeup } = this.#needs
    limits.markUndecided(claimed)
    const { granted, refused, obsolete } = await this.#loadAndLimit(claimed)
    const claimsLeftSomeOut = limits.markDecided(claimed)
    await lines.enterAll(granted, paced) // waits until all are in their lines, not until they are sent
    await Promise.all([letGo.complete(obsolete), letGo.giveBack(refused)])
    if (claimsLeftSomeOut) wakeup.wake('limited') // has the loop claim what claims left out meanwhile
  }

  /** Loads what is not loaded yet. `refused` go back: over a limit (the queue knows until when), or closed, or not loaded. `obsolete`: the attempts ended. */
  async #loadAndLimit(claimed: readonly Hold[]): Promise<LimitedJobs & { readonly obsolete: readonly Hold[] }> {
    const { deliver, limits, complain } = this.#needs
    try {
      const { ready, obsolete } = matchJobs(claimed, await deliver.load(claimsOf(claimed)))
      if (this.isClosed) return { granted: [], refused: ready.map(({ hold }) => hold), obsolete }
      return { ...(await limits.take(ready)), obsolete }
    } catch (cause) {
      complain('claimed jobs could not be loaded or limited', cause)
      return { granted: [], refused: claimed, obsolete: [] }
    }
  }

  /** Sends a job whose turn has come. `leaveLine` sends the next of its line, or gives back those that wait: others may send them sooner. */
  async #sendAndSettle({ hold, loaded }: ReadyJob, paced: boolean, leaveLine: LeaveLine): Promise<void> {
    const { ctx, deliver, slots, holds, letGo, rests, outcomes, othersMayTake } = this.#needs
    const { claim, cancellation } = hold
    let sent: Sent | 'busy' | null = null
    try {
      if (holds.has(hold)) sent = await deliver.attempt(loaded, cancellation, othersMayTake) // null when canceled, as without a hold
    } catch (cause) {
      ctx.log.error(`attempt ${claim.id} broke off`, { cause })
    }
    if (sent === 'busy') {
      await rests.begin(claim.group, cancellation) // no connection, or no plugin that could run: claims leave the endpoint out a while
      leaveLine('give-back')
      return await letGo.giveBack([hold])
    }
    slots.freed(claim, sent?.slow ?? null)
    leaveLine(sent === null || sent.slow === true ? 'give-back' : 'send-next')
    // To linger (up to 100 ms, to be stored with others) pays where the storage is another process, and after a slow request.
    const lingers = paced && (sent?.slow === true || ctx.storage.inProcess !== true)
    // Without `sent`, or when storing is canceled too (lost lease, or `stop` has no more time), the job is left to the end of its lease.
    if (sent !== null) await outcomes.store(deliver.conclude(loaded, sent, claim), cancellation, { lingers })
    letGo.ended(hold)
  }

  /** Claims and sends nothing more until `open`. Requests in flight go on. Resolves when this process holds no job, or once `isLate()`. */
  async close(isLate: () => boolean): Promise<void> {
    const { lines, holds, outcomes } = this.#needs
    this.isClosed = true
    lines.close() // gives back what waits, and what comes
    holds.close() // what the queue cannot take back at once is left to its lease
    outcomes.close() // from now on none lingers
    while (!isLate() && (holds.size > 0 || this.#claiming !== null)) await holds.untilFewer({ orAfterMs: 1000 }) // a claim that ends tells nobody: look again
  }

  open(): void {
    if (this.isClosed) this.#claiming = null // a claim that outlasted `close` may never end
    this.isClosed = false
    this.#needs.lines.open()
    this.#needs.holds.open()
    this.#needs.outcomes.open()
  }
}
