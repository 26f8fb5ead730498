import { isEqual } from './assert.ts'

/** Two that shall behave alike, and how long to try them. The same seed makes the same operations. */
export interface Equivalence<Subject> {
  readonly seed: number
  readonly operations: number
  readonly left: Subject
  readonly right: Subject
}

/** The answers of both sides to the same question. */
export interface Pair<Value> {
  readonly left: Value
  readonly right: Value
}

export async function inBoth<Subject, Answer>(
  left: Subject,
  right: Subject,
  run: (subject: Subject, side: 'left' | 'right') => Promise<Answer>,
): Promise<Pair<Answer>> {
  return { left: await run(left, 'left'), right: await run(right, 'right') }
}

/** Throws when the two differ. The error says how to repeat the run that led to the difference. */
export function alike(seed: number, step: number, what: unknown, { left, right }: Pair<unknown>): void {
  if (isEqual(left, right)) return
  const text = JSON.stringify({ seed, step, what, left, right })
  throw new Error(`the two differ: ${text.slice(0, 4000)}`)
}
