import type { Thread } from '../../contracts/platform.ts'
import { InTurns } from '../../core/in-turns.ts'
import { type Tenant, tenantShares } from '../../core/tenants.ts'
import { type Crew, makeCrew } from './crew.ts'
import { makePace } from './pace.ts'
import { makeTrust } from './trust.ts'

export type { Tenant } from '../../core/tenants.ts'

export type Call = (message: unknown) => Promise<unknown>

/** A run: calls of a process, in turn. */
export interface Job<Answer, Part = never> {
  readonly tenant: Tenant
  /** Whose run it is. Runs that exceed a limit are remembered by the identity of this object. */
  readonly script: object
  readonly signal?: AbortSignal | undefined
  /** Called when the wait for a process is over and the run begins. */
  readonly onTurn?: (() => void) | undefined
  work(call: Call): Promise<Answer>
  /** For a run that may be carried out together with waiting runs of the same script. */
  readonly together?: Together<Answer, Part> | undefined
  /** Whether the answer tells of a limit that was exceeded, and perhaps of a process that is better ended for it. */
  judge?(answer: Answer): 'well' | 'exceeded' | 'spent'
  readonly timeMs?: number
}

interface Together<Answer, Part> {
  readonly part: Part
  /** Carries out several runs at once. Answers in the order of the parts. */
  work(call: Call, parts: readonly Part[]): Promise<readonly Answer[]>
}

/** How a run ended: with an answer; `busy`: no process was free in time; `time`: the run took too long; `ended`: the process ended. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'busy' | 'time' | 'ended' }

interface PoolOptions {
  /** The most processes for trusted scripts. Another process is for all other scripts. */
  readonly size: number
  /** Runs, waiting runs included, that all tenants together may have. */
  readonly places: number
  /** How long a run may take; it may wait twice that time for a process. */
  readonly timeMs: number
}

interface Waiting {
  readonly workspace: string
  readonly script: object
  readonly job: Job<unknown, unknown>
  /** The wait is over. */
  leave(): void
  resolve(outcome: Outcome<unknown>): void
  reject(cause: unknown): void
}

// The scripts stop most runs at their time by themselves. What does not end is killed this much later.
const graceMs = 50
/** A script whose run exceeded a limit is not trusted for so long. */
const memoryMs = 60_000
/** A run that takes a processor for longer is heavy. The script is not trusted for a moment. */
const heavyMs = 50
const heavyMemoryMs = 2000

/**
 * Gives each run a process. Runs wait in turns by workspace. Scripts that are new, that ran long a moment ago, or that
 * exceeded a limit lately, share a single process: such scripts never stop others. The process yields to all other
 * processes, where the system can be asked for that.
 */
export function makePool(
  start: (yields: boolean) => Promise<Thread>,
  options: PoolOptions,
  now: () => number = () => performance.now(),
): Pool {
  return new Pool(start, options, now)
}

class Pool {
  readonly #trusted: Crew
  readonly #doubtful: Crew
  readonly #places: ReturnType<typeof tenantShares>
  readonly #timeMs: number
  readonly #lines = new InTurns<Waiting>()
  readonly #trust: ReturnType<typeof makeTrust>
  readonly #pace = makePace()
  readonly #isTrusted = ({ script, workspace }: Waiting): boolean => this.#trust.isTrusted(script, workspace)
  readonly #isNew = (waiting: Waiting): boolean => !this.#isTrusted(waiting) && !this.#trust.isStruck(waiting.script)
  readonly #isDoubtful = (waiting: Waiting): boolean => !this.#isTrusted(waiting)

  constructor(start: (yields: boolean) => Promise<Thread>, { size, places, timeMs }: PoolOptions, now: () => number) {
    this.#trusted = makeCrew(() => start(false), size)
    this.#doubtful = makeCrew(() => start(true), 1)
    this.#places = tenantShares(places)
    this.#timeMs = timeMs
    this.#trust = makeTrust(now)
  }

