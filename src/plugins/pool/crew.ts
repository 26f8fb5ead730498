import type { Thread } from '../../contracts/platform.ts'

/** Starts processes and has them work one at a time. A process that was ended is replaced before it is asked for. */
export function makeCrew(start: () => Promise<Thread>, size: number) {
  const idle: Thread[] = []
  /** Replacements that are being started. */
  const coming = new Set<Promise<Thread>>()
  const alive = new Set<Thread>()
  let working = 0
  let generation = 0

  async function begin(): Promise<Thread> {
    const thread = await start()
    alive.add(thread)
    return thread
  }

  function end(thread: Thread): void {
    thread.kill()
    alive.delete(thread)
  }

  /** A process that does not start is forgotten. The next run that needs a process starts another, and gets the error if that fails. */
  function replace(): void {
    const replacement = begin()
    coming.add(replacement)
    replacement.then(
      (thread) => coming.delete(replacement) && idle.push(thread),
      () => coming.delete(replacement),
    )
  }

  async function take(): Promise<Thread> {
    for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) {
      if (thread.alive) return thread
      alive.delete(thread)
    }
    const [next] = coming
    if (next === undefined) return await begin()
    coming.delete(next)
    return await next
  }

  return {
    /** Whether a process is free, or may be started. */
    hasRoom: () => working < size,
    /** Gives work to a free process. `spent` says that the process is not to be used again. */
    async use<Answer>(work: (thread: Thread) => Promise<{ answer: Answer; spent: boolean }>): Promise<Answer> {
      const born = generation
      working++
      try {
        const thread = await take()
        const outcome = await work(thread).catch((cause: unknown) => {
          end(thread)
          throw cause
        })
        if (!outcome.spent && born === generation) idle.push(thread)
        else {
          end(thread)
          if (born === generation) replace()
        }
        return outcome.answer
      } finally {
        working--
      }
    },
    /** Ends all processes. A later use starts new processes. */
    close(): void {
      generation++
      for (const thread of alive) end(thread)
      idle.length = 0
      for (const replacement of coming) void replacement.then(end, () => {})
      coming.clear()
    },
  }
}

export type Crew = ReturnType<typeof makeCrew>
