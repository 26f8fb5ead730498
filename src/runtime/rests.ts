import type { EngineClock } from '../contracts/clock.ts'

/** A batch that took long may have waited for something that a longer rest does not help. */
const maxRestMs = 100

/**
 * For work in batches beside work that is more urgent. Call the function that it answers with before each batch: it waits for
 * as long as the batch before took, so that half of the time is left to all else.
 */
export function restsBetween(clock: Pick<EngineClock, 'elapsed' | 'sleep'>): () => Promise<void> {
  let begunAt: number | null = null
  return async () => {
    const tookMs = begunAt === null ? 0 : clock.elapsed() - begunAt
    if (tookMs >= 1) await clock.sleep(Math.min(tookMs, maxRestMs))
    begunAt = clock.elapsed()
  }
}
