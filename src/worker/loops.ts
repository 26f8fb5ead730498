import type { Context } from '../context.ts'
import type { Deliveries } from './deliveries.ts'
import { type Holds, lengthenEveryMs } from './holds.ts'
import type { Consumer } from './inbox.ts'
import type { Slots } from './slots.ts'
import type { Sweep } from './sweep.ts'
import { minuteMs, type Upkeep } from './upkeep.ts'
import type { Wakeup } from './wakeup.ts'

/** An idle loop asks after this time, then after twice as long, and so on. */
const firstIdleMs = 50
const mostIdleMs = 1000
const mostIdleListeningMs = 10_000
const sweepEveryMs = 1000
const brokenWaitMs = 1000

/** What the loops work on. */
export interface Parts {
  readonly delivering: Deliveries
  readonly held: Holds
  readonly slot: Slots
  readonly sweeper: Sweep
  readonly consume: Consumer
  readonly tending: Upkeep
}

/** Runs all loops until the signal aborts. Resolves when the last of them has ended. */
export function loops(
  ctx: Context,
  { delivering, held, slot, sweeper, consume, tending }: Parts,
  wakeups: { readonly jobs: Wakeup; readonly messages: Wakeup },
  signal: AbortSignal,
): Promise<unknown> {
  const complain = (message: string) => (cause: unknown) => ctx.log.error(message, { cause })

  /** Claims while there is something to claim, else waits: for a wake-up, for what falls due, or for the next look. */
  async function deliveries(): Promise<void> {
    const mostMs = ctx.queue.onAdded === undefined ? mostIdleMs : mostIdleListeningMs
    const due = dueTime(ctx, held)
    let idleMs = firstIdleMs
    await repeat('jobs could not be claimed', async () => {
      const wanted = delivering.mayClaim()
      const claimed = wanted > 0 ? await delivering.claim({ paced: true }) : 0
      if (claimed > 0) idleMs = firstIdleMs
      if (wanted > 0 && claimed >= wanted) return // there may be more
      const ms = wanted > 0 ? Math.min(idleMs, await due.inMs(), slot.untilRoom()) : mostMs
      const cause = await wakeups.jobs.wait(ms, signal)
      idleMs = cause === null ? Math.min(idleMs * 2, mostMs) : firstIdleMs
      // A turn of the event loop later, so that answers that came together free their slots for one claim.
      if (cause === 'freed') await ctx.clock.sleep(0)
    })
  }

  async function inbox(): Promise<void> {
    const mostMs = ctx.inbox.onPut === undefined ? mostIdleMs : mostIdleListeningMs
    let idleMs = firstIdleMs
    await repeat('the inbox could not be read', async () => {
      if ((await consume.batch()) > 0) {
        idleMs = firstIdleMs
        return
      }
      const cause = await wakeups.messages.wait(idleMs, signal)
      idleMs = cause === null ? Math.min(idleMs * 2, mostMs) : firstIdleMs
    })
  }

  /** Where the queue is the storage's own, the two cannot drift apart; once at start mends what an operator may have done. */
  async function sweeps(): Promise<void> {
    for (let more = true; !signal.aborted && (more || !ctx.ownQueue);) {
      more = await sweeper.page().catch((cause: unknown) => {
        ctx.log.error('overdue attempts could not be swept', { cause })
        return true
      })
      if (more || !ctx.ownQueue) await ctx.clock.sleep(sweepEveryMs, signal)
    }
  }

  async function every(ms: number, complaint: string, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work().catch(complain(complaint))
      await ctx.clock.sleep(ms, signal)
    }
  }

  async function repeat(complaint: string, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await work()
      } catch (cause) {
        ctx.log.error(complaint, { cause })
        await ctx.clock.sleep(brokenWaitMs, signal)
      }
    }
  }

  return Promise.all([
    deliveries(),
    inbox(),
    sweeps(),
    every(lengthenEveryMs, 'holds could not be lengthened', () => held.lengthen()),
    ...tending.tasks.map(({ complaint, run }) => every(minuteMs, complaint, () => run(signal))),
  ])
}

/** When a waiting job falls due next, as far as that is known and worth a question: while jobs are held, each 50 ms. */
function dueTime(ctx: Context, held: Holds): { inMs(): Promise<number> } {
  let askedAt = -Infinity
  return {
    async inMs() {
      if (held.size > 0 && ctx.clock.elapsed() - askedAt < firstIdleMs) return firstIdleMs
      askedAt = ctx.clock.elapsed()
      const now = ctx.clock.now()
      const next = (await ctx.queue.nextDueAt?.(now)) ?? null
      if (next === null) return Infinity
      // What is due and was not claimed is held up, and may hide what falls due next.
      return next <= now ? mostIdleMs : next - now
    },
  }
}
