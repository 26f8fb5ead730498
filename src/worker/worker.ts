import { PosthornError } from '../errors.ts'
import { engineParts } from '../services/engine-parts.ts'
import { withDeadline } from '../runtime/deadline.ts'
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
import { StopDeadline } from './stop-deadline.ts'
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
  /** A stop that is under way. A start may wait for it already. */
  #stopping: { readonly deadline: StopDeadline; readonly done: Promise<void> } | null = null
  #run: Run

  constructor(needs: Needs) {
    this.#needs = needs
    this.#parts = makeParts(needs)
    this.#passes = new Passes(needs, this.#parts, () => this.#openUnlessStopping())
    this.#run = new Run(needs, this.#parts)
  }

  start(): Promise<void> {
    if (this.#state === 'starting' || this.#state === 'running') return this.#change
    this.#state = 'starting'
    const change: Promise<void> =
      this.#stopping === null ? this.#begin() : this.#beginAfter(this.#stopping.done, () => this.#change === change)
    this.#change = change
    return change
  }

  stop({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    if (this.#stopping === null) {
      const deadline = new StopDeadline(this.#needs.ctx.clock, timeoutMs)
      this.#stopping = { deadline, done: this.#end(deadline, this.#state === 'starting' ? this.#change : null) }
    } else this.#stopping.deadline.atMost(timeoutMs)
    this.#state = 'stopping'
    this.#change = this.#stopping.done
    return this.#change
  }

  async #begin(): Promise<void> {
    const run = (this.#run = new Run(this.#needs, this.#parts))
    this.#parts.deliveries.open()
    try {
      await run.begin()
      this.#becomes('running')
    } catch (cause) {
      run.abort()
      this.#becomes('stopped')
      await run.closeListeners()
      throw cause
    }
  }

  /** The end of a start. While a stop is under way, it is that stop which ends the run. */
  #becomes(state: 'running' | 'stopped'): void {
    if (this.#state === 'starting' && this.#stopping === null) this.#state = state
  }

  /** Begins when a stop has ended. `isWanted`: no other stop was asked for meanwhile. */
  async #beginAfter(stopped: Promise<void>, isWanted: () => boolean): Promise<void> {
    await stopped
    if (!isWanted()) throw new PosthornError('unavailable', 'it was stopped before it started')
    await this.#begin()
  }

  /** Waits for a start that is under way, and aborts it when that takes too long. Then stops. */
  async #end(deadline: StopDeadline, starting: Promise<void> | null): Promise<void> {
    const { ingest, deliver, jobs } = this.#needs
    const { holds, rests } = this.#parts
    const late = () => new PosthornError('unavailable', 'the worker stopped')
    // The caller of `start` gets the error.
    if (starting !== null) await deadline.within(starting, 0, late).catch(() => {})
    const run = this.#run
    run.abort()
    jobs.set(false)
    const stopAborting = deadline.alarm(0, () => holds.cancelAll())
    let isLate = false
    try {
      await deadline.within(
        this.#finish(run, () => isLate),
        graceMs,
        late,
      )
    } catch {
      isLate = true
      // Callers that wait for the engine get an error now. Jobs whose outcomes are not stored wait for their leases to end.
      ingest.giveUp()
      deliver.giveUp()
      this.#parts.inbox.giveUp()
      void this.#closeHttp()
    } finally {
      stopAborting()
      rests.end()
      await this.#release()
      this.#stopping = null
      if (this.#state === 'stopping') this.#state = 'stopped'
    }
  }

  async #finish(run: Run, isLate: () => boolean): Promise<void> {
    const { ingest, deliver, background } = this.#needs
    const closing = run.closeListeners()
    const closed = this.#parts.deliveries.close(isLate)
    this.#parts.room.clear()
    await closed
    await run.loopsEnded()
    await ingest.idle()
    await this.#parts.inbox.idle()
    await Promise.all([ingest.idle(), deliver.idle(), background.idle(), closing])
    if (!isLate()) await this.#closeHttp() // else a later start may use it
  }

  async #closeHttp(): Promise<void> {
    const { http, log } = this.#needs.ctx
    try {
      await http.close?.()
    } catch (cause) {
      log.warn('the HTTP client could not be closed', { cause })
    }
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

  /** After a stop nothing is claimed, until a start or a tick. */
  #openUnlessStopping(): void {
    if (this.#stopping === null) this.#parts.deliveries.open()
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
    othersMayTake: (loaded) => company.mayTake(loaded),
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
