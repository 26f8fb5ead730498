import { lengthenEveryMs } from './holds.ts'
import type { Parts } from './loops.ts'
import { minuteMs } from './upkeep.ts'
import type { Needs } from './worker.ts'

export interface TickReport {
  readonly delivered: number
  readonly failed: number
  /** Jobs still in the queue, those due later included. */
  readonly remaining: number
}

/** What the worker does when it is asked to, instead of on its own. */
export interface Passes {
  tick(options?: { budgetMs?: number }): Promise<TickReport>
  drain(options?: { until?: number }): Promise<void>
}

export function passes(needs: Needs, { delivering, held, sweeper, consume, tending }: Parts): Passes {
  const { ctx, ingest, background, time } = needs

  async function tick({ budgetMs = 10_000 }: { budgetMs?: number } = {}): Promise<TickReport> {
    const { delivered, failed } = delivering.ended
    const since = ctx.clock.elapsed()
    const isInTime = (): boolean => ctx.clock.elapsed() - since < budgetMs
    await tending.minute()
    await sweeper.page()
    while ((await consume.batch()) > 0 && isInTime());
    await background.idle()
    await claimAll(isInTime)
    while (held.size > 0) {
      await untilFewer(held.size)
      await background.idle()
      await claimAll(isInTime)
    }
    const { size } = await ctx.queue.stats(ctx.clock.now())
    return {
      delivered: delivering.ended.delivered - delivered,
      failed: delivering.ended.failed - failed,
      remaining: size,
    }
  }

  async function claimAll(isInTime: () => boolean): Promise<void> {
    while (isInTime() && (await delivering.claim({ paced: false })) > 0);
  }

  /** Waits for a hold to end, and lengthens the others meanwhile. */
  async function untilFewer(count: number): Promise<void> {
    const since = ctx.clock.elapsed()
    while (held.size >= count) {
      await held.untilFewer(lengthenEveryMs)
      if (ctx.clock.elapsed() - since >= lengthenEveryMs) {
        await held.lengthen()
        return
      }
    }
  }

  async function drain({ until }: { until?: number } = {}): Promise<void> {
    for (;;) {
      await Promise.all([ingest.idle(), background.idle()])
      const { delivered, failed } = await tick({ budgetMs: Infinity })
      if (delivered + failed > 0) continue
      const now = ctx.clock.now()
      const end = Math.max(until ?? now, now)
      const next = await nextDue(end)
      if (next === null) return await passUntil(end)
      if (next > now) await passUntil(next)
      else if (end === now) return // due, but held or paused by somebody
      else await passUntil(now + 1)
    }
  }

  /** Lets time pass while no delivery falls due, and does the minute's work at each minute. */
  async function passUntil(end: number): Promise<void> {
    for (let now = ctx.clock.now(); now < end; now = ctx.clock.now()) {
      const minute = tending.isNeeded ? (Math.floor(now / minuteMs) + 1) * minuteMs : Infinity
      if (minute > end) return await pass(end - now)
      if (time?.skip?.(minute - now) !== true) await pass(minute - now)
      await tending.minute()
    }
  }

  /** When the next attempt may be made, not after `until`. */
  async function nextDue(until: number): Promise<number | null> {
    const now = ctx.clock.now()
    const queued = await ctx.queue.nextDueAt?.(now)
    if (queued !== undefined) return queued === null || queued > until ? null : queued
    const [job] = await ctx.storage.attempts.overdue({ before: until + 1, after: null, limit: 1 })
    return job === undefined ? null : job.due_at
  }

  async function pass(ms: number): Promise<void> {
    await (time === undefined ? ctx.clock.sleep(ms) : time.advance(ms))
  }

  return { tick, drain }
}
