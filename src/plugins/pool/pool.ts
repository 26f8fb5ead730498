import type { Thread } from '../../contracts/platform.ts'
import { inTurns } from '../../core/in-turns.ts'
import { type Tenant, tenantShares } from '../../core/tenants.ts'
import { type Crew, makeCrew } from './crew.ts'
import { makeTrust } from './trust.ts'

export type { Tenant } from '../../core/tenants.ts'

export type Call = (message: unknown) => Promise<unknown>

/** One run: some calls of a process, after one another. */
export interface Job<Answer> {
  readonly tenant: Tenant
  /** Whose run it is: what exceeds its limits is remembered by the identity of this object. */
  readonly script: object
  readonly signal?: AbortSignal | undefined
  /** Called when the wait for a process is over and the run begins. */
  readonly onTurn?: (() => void) | undefined
  work(call: Call): Promise<Answer>
  /** Whether the answer tells of a limit that was exceeded, and perhaps of a process that is better ended for it. */
  judge?(answer: Answer): 'well' | 'exceeded' | 'spent'
  readonly timeMs?: number
}

/** How a run ended: with an answer; without a process for it; after its time; with the end of its process. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'busy' | 'time' | 'ended' }

interface PoolOptions {
  /** Processes at most for the scripts that are trusted; one more is for the others. */
  readonly size: number
  /** Runs, waiting ones included, that all tenants together may have. */
  readonly places: number
  /** How long a run may take; it may wait twice that time for a process. */
  readonly timeMs: number
}

interface Waiting {
  readonly workspace: string
  readonly script: object
  /** Its turn has come, in a process of that crew. */
  go(crew: Crew): Promise<void>
}

// The scripts stop most runs at their time by themselves. What does not end is killed this much later.
const graceMs = 50
/** For how long a run beyond its limits is held against its script. */
const memoryMs = 60_000
/** A run that a processor worked on for longer is a heavy one, and that is held against its script for a moment. */
const heavyMs = 50
const heavyMemoryMs = 2000

/**
 * Gives each run a process of its own. Runs wait in turns by workspace. Scripts that are new, that ran long a moment ago,
 * or that exceeded a limit lately, share one process, which yields to all others where the system can be asked for that:
 * they never stop the others.
 */
export function makePool(
  start: (yields: boolean) => Promise<Thread>,
  { size, places: total, timeMs }: PoolOptions,
  now: () => number = () => performance.now(),
) {
  const trusted = makeCrew(() => start(false), size)
  const doubtful = makeCrew(() => start(true), 1)
  const places = tenantShares(total)
  const lines = inTurns<Waiting>()
  const trust = makeTrust(now)

  const isTrusted = ({ script, workspace }: Waiting) => trust.isTrusted(script, workspace)
  const isNew = (waiting: Waiting) => !isTrusted(waiting) && !trust.isStruck(waiting.script)
  const isDoubtful = (waiting: Waiting) => !isTrusted(waiting)

  function dispatch(): void {
    for (let next = first(trusted, isTrusted); next !== undefined; next = first(trusted, isTrusted))
      void next.go(trusted)
    if (!doubtful.hasRoom()) return
    void (lines.next(isNew) ?? lines.next(isDoubtful))?.go(doubtful)
  }

  const first = (crew: Crew, mayGo: (waiting: Waiting) => boolean) => (crew.hasRoom() ? lines.next(mayGo) : undefined)

  async function onProcess<Answer>(job: Job<Answer>, crew: Crew): Promise<Outcome<Answer>> {
    return await crew.use<Outcome<Answer>>(async (thread) => {
      job.onTurn?.() // not before: the start of a process is no time of the tenant's
      let timer: ReturnType<typeof setTimeout> | undefined
      let timedOut = false
      timer = setTimeout(
        () => {
          timedOut = true
          thread.kill()
        },
        (job.timeMs ?? timeMs) + graceMs,
      )
      try {
        const answer = await job.work(async (message) => {
          const { answer, busyMs } = await thread.call(message)
          if (busyMs > heavyMs) trust.strike(job.script, job.tenant.workspace, heavyMemoryMs)
          return answer
        })
        return { answer: { kind: 'answer', answer }, spent: job.judge?.(answer) === 'spent' }
      } catch (cause) {
        if (thread.alive) throw cause
        return { answer: { kind: timedOut ? 'time' : 'ended' }, spent: true }
      } finally {
        clearTimeout(timer)
      }
    })
  }

  async function carryOut<Answer>(job: Job<Answer>, crew: Crew): Promise<Outcome<Answer>> {
    const outcome = await onProcess(job, crew)
    const well = outcome.kind === 'answer' && (job.judge?.(outcome.answer) ?? 'well') === 'well'
    if (well) trust.praise(job.script)
    else trust.strike(job.script, job.tenant.workspace, memoryMs)
    return outcome
  }

  return {
    /** Rejects when no process can be had. */
    run<Answer>(job: Job<Answer>): Promise<Outcome<Answer>> {
      if (!places.take(job.tenant, 1)) return Promise.resolve({ kind: 'busy' })
      return new Promise<Outcome<Answer>>((resolve, reject) => {
        const giveUp = () => {
          lines.remove(waiting)
          leave()
          resolve({ kind: 'busy' })
        }
        const timer = setTimeout(giveUp, 2 * timeMs)
        const leave = () => {
          clearTimeout(timer)
          job.signal?.removeEventListener('abort', giveUp)
        }
        const waiting: Waiting = {
          workspace: job.tenant.workspace,
          script: job.script,
          async go(crew) {
            leave()
            await carryOut(job, crew).then(resolve, reject)
            dispatch()
          },
        }
        job.signal?.addEventListener('abort', giveUp)
        lines.add(waiting)
        dispatch()
      }).finally(() => places.give(job.tenant, 1))
    },
    /** Ends all processes. A later run starts new ones. */
    close(): void {
      trusted.close()
      doubtful.close()
    },
  }
}
