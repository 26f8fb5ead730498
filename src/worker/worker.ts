import { PosthornError } from '../errors.ts'
import { engineParts } from '../services/engine-parts.ts'
import { withDeadline } from '../runtime/deadline.ts'
import { startTimer } from '../runtime/timer.ts'
import type { TickReport, Worker } from '../surface/worker.ts'
import { Deliveries } from './deliveries.ts'
import { InboxConsumer } from './inbox.ts'
import { Holds } from './holds.ts'
import type { Parts } from './loops.ts'
import type { Needs } from './needs.ts'
import { LetGo } from './let-go.ts'
import { Lines } from './lines.ts'
import { Outcomes } from './outcomes.ts'
import { Passes } from './passes.ts'
import { RateLimits } from './rate-limits.ts'
import { Rests } from './resting-endpoints.ts'
import { Run } from './run.ts'
import { Slots } from './slots.ts'
import { requeue } from './requeue.ts'
import { upkeep } from './upkeep.ts'
import { Company } from './company.ts'
import { WaitingRoom } from './waiting-room.ts'

/** A stop may take this much longer than `timeoutMs`: outcomes are stored and listeners are closed in that time. */
const graceMs = 500
/** What closing the connections of engines may take after that. */
const releaseMs = 400

/** Starts and stops the loops of this process. */
export class LocalWorker implements Worker {
  readonly #needs: Needs
  readonly #parts: Parts
  readonly #passes: Passes
  #state: 'stopped' | 'starting' | 'running' | 'stopping' = 'stopped'
  /** The last change of state, under way or done. */
  #change: Promise<void> = Promise.resolve()
  #run: Run

  constructor(needs: Needs) {
    this.#needs = needs
    this.#parts = makeParts(needs)
    this.#passes = new Passes(needs, this.#parts)
    this.#run = new Run(needs, this.#parts)
  }

  start(): Promise<void> {
    if (this.#state === 'starting' || this.#state === 'running') return this.#change
    this.#change = this.#state === 'stopping' ? this.#change.then(() => this.#begin()) : this.#begin()
    this.#state = 'starting'
    return this.#change
  }

  stop({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    if (this.#state === 'stopping') return this.#change
    this.#change = this.#state === 'starting' ? this.#endAfter(this.#change, timeoutMs) : this.#end(timeoutMs)
    this.#state = 'stopping'
    return this.#change
  }

  async #begin(): Promise<void> {
    const run = (this.#run = new Run(this.#needs, this.#parts))
    try {
      await run.begin()
      if (this.#state === 'starting') this.#state = 'running'
    } catch (cause) {
      run.abort()
      if (this.#state === 'starting') this.#state = 'stopped'
      await run.closeListeners()
      throw cause
    }
  }

  /** Waits for a start, then stops. Aborts a start that takes longer than `timeoutMs`. */
  async #endAfter(starting: Promise<void>, timeoutMs: number): Promise<void> {
    const { clock } = this.#needs.ctx
    const since = clock.elapsed()
    const late = () => new PosthornError('unavailable', 'the start took too long')
    await withDeadline(clock, timeoutMs, starting, late).catch(() => {}) // the caller of `start` gets the error
    await this.#end(Math.max(timeoutMs - (clock.elapsed() - since), 0))
  }

  async #end(timeoutMs: number): Promise<void> {
    const { ctx, ingest, deliver, jobs } = this.#needs
    const { deliveries, holds, rests } = this.#parts
    const run = this.#run
    run.abort()
    jobs.set(false)
    const stopAborting = startTimer(ctx.clock, timeoutMs, () => holds.cancelAll())
    const late = () => new PosthornError('unavailable', 'the worker stopped')
    try {
      await withDeadline(ctx.clock, timeoutMs + graceMs, this.#finish(run), late)
    } catch {
      // Callers that wait for the engine get an error now. Jobs whose outcomes are not stored wait for their leases to end.
      ingest.giveUp()
      deliver.giveUp()
      this.#parts.inbox.giveUp()
      void ctx.http.close?.()
    } finally {
      stopAborting()
      rests.end()
      await this.#release()
      deliveries.open()
      if (this.#state === 'stopping') this.#state = 'stopped'
    }
  }

  async #finish(run: Run): Promise<void> {
    const { ctx, ingest, deliver, background } = this.#needs
    const closing = run.closeListeners()
    const closed = this.#parts.deliveries.close()
    this.#parts.room.clear()
    await closed
    await run.loopsEnded()
    await ingest.idle()
    await this.#parts.inbox.idle()
    await Promise.all([ingest.idle(), deliver.idle(), background.idle(), closing])
    await ctx.http.close?.()
  }

  /** Engines that opened connections by themselves close them. */
  async #release(): Promise<void> {
    const { ctx } = this.#needs
    const stopped = new Set(engineParts(ctx).flatMap((part) => part.stopped ?? []))
    const late = () => new PosthornError('unavailable', 'the engine did not close its connections in time')
    try {
      await withDeadline(ctx.clock, releaseMs, Promise.all([...stopped].map((stop) => stop())), late)
    } catch (cause) {
      ctx.log.warn('connections of an engine could not be closed', { cause })
    }
  }

  tick(options?: { budgetMs?: number }): Promise<TickReport> {
    return this.#passes.tick(options)
  }

  drain(options?: { until?: number }): Promise<void> {
    return this.#passes.drain(options)
  }
}

function makeParts({ ctx, ingest, deliver, operational, jobs }: Needs): Parts {
  const complain = (message: string, cause: unknown) => ctx.repeating.error(message, { cause })
  const lines: Lines = new Lines(ctx, {
    isSlowOrNew: (group) => slots.isSlowOrNew(group),
    isBesideOthers: (workspace) => slots.pace.isBesideOthers(workspace),
  })
  const slots = new Slots(ctx.settings.deliver, ctx.clock, jobs, (group) => lines.leastMs(group))
  const holds = new Holds(ctx, complain)
  const limits = new RateLimits(ctx, complain)
  const rests = new Rests(ctx.clock, jobs)
  const outcomes = new Outcomes(ctx, deliver, complain)
  const letGo = new LetGo(slots, holds)
  const company = new Company(ctx)
  const room = new WaitingRoom({ ctx, slots, lines, holds, rests, wakeup: jobs, isAlone: () => company.isAlone })
  const deliveries = new Deliveries({
    ctx,
    deliver,
    slots,
    lines,
    holds,
    letGo,
    limits,
    rests,
    outcomes,
    wakeup: jobs,
    complain,
  })
  return {
    deliveries,
    holds,
    letGo,
    slots,
    lines,
    rests,
    room,
    outcomes,
    requeue: requeue(ctx),
    inbox: new InboxConsumer(ctx, ingest),
    upkeep: upkeep(ctx, company, operational),
  }
}
