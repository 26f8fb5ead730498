import type { EngineClock } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Change } from '../contracts/storage.ts'
import type { Background } from '../services/background.ts'
import type { Deliver } from '../services/deliver.ts'
import type { Ingest } from '../services/ingest.ts'
import { type Bell, bell } from './bell.ts'
import { consumer } from './consume.ts'
import { dispatch, leaseMs, mostClaims } from './dispatch.ts'
import { maintenance, minuteMs } from './maintain.ts'
import { sweep } from './sweep.ts'

const firstIdleMs = 50
const mostIdleMs = 1000
const mostIdleListeningMs = 10_000
const sweepEveryMs = 1000
const brokenWaitMs = 1000

export interface TickReport {
  readonly delivered: number
  readonly failed: number
  /** Jobs still in the queue, those due later included. */
  readonly remaining: number
}

export interface Worker {
  /** Claims, sweep, inbox consumer, retention, breaker, until `stop`. Calling it twice is one start. */
  start(): Promise<void>
  /** No new claim; requests in flight may finish within `timeoutMs` (default 10,000), then are aborted and their holds left to lapse. Twice is fine. */
  stop(options?: { timeoutMs?: number }): Promise<void>
  /** One pass of all that `start` does, without timers. It claims for at most `budgetMs` (default 10,000); requests it made may end later. */
  tick(options?: { budgetMs?: number }): Promise<TickReport>
  /** Ticks until nothing is due; with `until` (unix ms) until nothing is due then, for which a fake clock is advanced. */
  drain(options?: { until?: number }): Promise<void>
}

/** What the loops run on. */
export interface Needs {
  readonly ctx: Context
  readonly clock: EngineClock
  readonly ingest: Ingest
  readonly deliver: Deliver
  readonly background: Background
  /** Rings when jobs were added, here or elsewhere, and when a slot is free that was missing. */
  readonly jobs: Bell
  /** Forgets what changed elsewhere. */
  changed(change: Change): void
  /** Moves a fake clock on. */
  readonly advance?: ((ms: number) => Promise<void>) | undefined
}

export interface OwnWorker extends Worker {
  /** Whether the loops run and would take so many more jobs at once. */
  hasRoom(jobs: number): boolean
}

