import type { Settlement } from '../contracts/storage/attempts.ts'
import type { Counts } from '../contracts/storage/statistics.ts'

/** Upper bounds of the buckets of latency, milliseconds. Longer latencies are in a twelfth bucket. */
export const latencyBounds = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] as const
/** What an answer says by its first digit; `none`: no answer came. */
export const responseClasses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

/** An attempt is succeeded, failed or canceled. A failed attempt that no other followed is exhausted. */
const outcomes = ['succeeded', 'failed', 'exhausted', 'canceled'] as const

/**
 * What is counted, in the order of `Counts`. Engines name columns after them. Latencies and classes each add up to
 * `succeeded` and `failed` together.
 */
export const countNames = [
  ...outcomes,
  ...latencyBounds.map((bound) => `within_${bound}` as const),
  'beyond' as const,
  'answered_2xx' as const,
  'answered_3xx' as const,
  'answered_4xx' as const,
  'answered_5xx' as const,
  'unanswered' as const,
] as const

const buckets = latencyBounds.length + 1
const firstBucket = outcomes.length
const firstClass = firstBucket + buckets

export function noCounts(): Counts {
  return countNames.map(() => 0)
}

/** Adds the second to the first. */
export function addCounts(sum: Counts, counts: readonly number[]): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += counts[i] ?? 0
}

/** How many attempts these counts are of. */
export function volumeOf(counts: readonly number[]): number {
  return counts[0]! + counts[1]! + counts[3]! // a count for each name
}

const canceledCode = 3 * buckets * responseClasses.length

/** What an ending adds to the counts, as one number: outcome, bucket and class. */
export function codeOf(ending: Pick<Settlement, 'status' | 'exhausted' | 'attempted_at' | 'settled_at' | 'response'>) {
  const { status, exhausted, attempted_at, settled_at, response } = ending
  if (status === 'CANCELED') return canceledCode
  const outcome = status === 'SUCCESSFUL' ? 0 : exhausted ? 2 : 1
  const latency = response?.latency ?? settled_at - (attempted_at ?? settled_at)
  const found = latencyBounds.findIndex((bound) => latency <= bound)
  const bucket = found === -1 ? buckets - 1 : found
  const digit = Math.floor((response?.status ?? 0) / 100)
  const ofClass = digit >= 2 && digit <= 5 ? digit - 2 : 4
  return (outcome * buckets + bucket) * responseClasses.length + ofClass
}

/** Adds what a code says. */
export function addCode(sum: Counts, code: number): void {
  if (code === canceledCode) {
    sum[3]!++
    return
  }
  const ofClass = code % responseClasses.length
  const rest = Math.floor(code / responseClasses.length)
  const outcome = Math.floor(rest / buckets)
  sum[outcome === 0 ? 0 : 1]!++
  if (outcome === 2) sum[2]!++
  sum[firstBucket + (rest % buckets)]!++
  sum[firstClass + ofClass]!++
}

export const isSuccess = (code: number): boolean => code < buckets * responseClasses.length
export const isCanceled = (code: number): boolean => code === canceledCode
export const isExhausted = (code: number): boolean =>
  code < canceledCode && code >= 2 * buckets * responseClasses.length

/** Counts by class of the answer, in order. */
export function classesOf(counts: readonly number[]): number[] {
  return counts.slice(firstClass, firstClass + responseClasses.length)
}

/** How many tries ended within each bucket of latency. */
export function latenciesOf(counts: readonly number[]): number[] {
  return counts.slice(firstBucket, firstClass)
}
