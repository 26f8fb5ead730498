import type { Job } from '../contracts/queue.ts'

/**
 * A job of low priority stands this many milliseconds later in the order of its group than it is due: behind every
 * other job. So engines need one order and no second index. Due times until the year 73,000 are smaller than this
 * number; the sum of both is a whole number that a double holds exactly.
 */
export const lowRank = 2 ** 51

/** Where a job stands in the order of its group. */
export function rankOf({
  due_at,
  priority,
}: Pick<Job, 'due_at'> & { readonly priority?: Job['priority'] | undefined }): number {
  return priority === 'low' ? Math.min(due_at, lowRank - 1) + lowRank : due_at
}

/** The part of a job that its rank tells. */
export function fromRank(rank: number): Pick<Job, 'due_at' | 'priority'> {
  return rank >= lowRank && rank < 2 * lowRank ? { due_at: rank - lowRank, priority: 'low' } : { due_at: rank }
}

/** The slots of an endpoint that its jobs of low priority may take, of the `cap` that it has in one process. */
export function maxLow(cap: number): number {
  return Math.max(1, Math.floor(cap / 4))
}