export function worker(needs: Needs): OwnWorker {
  const { ctx, clock, ingest, deliver, background, jobs, changed, advance } = needs
  const dispatcher = dispatch(ctx, deliver, jobs)
  const sweeper = sweep(ctx)
  const consume = consumer(ctx, ingest)
  const maintain = maintenance(ctx)
  let askedAt = -Infinity
  let running: { abort: AbortController; loops: Promise<unknown>; listeners: (() => Promise<void>)[] } | null = null

  async function start(): Promise<void> {
    if (running !== null) return
    const abort = new AbortController()
    const started = { abort, loops: Promise.resolve<unknown>(undefined), listeners: [] as (() => Promise<void>)[] }
    running = started
    try {
      await ctx.plugins.ready(ctx.platform)
      await ctx.storage.verify?.()
      if (ctx.storage.name === 'memory' && ctx.platform.production?.()) {
        ctx.log.warn('posthorn keeps everything in memory: nothing survives a restart of this process')
      }
      await clock.ready()
      const put = bell(ctx.clock)
      for (const listen of [
        () => ctx.queue.onAdded?.(() => jobs.ring()),
        () => ctx.inbox.onPut?.(() => put.ring()),
        () => ctx.storage.onChanged?.(changed),
      ]) {
        const stop = await listen()
        if (stop !== undefined) started.listeners.push(stop)
      }
      started.loops = Promise.all([
        deliveries(abort.signal),
        inbox(abort.signal, put),
        every(leaseMs / 3, abort.signal, 'holds could not be lengthened', () => dispatcher.extend()),
        every(minuteMs, abort.signal, 'the work of the minute failed', async () => {
          await clock.ready()
          await maintain.minute(abort.signal)
        }),
        sweeps(abort.signal),
      ])
    } catch (cause) {
      abort.abort()
      running = null
      await Promise.all(started.listeners.map((stop) => stop()))
      throw cause
    }
  }

  async function deliveries(signal: AbortSignal): Promise<void> {
    let idleMs = firstIdleMs
    const mostMs = ctx.queue.onAdded === undefined ? mostIdleMs : mostIdleListeningMs
    while (!signal.aborted) {
      try {
        if (dispatcher.free() <= 0) {
          await jobs.wait(mostMs, signal)
          // A turn of the event loop later, so that answers that came together free their slots for one claim.
          await new Promise((resolve) => setTimeout(resolve, 0))
          continue
        }
        const wanted = dispatcher.free()
        const claimed = await dispatcher.claim({ paced: true })
        if (claimed > 0) idleMs = firstIdleMs
        // Fewer than were asked for were all there are.
        if (claimed >= Math.min(wanted, mostClaims)) continue
        const rang = await jobs.wait(Math.min(idleMs, await untilDue(), dispatcher.untilRoom()), signal)
        idleMs = rang ? firstIdleMs : Math.min(idleMs * 2, mostMs)
      } catch (cause) {
        ctx.log.error('jobs could not be claimed', { cause })
        await ctx.clock.sleep(brokenWaitMs, signal)
      }
    }
  }

  /** Milliseconds until something falls due, as far as that is known and worth a question: while jobs are held, each 50 ms. */
  async function untilDue(): Promise<number> {
    const now = ctx.clock.now()
    if (dispatcher.held() > 0 && now - askedAt < firstIdleMs) return firstIdleMs
    askedAt = now
    const next = (await ctx.queue.nextDueAt?.(now)) ?? null
    if (next === null) return Infinity
    // What is due and was not claimed is held up, and may hide what falls due next.
    return next <= now ? mostIdleMs : next - now
  }

  async function inbox(signal: AbortSignal, put: Bell): Promise<void> {
    let idleMs = firstIdleMs
    const mostMs = ctx.inbox.onPut === undefined ? mostIdleMs : mostIdleListeningMs
    while (!signal.aborted) {
      try {
        if ((await consume.batch()) > 0) {
          idleMs = firstIdleMs
          continue
        }
        const rang = await put.wait(idleMs, signal)
        idleMs = rang ? firstIdleMs : Math.min(idleMs * 2, mostMs)
      } catch (cause) {
        ctx.log.error('the inbox could not be read', { cause })
        await ctx.clock.sleep(brokenWaitMs, signal)
      }
    }
  }

  /** Where the queue is the storage's own, the two cannot drift apart; once at start mends what an operator may have done. */
  async function sweeps(signal: AbortSignal): Promise<void> {
    do {
      try {
        const more = await sweeper.page()
        if (ctx.ownQueue && !more) return
      } catch (cause) {
        ctx.log.error('overdue attempts could not be swept', { cause })
      }
      await ctx.clock.sleep(sweepEveryMs, signal)
    } while (!signal.aborted)
  }

  async function every(ms: number, signal: AbortSignal, complaint: string, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await work()
      } catch (cause) {
        ctx.log.error(complaint, { cause })
      }
      await ctx.clock.sleep(ms, signal)
    }
  }

  async function stop({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    const stopping = running
    running = null
    stopping?.abort.abort()
    await dispatcher.close(timeoutMs)
    await stopping?.loops
    await Promise.all([ingest.idle(), deliver.idle(), background.idle()])
    for (const off of stopping?.listeners ?? []) await off()
    await ctx.http.close?.()
  }

  async function tick({ budgetMs = 10_000 }: { budgetMs?: number } = {}): Promise<TickReport> {
    const { delivered, failed } = dispatcher.ended
    const deadline = ctx.clock.now() + budgetMs
    const inTime = () => ctx.clock.now() < deadline
    await clock.ready()
    await maintain.minute()
    await sweeper.page()
    while ((await consume.batch()) > 0 && inTime());
    await background.idle()
    await claimAll(inTime)
    while (dispatcher.held() > 0) {
      await untilFewer(dispatcher.held())
      await background.idle()
      await claimAll(inTime)
    }
    const { size } = await ctx.queue.stats(ctx.clock.now())
    return {
      delivered: dispatcher.ended.delivered - delivered,
      failed: dispatcher.ended.failed - failed,
      remaining: size,
    }
  }

  async function claimAll(inTime: () => boolean): Promise<void> {
    while (inTime() && (await dispatcher.claim({ paced: false })) > 0);
  }

  /** Waits for a hold to end, and keeps the others meanwhile. */
  async function untilFewer(held: number): Promise<void> {
    const lengthenAt = ctx.clock.now() + leaseMs / 3
    while (dispatcher.held() >= held) {
      await dispatcher.letGo(leaseMs / 3)
      if (ctx.clock.now() >= lengthenAt) {
        await dispatcher.extend()
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
      const next = await nextDue(Math.max(until ?? now, now))
      if (next === null) {
        if (until !== undefined && until > now) await pass(until - now)
        return
      }
      if (next > now) await pass(next - now)
      else if (until === undefined || until <= now) return // due, but held or paused by somebody
      else await pass(1)
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
    await (advance === undefined ? ctx.clock.sleep(ms) : advance(ms))
  }

  return { start, stop, tick, drain, hasRoom: (jobs) => running !== null && dispatcher.free() >= jobs }
}
