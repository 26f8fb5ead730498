/** Thrown when a document asks for more work than one event may cause. */
export class TooMuchWork extends Error {
  constructor() {
    super('the schema asks for too much work on this document')
    this.name = 'TooMuchWork'
  }
}

/** One validation under way. */
export interface Work {
  /** What may still be done. */
  steps: number
  depth: number
  /** Resources entered on the way here, outermost first: what dynamic references look through. */
  readonly scope: string[]
  /** The way to the value that is looked at. */
  readonly path: (string | number)[]
  /** Reasons told so far; null where none are wanted. */
  readonly reasons: { readonly path: readonly (string | number)[]; readonly reason: string }[] | null
  /** Above 0 while a failure is no failure of the whole. */
  quiet: number
}

// A step is about 50 ns: an event costs about 100 ms at the very most.
const maxSteps = 2_000_000
// Each level takes a few frames of the stack, of which there are about ten thousand.
const maxDepth = 1500
const maxReasons = 20

export function beginWork(wantsReasons: boolean): Work {
  return { steps: maxSteps, depth: 0, scope: [], path: [], reasons: wantsReasons ? [] : null, quiet: 0 }
}

/** Counts work done. */
export function spend(work: Work, steps: number): void {
  work.steps -= steps
  if (work.steps < 0) throw new TooMuchWork()
}

/** Goes one level down. */
export function descend(work: Work): void {
  spend(work, 1)
  if (++work.depth > maxDepth) throw new TooMuchWork()
}

/** Tells why the value looked at is refused; always false. */
export function refuse(work: Work, reason: string): false {
  if (work.reasons !== null && work.quiet === 0 && work.reasons.length < maxReasons) {
    work.reasons.push({ path: [...work.path], reason })
  }
  return false
}
