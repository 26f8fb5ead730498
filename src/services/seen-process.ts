import type { Context } from '../context.ts'
import { minuteMs } from '../core/periods.ts'

/** A process that was not seen for so long is no longer listed. */
export const processesKeptMs = 5 * minuteMs

/** Stores the state of this process, so that other processes can report it. */
export async function seeProcess(ctx: Context): Promise<void> {
  await ctx.clock.ready()
  const now = ctx.clock.now()
  const { counters, storage } = ctx
  await storage.processes.seen(
    {
      ...ctx.thisProcess(),
      started_at: now - Math.round(ctx.uptimeMs()),
      seen_at: now,
      in_flight: counters.outboundProcessing,
      sent: counters.outbound,
    },
    now - processesKeptMs,
  )
}
