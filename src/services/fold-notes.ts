import type { Context } from '../context.ts'
import type { EngineClock } from '../contracts/clock.ts'
import type { Statistics } from '../contracts/storage/statistics.ts'
import { dayMs, hourMs, startOf } from '../core/periods.ts'
import { restsBetween } from '../runtime/rests.ts'
import { type SingleFlight, singleFlight } from '../runtime/single-flight.ts'
import { inSteps, type Until } from '../runtime/steps.ts'

/** Hours are made days after this time. */
export const hoursKeptMs = 90 * dayMs
const minKeptMs = 6 * hourMs
const sumsPerStep = 1000

/** The circuit breaker reads minutes too. */
export function minutesKeptMs({ settings: { breaker } }: Context): number {
  return Math.max(minKeptMs, (breaker?.windowSeconds ?? 0) * 1000)
}

type Folds = Pick<Statistics, 'fold'>

const folds = new WeakMap<Folds, SingleFlight<void>>()

/** Adds all notes that wait to the sums, for somebody who waits for them. Who asks meanwhile shares the next fold. */
export async function foldNotes({ storage }: { readonly storage: { readonly statistics: Folds } }): Promise<void> {
  const { statistics } = storage
  let fold = folds.get(statistics)
  if (fold === undefined) folds.set(statistics, (fold = singleFlight(() => foldAll(statistics))))
  await fold.ask('')
}

async function foldAll(statistics: Folds): Promise<void> {
  // Without a pause: while much is delivered, notes that come meanwhile would keep this from its end.
  while ((await statistics.fold()) > 0);
}

/** The same for nobody who waits: with rests, so that deliveries wait for it little. At least one step, as of all such work. */
export async function foldGently(
  statistics: Folds,
  clock: Pick<EngineClock, 'elapsed' | 'sleep'>,
  until?: Until,
): Promise<void> {
  const rest = restsBetween(clock)
  do await rest()
  while ((await statistics.fold()) > 0 && until?.aborted !== true)
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