  /** Rejects when no process can be had. */
  readonly run = <Answer, Part = never>(job: Job<Answer, Part>): Promise<Outcome<Answer>> => {
    if (!this.#places.take(job.tenant, 1)) return Promise.resolve({ kind: 'busy' })
    return new Promise<Outcome<Answer>>((resolve, reject) => {
      // A job answers what it says it answers.
      this.#wait(job, { resolve: resolve as Waiting['resolve'], reject })
    }).finally(() => this.#places.give(job.tenant, 1))
  }

  /** Ends all processes. A later run starts new processes. */
  readonly close = (): void => {
    this.#trusted.close()
    this.#doubtful.close()
  }

  #dispatch(): void {
    while (this.#trusted.hasRoom()) {
      const next = this.#lines.next(this.#isTrusted)
      if (next === undefined) break
      void this.#go([next, ...this.#companionsOf(next)], this.#trusted)
    }
    if (!this.#doubtful.hasRoom()) return
    const next = this.#lines.next(this.#isNew) ?? this.#lines.next(this.#isDoubtful)
    if (next !== undefined) void this.#go([next], this.#doubtful)
  }

  /** The runs that are carried out with a run whose turn has come: runs of the same script, so that no tenant waits for another tenant. */
  #companionsOf({ script, job }: Waiting): readonly Waiting[] {
    const companions: Waiting[] = []
    if (job.together === undefined) return companions
    const max = this.#pace.runsAtOnce(script)
    while (companions.length + 1 < max) {
      const next = this.#lines.next((waiting) => waiting.script === script && waiting.job.together !== undefined)
      if (next === undefined) break
      companions.push(next)
    }
    return companions
  }

  async #go(group: readonly Waiting[], crew: Crew): Promise<void> {
    for (const { leave } of group) leave()
    const [first, ...others] = group as readonly [Waiting, ...Waiting[]]
    if (others.length === 0) await this.#carryOut(first.job, crew).then(first.resolve, first.reject)
    else await this.#carryOutTogether(group, first.job, crew)
    this.#dispatch()
  }

  /** Carries out the work of jobs, which have the same script. */
  async #onProcess<Answer>(
    jobs: readonly Job<unknown, unknown>[],
    crew: Crew,
    work: (call: Call) => Promise<Answer>,
    isSpent: (answer: Answer) => boolean,
  ): Promise<Outcome<Answer>> {
    const { script, tenant, timeMs: ownMs = this.#timeMs } = jobs[0]! // never empty
    return await crew.use<Outcome<Answer>>(async (thread) => {
      for (const job of jobs) job.onTurn?.() // not before: the start of a process is no time of the tenant's
      let timedOut = false
      const timer = setTimeout(() => {
        timedOut = true
        thread.kill()
      }, ownMs + graceMs)
      let workedMs = 0
      try {
        const answer = await work(async (message) => {
          const { answer, busyMs } = await thread.call(message)
          workedMs += busyMs
          if (busyMs > heavyMs) this.#trust.strike(script, tenant.workspace, heavyMemoryMs)
          return answer
        })
        this.#pace.note(script, workedMs / jobs.length)
        return { answer: { kind: 'answer', answer }, spent: isSpent(answer) }
      } catch (cause) {
        if (thread.alive) throw cause
        return { answer: { kind: timedOut ? 'time' : 'ended' }, spent: true }
      } finally {
        clearTimeout(timer)
      }
    })
  }

  async #carryOut<Answer>(job: Job<Answer, unknown>, crew: Crew): Promise<Outcome<Answer>> {
    const judge = (answer: Answer) => job.judge?.(answer) ?? 'well'
    const outcome = await this.#onProcess(
      [job],
      crew,
      (call) => job.work(call),
      (answer) => judge(answer) === 'spent',
    )
    const well = outcome.kind === 'answer' && judge(outcome.answer) === 'well'
    if (well) this.#trust.praise(job.script)
    else this.#trust.strike(job.script, job.tenant.workspace, memoryMs)
    return outcome
  }

  async #carryOutTogether(group: readonly Waiting[], { together }: Job<unknown, unknown>, crew: Crew) {
    const jobs = group.map(({ job }) => job)
    const parts = jobs.map((job) => job.together!.part) // only such jobs are companions
    try {
      const outcome = await this.#onProcess(
        jobs,
        crew,
        (call) => together!.work(call, parts),
        () => false,
      )
      for (const [at, { job, resolve }] of group.entries()) {
        if (outcome.kind === 'answer') resolve({ kind: 'answer', answer: outcome.answer[at] })
        // Nobody can tell which of the runs ended the process: each run is repeated alone and judged then.
        else this.#wait({ ...job, together: undefined }, group[at]!)
      }
    } catch (cause) {
      for (const { reject } of group) reject(cause)
    }
  }

  #wait(job: Job<unknown, unknown>, { resolve, reject }: Pick<Waiting, 'resolve' | 'reject'>): void {
    const giveUp = () => {
      this.#lines.remove(waiting)
      waiting.leave()
      resolve({ kind: 'busy' })
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let waits = true
    const waiting: Waiting = {
      workspace: job.tenant.workspace,
      script: job.script,
      job,
      leave() {
        waits = false
        clearTimeout(timer)
        job.signal?.removeEventListener('abort', giveUp)
      },
      resolve,
      reject,
    }
    this.#lines.add(waiting)
    this.#dispatch()
    if (!waits) return // most runs find a free process
    timer = setTimeout(giveUp, 2 * this.#timeMs)
    job.signal?.addEventListener('abort', giveUp)
  }
}
