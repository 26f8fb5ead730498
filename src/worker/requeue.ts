import type { Context } from '../context.ts'

const pageSize = 500
/** With a page a second, an attempt whose job was never added is found within five seconds. */
const graceMs = 4_000

/** Adds overdue attempts to the queue again, page by page: their jobs were lost with a crashed process or a lost queue. */
export interface Requeue {
  /** Does the next page, at most 500 attempts. Answers whether more pages may follow. */
  page(): Promise<boolean>
}

export function requeue(ctx: Context): Requeue {
  let after: readonly [number, string] | null = null
  return {
    async page() {
      await ctx.clock.ready()
      const jobs = await ctx.storage.attempts.overdue({
        before: ctx.clock.now() - graceMs,
        after,
        limit: pageSize,
        unqueued: ctx.ownQueue,
      })
      if (jobs.length > 0) await ctx.queue.add(jobs)
      const last = jobs.length === pageSize ? jobs.at(-1)! : null
      after = last === null ? null : [last.due_at, last.id]
      return last !== null
    },
  }
}
