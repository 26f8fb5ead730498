import type { Context } from '../context.ts'

export const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const batchSize = 1000

/** Work of each minute, done by whichever process gets there first. */
export interface Maintenance {
  minute(signal?: AbortSignal): Promise<void>
}

export function maintenance(ctx: Context): Maintenance {
  const { retention, breaker } = ctx.settings

  async function purge(now: number, signal: AbortSignal | undefined): Promise<void> {
    const before = (days: number | undefined) => (days === undefined ? null : now - days * dayMs)
    const options = {
      eventsBefore: before(retention.eventsDays),
      attemptsBefore: before(retention.attemptsDays),
      limit: batchSize,
    }
    while (!signal?.aborted && (await ctx.storage.purge(options)) > 0);
  }

  return {
    async minute(signal) {
      const now = ctx.clock.now()
      if (breaker !== undefined && (await ctx.storage.turn('breaker', minuteMs, now))) {
        const { disableFailing } = await import('../services/disable.ts') // few have one
        await disableFailing(ctx, breaker, now)
      }
      if (await ctx.storage.turn('purge', minuteMs, now)) await purge(now, signal)
    },
  }
}
