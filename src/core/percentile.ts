import { latenciesOf, latencyBounds } from './counts.ts'

/** Where the last bucket ends, milliseconds. */
const beyond = 8192

/**
 * The latency within which a share of the tries ended, whole milliseconds. It is taken from its bucket as if the
 * latencies of that bucket lay evenly. Latencies beyond 4,096 ms count as 4,096 to 8,192. Null where nothing was tried.
 */
export function percentile(counts: readonly number[], share: number): number | null {
  const histogram = latenciesOf(counts)
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [i, count] of histogram.entries()) {
    if (left <= count && count > 0) {
      const low = i === 0 ? 0 : latencyBounds[i - 1]!
      return Math.round(low + ((latencyBounds[i] ?? beyond) - low) * (left / count))
    }
    left -= count
  }
  return beyond
}
