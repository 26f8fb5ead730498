import type { Context } from '../context.ts'
import type { Claim } from '../contracts/queue.ts'
import { Cancellation } from '../core/cancellation.ts'
import { wakeup } from './wakeup.ts'

/** A job in the hands of a dead process is taken over after this time. */
export const leaseMs = 30_000
/** Holds are lengthened three times in a lease, so that two failures in a row lose none. */
export const lengthenEveryMs = leaseMs / 3
const againMs = 1000

/** A job that this process holds: it is being loaded, sent or settled. */
export interface Hold {
  readonly claim: Claim
  /** Canceled when the hold is lost, or when the worker stops and its time is over. */
  readonly cancellation: Cancellation
}

/** The jobs that this process holds. */
export interface Holds {
  add(claims: readonly Claim[]): readonly Hold[]
  /** Whether a hold is good: it may be lost, or its job be given to this process anew. */
  has(hold: Hold): boolean
  /** Ends a hold whose job was completed with its attempt, or is left to lapse. */
  remove(hold: Hold): void
  /**
   * Gives jobs back (`release`), or removes those whose attempt has ended (`complete`). `insists`: it tries again while the
   * engine is away, so that other processes need not wait for the leases to end.
   */
  letGo(claims: readonly Claim[], how: 'complete' | 'release', options: { insists: boolean }): Promise<void>
  /** Lengthens all; cancels those that are lost. */
  lengthen(): Promise<void>
  /** Stops trying again, in `letGo` too: what cannot be let go now lapses. */
  close(): void
  open(): void
  cancelAll(): void
  /** Resolves when there are fewer of them, or after `ms`. */
  untilFewer(ms: number): Promise<unknown>
  /** Jobs that are held, and calls that let jobs go. */
  readonly size: number
}

/** @param complain learns of what failed. A failure is no more than a delay: a hold that is not let go lapses. */
export function holds(ctx: Context, complain: (message: string, cause: unknown) => void): Holds {
  const byJob = new Map<string, Hold>()
  const fewer = wakeup(ctx.clock)
  let isClosed = false
  let lettingGo = 0

  async function tryTo(how: 'complete' | 'release', claims: readonly Claim[]): Promise<boolean> {
    try {
      await ctx.queue[how](claims)
      return true
    } catch (cause) {
      complain('held jobs could not be let go', cause)
      return false
    }
  }

  return {
    add(claims) {
      const added = claims.map((claim) => ({ claim, cancellation: new Cancellation() }))
      for (const hold of added) byJob.set(hold.claim.id, hold)
      return added
    },
    has: (hold) => byJob.get(hold.claim.id) === hold && !hold.cancellation.canceled,
    remove(hold) {
      if (byJob.get(hold.claim.id) === hold) byJob.delete(hold.claim.id)
      fewer.wake('freed')
    },
    async letGo(claims, how, { insists }) {
      if (claims.length === 0) return
      const lapsesAt = ctx.clock.elapsed() + leaseMs
      lettingGo++
      while (!(await tryTo(how, claims)) && insists && !isClosed && ctx.clock.elapsed() < lapsesAt) {
        await ctx.clock.sleep(againMs)
      }
      lettingGo--
      fewer.wake('freed')
    },
    async lengthen() {
      const lengthened = [...byJob.values()]
      if (lengthened.length === 0) return
      await ctx.clock.ready()
      const claims = lengthened.map(({ claim }) => claim)
      const lost = new Set(await ctx.queue.extend(claims, ctx.clock.now() + leaseMs))
      for (const { claim, cancellation } of lengthened) if (lost.has(claim.id)) cancellation.cancel()
    },
    close() {
      isClosed = true
    },
    open() {
      isClosed = false
    },
    untilFewer: (ms) => fewer.wait(ms),
    cancelAll() {
      for (const { cancellation } of byJob.values()) cancellation.cancel()
    },
    get size() {
      return byJob.size + lettingGo
    },
  }
}
