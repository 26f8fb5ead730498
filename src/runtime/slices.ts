import type { EngineClock } from '../contracts/clock.ts'

/**
 * The longest time that many small pieces of work hold the event loop: after that, others in the process get a turn.
 */
const sliceMs = 2

/** Does a piece of work for each entry, in slices of two milliseconds. */
export async function inSlices<Entry>(
  clock: Pick<EngineClock, 'elapsed' | 'sleep'>,
  entries: Iterable<Entry>,
  work: (entry: Entry) => void,
): Promise<void> {
  let since = clock.elapsed()
  for (const entry of entries) {
    if (clock.elapsed() - since >= sliceMs) {
      await clock.sleep(0)
      since = clock.elapsed()
    }
    work(entry)
  }
}
