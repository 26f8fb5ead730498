import type { Context } from '../context.ts'
import { maxLow } from '../core/job-rank.ts'
import { inSlices } from '../runtime/slices.ts'
import { startTimer } from '../runtime/timer.ts'
import { FirstTries } from './first-tries.ts'
import { inTwo, type ReadyJob } from './ready-job.ts'

/** Jobs are claimed ahead of free slots for about as long as claims take. */
const aheadMs = 25
/** At most so many times the slots of an endpoint are claimed ahead. */
const maxAhead = 3
/** A job waits here no longer than this: others may have a free slot. */
const maxWaitMs = 500
/** How long requests to an endpoint take that let jobs wait too long, until answers tell otherwise. */
const silentMs = 10_000
/** How long requests usually take is a mean of so many. */
const usuallyOver = 512
/** What is taken for the least time of a request grows by one part in so many with each that takes longer. */
const growsBy = 8
/** The times of more endpoints are not remembered. */
const maxTimes = 10_000

interface Waiting {
  readonly job: ReadyJob
  readonly paced: boolean
  readonly since: number
}

/** How long requests to an endpoint take, in milliseconds. */
interface Takes {
  /** A moving average. */
  readonly recent: number
  /** A geometric mean of up to 512: requests of a burst wait for the event loop, and a few long ones hardly change it. */
  readonly usual: number
  /** Of how many that is the mean. */
  readonly count: number
  /**
   * About the least that late requests took, at least 1. It is nearer to what the endpoint itself takes: in a burst most requests
   * wait for our event loop, but not all. It begins with 1 and grows slowly, since the first request opens a connection.
   */
  readonly least: number
}

const silent: Takes = { count: 1, recent: silentMs, usual: silentMs, least: silentMs }

interface Line {
  inFlight: number
  /** Of `inFlight`, those of low priority. */
  lowInFlight: number
  readonly waiting: Waiting[]
  /** Those of low priority, which come after all others. */
  readonly waitingLow: Waiting[]
}

/** The request of a job has ended, so that the next of its line may begin. `give-back`: all that wait are given back instead. */
export type LeaveLine = (then: 'send-next' | 'give-back') => void

interface LineNeeds {
  /** Whether an endpoint is slow, or not known yet. */
  isSlowOrNew(group: string): boolean
  /** Whether other workspaces than this one deliver. */
  isBesideOthers(workspace: string): boolean
}

/** What lines do with jobs: send a job, which leaves its line when the request has ended, or give jobs back unsent. */
export interface Doors {
  send(job: ReadyJob, paced: boolean, leaveLine: LeaveLine): void
  giveBack(jobs: readonly ReadyJob[]): void
}

/**
 * A line of claimed jobs for each endpoint: no more than `perEndpoint` requests are in flight, and the next begins as soon
 * as one has ended. A few jobs more than that are claimed where an endpoint answers quickly, so that its slots do not wait
 * for claims. Jobs of low priority take a quarter of the slots at most.
 */
export class Lines {
  readonly #ctx: Context
  readonly #needs: LineNeeds
  readonly #firstTries: FirstTries
  readonly #perEndpoint: number
  readonly #maxLow: number
  readonly #byGroup = new Map<string, Line>()
  /** By endpoint. */
  readonly #takes = new Map<string, Takes>()
  #doors: Doors | null = null
  #stop: (() => void) | null = null
  #isClosed = false

  constructor(ctx: Context, needs: LineNeeds) {
    this.#ctx = ctx
    this.#needs = needs
    this.#firstTries = new FirstTries(ctx.clock, needs.isBesideOthers)
    this.#perEndpoint = ctx.settings.deliver.perEndpoint
    this.#maxLow = maxLow(this.#perEndpoint)
  }

  attach(doors: Doors): void {
    this.#doors = doors
  }

