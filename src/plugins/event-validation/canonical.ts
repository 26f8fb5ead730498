import { spend, type Work } from './work.ts'

/** A text that is the same for equal JSON values and for no others: keys sorted, 1.0 as 1. Costs what it writes. */
export function canonical(value: unknown, work?: Work): string {
  if (work !== undefined) spend(work, typeof value === 'string' ? 1 + value.length / 64 : 1)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, work)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, work)}`).join(',')}}`
}
