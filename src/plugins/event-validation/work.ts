/**
 * Thrown when a document asks for more work than one event may cause, or a schema asks for more work than the making of
 * a schema may cause.
 */
export class TooMuchWork extends Error {
  constructor(message = 'the schema asks for too much work on this document') {
    super(message)
    this.name = 'TooMuchWork'
  }
}

/** Work that may still be done. */
export interface Budget {
  /** A step is about 50 ns. */
  steps: number
}

type Entry = readonly [key: string, value: unknown]

/** One validation under way. */
export interface Work extends Budget {
  depth: number
  /** Resources entered on the way here, outermost first: what dynamic references look through. */
  readonly scope: string[]
  /** The way to the value that is looked at. */
  readonly path: (string | number)[]
  /** Reasons found so far; null where none are wanted. */
  readonly reasons: { readonly path: readonly (string | number)[]; readonly reason: string }[] | null
  /** Those of objects seen so far: objects of many keys are slow to list. */
  readonly entries: WeakMap<object, readonly Entry[]>
  /** Above 0 while a failure is no failure of the whole. */
  quiet: number
}

// An event costs about 100 ms at the very most, a few times that on a busy machine.
const maxSteps = 2_000_000
// Each level takes a few frames of the stack, which holds about ten thousand frames.
const maxDepth = 1500
const maxReasons = 20

export function beginWork(wantsReasons: boolean): Work {
  const reasons = wantsReasons ? [] : null
  return { steps: maxSteps, depth: 0, scope: [], path: [], reasons, entries: new WeakMap(), quiet: 0 }
}

/** Counts work done. */
export function spend(budget: Budget, steps: number): void {
  budget.steps -= steps
  if (budget.steps < 0) throw new TooMuchWork()
}

/** The entries of an object, paid for. */
export function entriesOf(object: object, work: Work): readonly Entry[] {
  let entries = work.entries.get(object)
  if (entries === undefined) {
    entries = Object.entries(object)
    work.entries.set(object, entries)
  }
  spend(work, entries.length)
  return entries
}

/** Goes one level down. */
export function descend(work: Work): void {
  spend(work, 1)
  if (++work.depth > maxDepth) throw new TooMuchWork()
}

/** Whether all hold. Goes on after the first that does not only where reasons are wanted. */
export function every<Item>(items: Iterable<Item>, work: Work, holds: (item: Item) => boolean): boolean {
  let accepted = true
  for (const item of items) {
    if (holds(item)) continue
    accepted = false
    if (work.reasons === null || work.quiet > 0) break
  }
  return accepted
}

/** Tells why the value looked at is refused; always false. */
export function refuse(work: Work, reason: string): false {
  if (work.reasons !== null && work.quiet === 0 && work.reasons.length < maxReasons) {
    work.reasons.push({ path: [...work.path], reason })
  }
  return false
}
