import type { EngineClock } from '../contracts/clock.ts'

/** Tells work that goes in steps when to end early: an `AbortSignal`, or anything that knows. */
export interface Until {
  readonly aborted: boolean
}

/**
 * Takes steps until one finds nothing more to do, or until it is to end early. At least one: where there is always little time,
 * all is done little by little. Other work goes on in between.
 */
export async function inSteps(
  clock: Pick<EngineClock, 'sleep'>,
  until: Until | undefined,
  step: () => Promise<number>,
): Promise<void> {
  while ((await step()) > 0 && until?.aborted !== true) await clock.sleep(0)
}
