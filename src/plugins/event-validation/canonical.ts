import { type Budget, spend } from './work.ts'

/** A text that is the same for equal JSON values and for no others: keys sorted, 1.0 as 1. Costs what it writes. */
export function canonical(value: unknown, budget: Budget): string {
  spend(budget, typeof value === 'string' ? costOf(value) : 1)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, budget)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value)
  for (const [key] of entries) spend(budget, costOf(key))
  entries.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, budget)}`).join(',')}}`
}

function costOf(text: string): number {
  return 1 + text.length / 8
}
