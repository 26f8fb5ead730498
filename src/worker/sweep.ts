import type { Context } from '../context.ts'

const pageSize = 500
/** With a page a second, an attempt whose job was never added is found within five seconds. */
const graceMs = 4_000

/** Puts overdue attempts back into the queue, a page at a time, going on where it stopped: whatever a crash or a lost queue left out. */
export interface Sweep {
  /** One page; answers whether more may follow at once. */
  page(): Promise<boolean>
}

export function sweep(ctx: Context): Sweep {
  let after: readonly [number, string] | null = null
  return {
    async page() {
      await ctx.clock.ready()
      const jobs = await ctx.storage.attempts.overdue({ before: ctx.clock.now() - graceMs, after, limit: pageSize })
      if (jobs.length > 0) await ctx.queue.add(jobs)
      const last = jobs.length === pageSize ? jobs.at(-1)! : null
      after = last === null ? null : [last.due_at, last.id]
      return last !== null
    },
  }
}
