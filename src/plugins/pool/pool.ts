import type { Thread } from '../../contracts/platform.ts'
import { makeCrew } from './crew.ts'
import { makeLines } from './lines.ts'
import { makePlaces, type Tenant } from './places.ts'
import { makeTrust } from './trust.ts'

export type { Tenant } from './places.ts'

export type Call = (message: unknown) => Promise<unknown>

/** One run: some calls of a process, after one another. */
export interface Job<Answer> {
  readonly tenant: Tenant
  /** Whose run it is: what exceeds its limits is remembered by the identity of this object. */
  readonly script: object
  readonly signal?: AbortSignal | undefined
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
  /** Processes at most. */
  readonly size: number
  /** Runs, waiting ones included, that all tenants together may have. */
  readonly places: number
  /** How long a run may take; it may wait twice that time for a process. */
  readonly timeMs: number
}

interface Waiting {
  readonly tenant: Tenant
  readonly script: object
  /** Its turn has come. */
  go(): Promise<void>
}

// The scripts stop most runs at their time by themselves. What does not end is killed this much later.
const graceMs = 50
/** For how long a run beyond its limits is held against its script. */
const memoryMs = 60_000
/** A run that a processor worked on for longer is a heavy one, and that is held against its script for a moment. */
const heavyMs = 50
const heavyMemoryMs = 2000

/**
 * Gives each run a process of its own. Runs wait in turns by workspace. A script that is new, that ran long a moment
 * ago, or that exceeded a limit lately, gets one process at a time, and all such scripts together at most half of the processes, so that they never
 * stop the others.
 */
export function makePool(
  start: () => Promise<Thread>,
  { size, places: total, timeMs }: PoolOptions,
  now: () => number = () => performance.now(),
) {
  const crew = makeCrew(start, size)
  const places = makePlaces(total)
  const lines = makeLines<Waiting>()
  const trust = makeTrust(now)
  const doubtful = new Set<object>()
  const mostDoubtful = Math.max(1, Math.floor(size / 2))

  const isTrusted = ({ script, tenant }: Waiting) => trust.isTrusted(script, tenant.workspace)
  const mayGo = (waiting: Waiting) =>
    isTrusted(waiting) || (doubtful.size < mostDoubtful && !doubtful.has(waiting.script))

  function dispatch(): void {
    while (crew.hasRoom()) {
      const next = lines.next((waiting) => mayGo(waiting) && !trust.isStruck(waiting.script)) ?? lines.next(mayGo)
      if (next === undefined) return
      void next.go()
    }
  }

  async function onProcess<Answer>(job: Job<Answer>): Promise<Outcome<Answer>> {
    return await crew.use<Outcome<Answer>>(async (thread) => {
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

  async function carryOut<Answer>(job: Job<Answer>): Promise<Outcome<Answer>> {
    const { script, tenant } = job
    const isDoubtful = !trust.isTrusted(script, tenant.workspace)
    if (isDoubtful) doubtful.add(script)
    try {
      const outcome = await onProcess(job)
      if (outcome.kind === 'answer' && (job.judge?.(outcome.answer) ?? 'well') === 'well') trust.praise(script)
      else trust.strike(script, tenant.workspace, memoryMs)
      return outcome
    } finally {
      if (isDoubtful) doubtful.delete(script)
    }
  }

  return {
    /** Rejects when no process can be had. */
    run<Answer>(job: Job<Answer>): Promise<Outcome<Answer>> {
      const giveBack = places.take(job.tenant)
      if (giveBack === null) return Promise.resolve({ kind: 'busy' })
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
          tenant: job.tenant,
          script: job.script,
          async go() {
            leave()
            await carryOut(job).then(resolve, reject)
            dispatch()
          },
        }
        job.signal?.addEventListener('abort', giveUp)
        lines.add(waiting)
        dispatch()
      }).finally(giveBack)
    },
    /** Ends all processes. A later run starts new ones. */
    close: crew.close,
  }
}
