import type { Context } from '../context.ts'
import { dayMs, hourMs, startOf } from '../core/periods.ts'
import { inSteps, type Until } from '../runtime/steps.ts'

/** Hours are made days after this time. */
export const hoursKeptMs = 90 * dayMs
const minKeptMs = 6 * hourMs
const sumsPerStep = 1000

/** The circuit breaker reads minutes too. */
export function minutesKeptMs({ settings: { breaker } }: Context): number {
  return Math.max(minKeptMs, (breaker?.windowSeconds ?? 0) * 1000)
}

/** Adds all notes that wait to the sums. */
export async function foldNotes(ctx: Context, until?: Until): Promise<void> {
  // Without a pause: while much is delivered, notes that come meanwhile would keep this from its end.
  while (until?.aborted !== true && (await ctx.storage.statistics.fold()) > 0);
}

/** Removes old sums in small steps, so that other work goes on in between. */
export async function tidySums(ctx: Context, now: number, until?: Until): Promise<void> {
  const options = {
    minutesBefore: now - minutesKeptMs(ctx),
    hoursBefore: startOf(now - hoursKeptMs, dayMs),
    daysBefore: now - ctx.settings.retention.statsDays * dayMs,
    limit: sumsPerStep,
  }
  await inSteps(ctx.clock, until, () => ctx.storage.statistics.tidy(options))
}
