import type { EngineClock } from '../contracts/clock.ts'

export type SliceClock = Pick<EngineClock, 'elapsed' | 'sleep' | 'afterTurn'>

/**
 * The longest time that many small pieces of work hold the event loop: after that, others in the process get a turn.
 */
export const sliceMs = 2

/** Answers what to await between pieces of work: a turn for others once two milliseconds have passed, else nothing. */
export function pacer(clock: SliceClock): () => Promise<void> | undefined {
  let since = clock.elapsed()
  return () => {
    if (clock.elapsed() - since < sliceMs) return undefined
    return othersTurn(clock).then(() => void (since = clock.elapsed()))
  }
}

/** Does a piece of work for each entry, in slices of two milliseconds. */
export async function inSlices<Entry>(
  clock: SliceClock,
  entries: Iterable<Entry>,
  work: (entry: Entry) => void,
): Promise<void> {
  const pace = pacer(clock)
  for (const entry of entries) {
    const turn = pace()
    if (turn !== undefined) await turn
    work(entry)
  }
}

/** Entries that asynchronous work is done for side by side. */
const sideBySide = 16

/** Answers what asynchronous work makes of each entry, in their order: of some at a time, in slices of two milliseconds. */
export async function eachInSlices<Entry, Result>(
  clock: SliceClock,
  entries: readonly Entry[],
  work: (entry: Entry, index: number) => Promise<Result>,
): Promise<Result[]> {
  const pace = pacer(clock)
  const results: Result[] = []
  for (let from = 0; from < entries.length; from += sideBySide) {
    const turn = pace()
    if (turn !== undefined) await turn
    const some = entries.slice(from, from + sideBySide)
    results.push(...(await Promise.all(some.map((entry, i) => work(entry, from + i)))))
  }
  return results
}

/** Does work that may pause wherever it yields, in such slices. */
export async function paced<Result>(clock: SliceClock, work: Generator<undefined, Result>): Promise<Result> {
  const pace = pacer(clock)
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    const turn = pace()
    if (turn !== undefined) await turn
  }
}

/** Does the same work without a pause. */
export function atOnce<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Resolves when the event loop has handled what is ready now. */
export async function othersTurn(clock: SliceClock): Promise<void> {
  if (clock.afterTurn === undefined) return await clock.sleep(0)
  await new Promise<void>((resolve) => clock.afterTurn!(resolve))
}