  /** How many jobs of an endpoint may wait here: as many as begin in the time that a claim takes. */
  maxAhead(group: string): number {
    const takes = this.#takes.get(group)
    if (takes === undefined) return 0
    return Math.min(Math.floor((this.#perEndpoint * aheadMs) / Math.max(takes.recent, 1)), maxAhead * this.#perEndpoint)
  }

  /** How long requests to an endpoint usually take, in milliseconds, at least 1; null where nobody knows. */
  usuallyTakesMs(group: string): number | null {
    return this.#takes.get(group)?.usual ?? null
  }

  /** The least time that requests to an endpoint took lately, in milliseconds, at least 1; null where nobody knows. */
  leastMs(group: string): number | null {
    return this.#takes.get(group)?.least ?? null
  }

  /**
   * Takes many jobs. Those to slow and new endpoints come second: opening a connection takes time that the others need not lose.
   * Each workspace has its own pace with these.
   */
  async enterAll(jobs: readonly ReadyJob[], paced: boolean): Promise<void> {
    const { clock } = this.#ctx
    const { first, second } = inTwo(jobs, ({ hold }) => this.#needs.isSlowOrNew(hold.claim.group))
    await inSlices(clock, first, (job) => this.enter(job, paced))
    if (second.length > 0 && first.length > 0) await clock.sleep(0)
    await inSlices(clock, second, (job) =>
      this.#firstTries.begin(job.hold.claim.workspace, () => this.enter(job, paced)),
    )
  }

  /** Sends a job as soon as the endpoint has a slot for it; gives it back after `close`. */
  enter(job: ReadyJob, paced: boolean): void {
    if (this.#isClosed) return this.#doors!.giveBack([job])
    const { group } = job.hold.claim
    let line = this.#byGroup.get(group)
    if (line === undefined) {
      this.#byGroup.set(group, (line = { inFlight: 0, lowInFlight: 0, waiting: [], waitingLow: [] }))
    }
    const hasSlot = line.inFlight < this.#perEndpoint
    if (hasSlot && (!isLow(job) || line.lowInFlight < this.#maxLow)) return this.#send(group, line, job, paced)
    const waiting = isLow(job) ? line.waitingLow : line.waiting
    waiting.push({ job, paced, since: this.#ctx.clock.elapsed() })
    this.#stop ??= startTimer(this.#ctx.clock, maxWaitMs, () => this.#giveUpWaiting())
  }

  #send(group: string, line: Line, job: ReadyJob, paced: boolean): void {
    const since = this.#ctx.clock.elapsed()
    line.inFlight++
    if (isLow(job)) line.lowInFlight++
    this.#doors!.send(job, paced, (then) => {
      line.inFlight--
      if (isLow(job)) line.lowInFlight--
      this.#note(group, this.#ctx.clock.elapsed() - since)
      if (then === 'give-back') this.#giveBack(line)
      this.#next(group, line)
      if (line.inFlight === 0) this.#byGroup.delete(group)
    })
  }

  #note(group: string, ms: number): void {
    if (this.#takes.size >= maxTimes) this.#takes.clear()
    const before = this.#takes.get(group) ?? { count: 0, recent: ms, usual: 1, least: 1 }
    const count = Math.min(before.count + 1, usuallyOver)
    const recent = before.recent + (ms - before.recent) / 8
    const usual = before.usual * (Math.max(ms, 1) / before.usual) ** (1 / count)
    const least = Math.min(Math.max(ms, 1), before.least * (1 + 1 / growsBy))
    this.#takes.set(group, { count, recent, least, usual: Math.min(usual, Math.max(recent, 1)) })
  }

  /** What was loaded under a configuration that moved on meanwhile is given back, to be loaded again. */
  #next(group: string, line: Line): void {
    const next = line.waiting.shift() ?? (line.lowInFlight < this.#maxLow ? line.waitingLow.shift() : undefined)
    if (next === undefined) return
    const { workspace, revision } = next.job.loaded.configuration
    if (this.#ctx.configuration.held(workspace.id)?.revision === revision) {
      return this.#send(group, line, next.job, next.paced)
    }
    line.waiting.unshift(next) // of whatever priority: all are given back
    this.#giveBack(line)
  }

  #giveBack(line: Line): void {
    const jobs = [...line.waiting.splice(0), ...line.waitingLow.splice(0)].map(({ job }) => job)
    if (jobs.length > 0) this.#doors!.giveBack(jobs)
  }

  /** Where the requests in flight do not end, others may send what waits here. */
  #giveUpWaiting(): void {
    this.#stop = null
    const now = this.#ctx.clock.elapsed()
    let next = Infinity
    for (const [group, line] of this.#byGroup) {
      const since = Math.min(line.waiting[0]?.since ?? Infinity, line.waitingLow[0]?.since ?? Infinity)
      if (since === Infinity) continue
      if (now - since < maxWaitMs) {
        next = Math.min(next, since + maxWaitMs - now)
        continue
      }
      // Those of low priority may have waited for the others.
      if (line.waiting.length > 0) this.#takes.set(group, silent)
      this.#giveBack(line)
    }
    if (next < Infinity) this.#stop = startTimer(this.#ctx.clock, next, () => this.#giveUpWaiting())
  }

  /** Gives back what waits; until `open` nothing waits. */
  close(): void {
    this.#isClosed = true
    this.#firstTries.flush()
    this.#stop?.()
    this.#stop = null
    for (const line of this.#byGroup.values()) this.#giveBack(line)
  }

  open(): void {
    this.#isClosed = false
  }
}

function isLow(job: ReadyJob): boolean {
  return job.hold.claim.priority === 'low'
}
