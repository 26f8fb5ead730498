import type { EngineClock } from '../contracts/clock.ts'

export type SliceClock = Pick<EngineClock, 'elapsed' | 'sleep' | 'afterTurn'>

/**
 * The longest time that many small pieces of work hold the event loop: after that, others in the process get a turn.
 */
const sliceMs = 2

/** Does a piece of work for each entry, in slices of two milliseconds. */
export async function inSlices<Entry>(
  clock: SliceClock,
  entries: Iterable<Entry>,
  work: (entry: Entry) => void,
): Promise<void> {
  let since = clock.elapsed()
  for (const entry of entries) {
    if (clock.elapsed() - since >= sliceMs) {
      await othersTurn(clock)
      since = clock.elapsed()
    }
    work(entry)
  }
}

/** Resolves when the event loop has handled what is ready now. */
async function othersTurn(clock: SliceClock): Promise<void> {
  if (clock.afterTurn === undefined) return await clock.sleep(0)
  await new Promise<void>((resolve) => clock.afterTurn!(resolve))
}
