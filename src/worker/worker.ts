import type { Context } from '../context.ts'
import type { Change } from '../contracts/storage.ts'
import { PosthornError } from '../errors.ts'
import type { Background } from '../services/background.ts'
import type { Deliver } from '../services/deliver.ts'
import { inTime } from '../services/in-time.ts'
import type { Ingest } from '../services/ingest.ts'
import { repeatedErrors } from '../services/repeated-errors.ts'
import { alarm } from '../services/alarm.ts'
import { deliveries } from './deliveries.ts'
import { consumer } from './inbox.ts'
import { holds } from './holds.ts'
import { loops, type Parts } from './loops.ts'
import { passes, type TickReport } from './passes.ts'
import { slots } from './slots.ts'
import { sweep } from './sweep.ts'
import { upkeep } from './upkeep.ts'
import { type Wakeup, wakeup } from './wakeup.ts'

/** What stopping may take beyond its time: outcomes are stored and listeners closed meanwhile. */
const graceMs = 500

export interface Worker {
  /**
   * Claims, sweep, inbox consumer, retention, breaker, until `stop`. Calls while it starts share one start: all of them
   * resolve, or all reject. While it stops, it starts again afterwards.
   */
  start(): Promise<void>
  /**
   * No new claim; requests in flight may finish within `timeoutMs` (default 10,000), then they are aborted and their holds
   * left to lapse. It returns within `timeoutMs` and a second, whatever the engine does: what waits for it then gets
   * `unavailable`. During a start it waits for that, then stops. Any number of times is fine.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>
  /** One pass of all that `start` does, without timers. It claims for at most `budgetMs` (default 10,000); requests it made may end later. */
  tick(options?: { budgetMs?: number }): Promise<TickReport>
  /** Ticks until nothing is due; with `until` (unix ms) until nothing is due then, for which a fake clock is advanced. */
  drain(options?: { until?: number }): Promise<void>
}

/** A clock that is told to go on: see `FakeClock`. */
export interface Movable {
  advance(ms: number): Promise<void>
  skip?(ms: number): boolean
}

/** What the worker works with. */
export interface Needs {
  readonly ctx: Context
  readonly ingest: Ingest
  readonly deliver: Deliver
  readonly background: Background
  /** Wakes when jobs were added, here or elsewhere, and when a slot is free that was missing. */
  readonly jobs: Wakeup
  /** Forgets what changed elsewhere. */
  changed(change: Change): void
  /** What moves time on, where the clock is a fake one. */
  readonly time?: Movable | undefined
}

/** What a start has opened. */
interface Run {
  readonly abort: AbortController
  readonly listeners: (() => Promise<void>)[]
  loops: Promise<unknown>
}

export function worker(needs: Needs): Worker {
  const { ctx, ingest, deliver, background, jobs } = needs
  const held = holds(ctx, repeatedErrors(ctx.clock, ctx.log))
  const slot = slots(ctx.settings.deliver, ctx.clock, jobs)
  const delivering = deliveries(ctx, deliver, { slots: slot, holds: held, wakeup: jobs })
  const work = { sweeper: sweep(ctx), consume: consumer(ctx, ingest), tending: upkeep(ctx) }
  const parts: Parts = { delivering, held, slot, ...work }
  let state: 'stopped' | 'starting' | 'running' | 'stopping' = 'stopped'
  /** The change of state that is under way, or was the last one. */
  let change: Promise<void> = Promise.resolve()
  let run = newRun()

  function start(): Promise<void> {
    if (state === 'starting' || state === 'running') return change
    change = state === 'stopping' ? change.then(begin) : begin()
    state = 'starting'
    return change
  }

  function stop({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    if (state === 'stopping') return change
    change = state === 'starting' ? endAfter(change, timeoutMs) : end(timeoutMs)
    state = 'stopping'
    return change
  }

  async function begin(): Promise<void> {
    const own = (run = newRun())
    try {
      const messages = wakeup(ctx.clock)
      await unlessAborted(own.abort.signal, open(own, messages))
      jobs.set(true)
      own.loops = loops(ctx, parts, { jobs, messages }, own.abort.signal)
      if (state === 'starting') state = 'running'
    } catch (cause) {
      own.abort.abort()
      if (state === 'starting') state = 'stopped'
      await closeListeners(own)
      throw cause
    }
  }

  async function open(own: Run, messages: Wakeup): Promise<void> {
    await ctx.plugins.ready(ctx.platform)
    await ctx.storage.verify?.()
    if (ctx.storage.name === 'memory' && ctx.platform.production?.()) {
      ctx.log.warn('posthorn keeps everything in memory: nothing survives a restart of this process')
    }
    await ctx.clock.ready()
    for (const listen of [
      () => ctx.queue.onAdded?.((where) => where !== 'here' && jobs.wake('added')),
      () => ctx.inbox.onPut?.(() => messages.wake('added')),
      () => ctx.storage.onChanged?.(needs.changed),
    ]) {
      if (own.abort.signal.aborted) return
      const close = await listen()
      if (close === undefined) continue
      own.listeners.push(close)
      if (own.abort.signal.aborted) await closeListeners(own) // it came after its time
    }
  }

  /** Waits for a start, then ends what it began. A start that takes longer than `timeoutMs` is given up. */
  async function endAfter(starting: Promise<void>, timeoutMs: number): Promise<void> {
    const since = ctx.clock.elapsed()
    const late = () => new PosthornError('unavailable', 'the start took too long')
    await inTime(ctx.clock, timeoutMs, starting, late).catch(() => {}) // whoever started hears of it
    await end(Math.max(timeoutMs - (ctx.clock.elapsed() - since), 0))
  }

  async function end(timeoutMs: number): Promise<void> {
    const own = run
    own.abort.abort()
    jobs.set(false)
    const stopAborting = alarm(ctx.clock, timeoutMs, () => held.cancelAll())
    const late = () => new PosthornError('unavailable', 'the worker stopped')
    try {
      await inTime(ctx.clock, timeoutMs + graceMs, finish(own), late)
    } catch {
      // Whoever waits for the engine hears of it now; what is not stored is left to its lease.
      ingest.giveUp()
      deliver.giveUp()
      void ctx.http.close?.()
    } finally {
      stopAborting()
      delivering.open()
      if (state === 'stopping') state = 'stopped'
    }
  }

  async function finish(own: Run): Promise<void> {
    const closing = closeListeners(own)
    await delivering.close()
    await own.loops
    await Promise.all([ingest.idle(), deliver.idle(), background.idle(), closing])
    await ctx.http.close?.()
  }

  async function closeListeners({ listeners }: Run): Promise<void> {
    await Promise.all(
      listeners
        .splice(0)
        .map((close) => close().catch((cause: unknown) => ctx.log.warn('a listener could not be closed', { cause }))),
    )
  }

  return { start, stop, ...passes(needs, parts) }
}

function newRun(): Run {
  return { abort: new AbortController(), listeners: [], loops: Promise.resolve() }
}

/** What work comes to, unless the signal aborts first. */
function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new PosthornError('unavailable', 'it was stopped while it started')))
    work.then(resolve, reject)
  })
}
