import type { Context } from '../context.ts'
import type { Claim } from '../contracts/queue.ts'
import { Cancellation } from '../core/cancellation.ts'
import { type Batcher, batcher } from '../runtime/batcher.ts'
import { type Wakeup, wakeup } from './wakeup.ts'

/** Another process may claim a job this long after the process that held the job has died. */
export const leaseMs = 30_000
/** Leases are lengthened three times while they last, so that two failures in a row lose no hold. */
export const lengthenEveryMs = leaseMs / 3
const againMs = 250
/** The most jobs of a call to the queue: thousands may be held, and no call holds up what others ask of the engine. */
const maxInCall = 250

/** A job that this process holds: the job is being loaded, sent or settled. */
export interface Hold {
  readonly claim: Claim
  /** Canceled when the hold is lost, or when the worker stops and `timeoutMs` has passed. */
  readonly cancellation: Cancellation
  /** Whether the queue knows the job: else it is being stored. */
  isStored: boolean
  /** When the lease ends, on the clock's `elapsed`. */
  leasedUntil: number
}

/** How a job leaves this process: out of the queue, or back into the queue. */
type How = 'complete' | 'release'

/** A call to the queue that failed, and is to be made again. */
interface FailedCall {
  readonly how: How
  readonly claims: readonly Claim[]
  /** When the leases have ended, on the clock's `elapsed`: then nothing is left to do. */
  readonly until: number
  readonly left: () => void
}

export function claimsOf(holds: readonly Hold[]): readonly Claim[] {
  return holds.map(({ claim }) => claim)
}

function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[], void> {
  for (let from = 0; from < items.length; from += maxInCall) yield items.slice(from, from + maxInCall)
}

/** Gathers calls to the queue: those that come together are one call, of up to 250 jobs. */
function gathered({ queue, clock, batches }: Context, how: How): Batcher<readonly Claim[], null> {
  return batcher({
    async flush(calls) {
      await queue[how](calls.flat())
      return calls.map(() => null)
    },
    rowsOf: ({ length }) => length,
    maxRows: maxInCall,
    bytesOf: () => 0,
    workspaceOf: ([first]) => first!.workspace, // none is empty
    clock,
    batches,
    resends: false, // see `triesAgain`
  })
}

/** The jobs that this process holds. A hold ends when the job is completed or given back, or when the lease ends. */
export class Holds {
  readonly #ctx: Context
  readonly #complain: (message: string, cause: unknown) => void
  readonly #byJob = new Map<string, Hold>()
  /** Calls to the queue go together: a thousand endpoints may have a few jobs each that leave at once. */
  readonly #calls: Readonly<Record<How, Batcher<readonly Claim[], null>>>
  readonly #fewer: Wakeup
  readonly #failed: FailedCall[] = []
  #isClosed = false
  /** Calls of `complete` and `giveBack` that have not ended. */
  #leaving = 0
  #givingBack = 0

  /** @param complain logs calls to the queue that failed. Such a failure is only a delay: the lease ends anyway. */
  constructor(ctx: Context, complain: (message: string, cause: unknown) => void) {
    this.#ctx = ctx
    this.#complain = complain
    this.#calls = { complete: gathered(ctx, 'complete'), release: gathered(ctx, 'release') }
    this.#fewer = wakeup(ctx.clock)
  }

  /** Jobs that are held, and calls that complete jobs or give jobs back. */
  get size(): number {
    return this.#byJob.size + this.#leaving
  }

  /** Whether jobs are being given back. News of jobs that come meanwhile may be of these jobs. */
  get isGivingBack(): boolean {
    return this.#givingBack > 0
  }

  /** @param askedAt when the queue was asked for the claims, on the clock's `elapsed`: the leases count from then. */
  add(claims: readonly Claim[], askedAt: number): readonly Hold[] {
    return claims.map((claim) => this.#add(claim, true, askedAt))
  }

  #add(claim: Claim, isStored: boolean, since: number): Hold {
    const hold = { claim, cancellation: new Cancellation(), isStored, leasedUntil: since + leaseMs }
    this.#byJob.set(claim.id, hold)
    return hold
  }

  /** Begins a hold on a job that is being stored as held. Nobody lengthens it until `stored`. */
  begin(claim: Claim): Hold {
    return this.#add(claim, false, this.#ctx.clock.elapsed())
  }

