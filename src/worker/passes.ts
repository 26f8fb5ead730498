import { minuteMs } from '../core/periods.ts'
import type { TickReport } from '../surface/worker.ts'
import { lengthenEveryMs } from './holds.ts'
import type { Parts } from './loops.ts'
import type { Needs } from './needs.ts'

/** What the worker does when `tick` or `drain` is called, instead of in its loops. */
export class Passes {
  readonly #needs: Needs
  readonly #parts: Parts
  readonly #open: () => void

  /** @param open lets deliveries be made, also after a stop; not while one is under way. */
  constructor(needs: Needs, parts: Parts, open: () => void) {
    this.#needs = needs
    this.#parts = parts
    this.#open = open
  }

  /** See `Worker`. Also waits until the attempts that it began have ended. */
  async tick({ budgetMs = 10_000 }: { budgetMs?: number } = {}): Promise<TickReport> {
    const { ctx, background } = this.#needs
    const { outcomes, upkeep, requeue, inbox, holds } = this.#parts
    this.#open()
    const { delivered, failed } = outcomes.ended
    const since = ctx.clock.elapsed()
    const isInTime = (): boolean => ctx.clock.elapsed() - since < budgetMs
    await upkeep.minute()
    await requeue.page()
    while ((await inbox.take()) > 0 && isInTime()) await inbox.idle()
    await inbox.idle()
    await background.idle()
    await this.#claimAll(isInTime)
    let lengthenAt = since + lengthenEveryMs
    while (holds.size > 0) {
      await this.#untilFewerThan(holds.size, lengthenAt)
      if (ctx.clock.elapsed() >= lengthenAt) {
        await holds.lengthen()
        lengthenAt = ctx.clock.elapsed() + lengthenEveryMs
      }
      await background.idle()
      await this.#claimAll(isInTime)
    }
    await upkeep.purge({
      get aborted() {
        return !isInTime()
      },
    })
    const { size } = await ctx.queue.stats(ctx.clock.now())
    return {
      delivered: outcomes.ended.delivered - delivered,
      failed: outcomes.ended.failed - failed,
      remaining: size,
    }
  }

  async #claimAll(isInTime: () => boolean): Promise<void> {
    while (isInTime() && (await this.#parts.deliveries.claim({ paced: false })) > 0);
  }

  /** Waits until fewer than `count` jobs are held, at most until that time of the clock's `elapsed`. */
  async #untilFewerThan(count: number, until: number): Promise<void> {
    const { clock } = this.#needs.ctx
    const { holds } = this.#parts
    for (let now = clock.elapsed(); holds.size >= count && now < until; now = clock.elapsed()) {
      await holds.untilFewer({ orAfterMs: until - now })
    }
  }

  /** See `Worker`. */
  async drain({ until }: { until?: number } = {}): Promise<void> {
    const { ctx, ingest, background } = this.#needs
    for (;;) {
      await Promise.all([ingest.idle(), background.idle()])
      const ended = this.#ended()
      await this.tick({ budgetMs: Infinity })
      if (this.#ended() > ended) continue
      const now = ctx.clock.now()
      const end = Math.max(until ?? now, now)
      const next = await this.#nextDue(end)
      if (next === null && (await this.#passUntil(end))) return
      if (next === null) continue
      if (next > now) await this.#passUntil(next)
      else if (end === now) return // a job is due, but another process holds the job, or the endpoint is paused
      else await this.#passUntil(Math.min(now + Math.max(this.#parts.rests.untilFirst(), 1), end))
    }
  }

  /** Attempts that ended since the instance was made, canceled attempts included. */
  #ended(): number {
    const { delivered, failed, canceled } = this.#parts.outcomes.ended
    return delivered + failed + canceled
  }

  /** When the next attempt may be made; null when that is after `until`, or never. */
  async #nextDue(until: number): Promise<number | null> {
    const { queue, storage, clock } = this.#needs.ctx
    const queued = await queue.nextDueAt?.(clock.now())
    if (queued !== undefined) return queued === null || queued > until ? null : queued
    const [job] = await storage.attempts.overdue({ before: until + 1, after: null, limit: 1 })
    return job === undefined ? null : job.due_at
  }

  /**
   * Lets time pass in which no delivery falls due, and does the minute's work at each minute. Answers false when that made a
   * delivery due, as where an operational event was published.
   */
  async #passUntil(end: number): Promise<boolean> {
    const { ctx, time, background } = this.#needs
    const { upkeep } = this.#parts
    for (let now = ctx.clock.now(); now < end; now = ctx.clock.now()) {
      const minute = upkeep.isNeeded ? (Math.floor(now / minuteMs) + 1) * minuteMs : Infinity
      if (minute > end) {
        await this.#pass(end - now)
        return true
      }
      if (time?.skip?.(minute - now) !== true) await this.#pass(minute - now)
      await upkeep.minute()
      await upkeep.purge()
      await background.idle()
      if ((await this.#nextDue(minute)) !== null) return false
    }
    return true
  }

  async #pass(ms: number): Promise<void> {
    const { ctx, time } = this.#needs
    await (time === undefined ? ctx.clock.sleep(ms) : time.advance(ms))
  }
}
