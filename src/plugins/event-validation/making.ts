import { type Budget, TooMuchWork } from './work.ts'

/** What the making of a schema spends its work on. */
export type Part = 'patterns' | 'references' | 'size'

/** The budget of making one schema, which remembers how much each part spent. */
export interface Making extends Budget {
  readonly spent: Record<Part, number>
}

/** Half a second, and several times that for what is dear to make; memory grows no faster. */
const makingSteps = 10_000_000

const words: Readonly<Record<Part, string>> = {
  patterns: 'its patterns take too much work',
  references: 'its references take too much work',
  size: 'it is too large or too deep',
}

export function beginMaking(): Making {
  return { steps: makingSteps, spent: { patterns: 0, references: 0, size: 0 } }
}

export function spendOn(making: Making, part: Part, steps: number): void {
  making.steps -= steps
  making.spent[part] += steps
  if (making.steps < 0) throw tooMuch(making)
}

/** The error that names the part that spent the most, for a making that exceeded the budget or the engine's stack. */
export function tooMuch({ spent }: Making): TooMuchWork {
  const parts = Object.keys(spent) as Part[]
  const most = parts.reduce((one, other) => (spent[other] > spent[one] ? other : one), 'size')
  return new TooMuchWork(`the schema cannot be used: ${words[most]}`)
}