  /** The job of a hold that `begin` began is stored. */
  stored(hold: Hold): void {
    hold.isStored = true
  }

  /**
   * Whether a hold is valid. It is not when it is lost, when its lease has ended (others may have the job by now), or when
   * this process has claimed the same job again since.
   */
  has(hold: Hold): boolean {
    if (this.#byJob.get(hold.claim.id) !== hold || hold.cancellation.canceled) return false
    return this.#ctx.clock.elapsed() < hold.leasedUntil
  }

  /** Ends a hold. Says nothing to the queue: the job is completed or given back, or waits for the end of the lease. */
  remove(hold: Hold): void {
    if (this.#byJob.get(hold.claim.id) === hold) this.#byJob.delete(hold.claim.id)
    this.#fewer.wake('freed')
  }

  /** Removes jobs from the queue whose attempts have ended. Tries again while the engine is away, as `triesAgain` does. */
  complete(claims: readonly Claim[]): Promise<void> {
    return this.#leave('complete', claims, true)
  }

  /**
   * Gives jobs back to the queue. `triesAgain`: tries again while the engine is away, at most for the time of a lease, so
   * that other processes need not wait for the leases to end.
   */
  async giveBack(claims: readonly Claim[], { triesAgain }: { triesAgain: boolean }): Promise<void> {
    this.#givingBack++
    await this.#leave('release', claims, triesAgain)
    this.#givingBack--
  }

  async #leave(how: How, claims: readonly Claim[], triesAgain: boolean): Promise<void> {
    if (claims.length === 0) return
    this.#leaving++
    if (!(await this.#tryTo(how, claims)) && triesAgain) {
      const until = this.#ctx.clock.elapsed() + leaseMs
      await new Promise<void>((left) => this.#tryLater({ how, claims, until, left }))
    }
    this.#leaving--
    this.#fewer.wake('freed')
  }

  /** Many calls fail while the engine is away. They are made again as a single one, four times a second. */
  #tryLater(call: FailedCall): void {
    this.#failed.push(call)
    if (this.#failed.length === 1) void this.#ctx.clock.sleep(againMs).then(() => this.#tryAgain())
  }

  async #tryAgain(): Promise<void> {
    const failed = this.#failed.splice(0)
    for (const how of ['complete', 'release'] as const) {
      const calls = failed.filter((call) => call.how === how)
      const claims = calls.flatMap((call) => call.claims)
      const isDone = claims.length === 0 || (await this.#tryTo(how, claims))
      const now = this.#ctx.clock.elapsed()
      for (const call of calls) {
        if (isDone || this.#isClosed || now >= call.until) call.left()
        else this.#tryLater(call)
      }
    }
  }

  async #tryTo(how: How, claims: readonly Claim[]): Promise<boolean> {
    try {
      for (const some of inParts(claims)) await this.#calls[how].add(some)
      return true
    } catch (cause) {
      this.#complain('held jobs could not be let go', cause)
      return false
    }
  }

  /** Lengthens the leases of all holds. Cancels the holds that are lost. */
  async lengthen(): Promise<void> {
    const all = [...this.#byJob.values()].filter((hold) => hold.isStored)
    if (all.length === 0) return
    const { clock, queue } = this.#ctx
    for (const some of inParts(all)) {
      await clock.ready()
      const leasedUntil = clock.elapsed() + leaseMs
      const lost = new Set(await queue.extend(claimsOf(some), clock.now() + leaseMs))
      for (const hold of some) {
        if (lost.has(hold.claim.id)) hold.cancellation.cancel()
        else hold.leasedUntil = leasedUntil
      }
    }
  }

  cancelAll(): void {
    for (const { cancellation } of this.#byJob.values()) cancellation.cancel()
  }

  /** From now on a failed `complete` or `giveBack` is not tried again: the leases end. */
  close(): void {
    this.#isClosed = true
  }

  open(): void {
    this.#isClosed = false
  }

  /** Resolves when the number of holds falls, or after that time. */
  untilFewer({ orAfterMs }: { orAfterMs: number }): Promise<unknown> {
    return this.#fewer.wait(orAfterMs)
  }
}
