import type { Thread } from '../../contracts/platform.ts'
import type { Ending, Run } from './sandbox.ts'

interface Waiting {
  readonly script: object
  readonly run: Run
  resolve(ending: Ending | 'busy'): void
  reject(cause: unknown): void
  /** Its turn has come. */
  leave(): void
}

interface PoolOptions {
  readonly size: number
  /** Runs that may wait for a thread at once; more are answered `busy`. */
  readonly waiting: number
  /** How long a run may take, and how long it may wait for a thread before it is answered `busy`. */
  readonly timeMs: number
}

// The sandbox stops most runs at their time by itself. What loops in the engine's own code is killed this much later.
const graceMs = 50

/**
 * Gives each run a thread of its own. A thread that exceeded a limit is killed and replaced. A script that did so gets
 * one thread at a time until it ends well again, and such scripts together at most half of the threads, so that they
 * never stop the others.
 */
export function makePool(start: () => Promise<Thread>, { size, waiting: most, timeMs }: PoolOptions) {
  const waiting: Waiting[] = []
  const idle: Thread[] = []
  const alive = new Set<Thread>()
  /** Scripts that exceeded a limit lately, with how many threads each holds. */
  const slow = new WeakMap<object, number>()
  let slowRunning = 0
  let taken = 0
  let generation = 0

  function mayRun({ script }: Waiting): boolean {
    return !slow.has(script) || (slow.get(script) === 0 && slowRunning < Math.max(1, size / 2))
  }

  function dispatch(): void {
    while (taken < size) {
      const at = waiting.findIndex(mayRun)
      if (at === -1) return
      const [job] = waiting.splice(at, 1)
      job?.leave()
      if (job !== undefined) void work(job)
    }
  }

  async function work(job: Waiting): Promise<void> {
    const wasSlow = slow.has(job.script)
    taken++
    if (wasSlow) {
      slowRunning++
      slow.set(job.script, 1)
    }
    try {
      const ending = await onThread(job.run)
      if (ending.kind === 'exceeded') slow.set(job.script, 0)
      else slow.delete(job.script)
      job.resolve(ending)
    } catch (cause) {
      if (wasSlow) slow.set(job.script, 0)
      job.reject(cause)
    } finally {
      taken--
      if (wasSlow) slowRunning--
      dispatch()
    }
  }

  async function onThread(run: Run): Promise<Ending> {
    const born = generation
    const thread = idle.pop() ?? (await begin())
    let killed = false
    const timer = setTimeout(() => {
      killed = true
      thread.kill()
    }, timeMs + graceMs)
    let ending: Ending
    try {
      ending = (await thread.call(run)) as Ending // the script answers nothing else
    } catch (cause) {
      alive.delete(thread)
      if (!killed) {
        thread.kill()
        throw cause
      }
      ending = { kind: 'exceeded', lines: [], limit: 'time' }
    } finally {
      clearTimeout(timer)
    }
    if (ending.kind !== 'exceeded' && born === generation) idle.push(thread)
    else {
      thread.kill()
      alive.delete(thread)
      if (born === generation) replace()
    }
    return ending
  }

  async function begin(): Promise<Thread> {
    const thread = await start()
    alive.add(thread)
    return thread
  }

  /** Starts a successor before it is asked for. One that does not start is reported to the run that then needs it. */
  function replace(): void {
    const born = generation
    void begin().then(
      (thread) => {
        if (born === generation && idle.length + taken < size) idle.push(thread)
        else {
          thread.kill()
          alive.delete(thread)
        }
      },
      () => undefined,
    )
  }

  return {
    /** Resolves with how it ended, or `busy` when no thread came free in time. Rejects when no thread can be had. */
    run(script: object, run: Run, signal?: AbortSignal): Promise<Ending | 'busy'> {
      if (waiting.length >= most) return Promise.resolve('busy')
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          waiting.splice(waiting.indexOf(job), 1)
          job.leave()
          resolve('busy')
        }
        const timer = setTimeout(giveUp, timeMs)
        const leave = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', giveUp)
        }
        signal?.addEventListener('abort', giveUp)
        const job: Waiting = { script, run, resolve, reject, leave }
        waiting.push(job)
        dispatch()
      })
    },
    /** Kills all threads. A later run starts new ones. */
    close(): void {
      generation++
      for (const thread of alive) thread.kill()
      alive.clear()
      idle.length = 0
    },
  }
}
