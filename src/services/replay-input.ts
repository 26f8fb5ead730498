import * as v from 'valibot'

import type { PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { timeOfId } from '../core/id.ts'
import { flag, integer, list, object, oneOf, orNull, text, withDefault } from '../schema/fields.ts'
import { idPattern } from '../schema/shared.ts'

const maxDeliveries = 10_000
/** Separates the two ids of a cursor, where to go on and where the replay ends. Ids cannot contain it. */
export const cursorSeparator = '.'

export const replayMoment = integer()
const bound = orNull(replayMoment)
export const replayBounds = object({ gt: bound, gte: bound, lt: bound, lte: bound })
/** A moment, or bounds of moments. */
export const replayRange = orNull(v.lazy((input) => (typeof input === 'number' ? replayMoment : replayBounds)))

export const replayInput = object({
  event_types: orNull(list(text({ min: 1, max: 255 }), { min: 1 })),
  endpoint_id: orNull(text({ min: 1 })),
  created_at: replayRange,
  attempted_at: replayRange,
  status: orNull(oneOf(['FAILED', 'CANCELED'])),
  missing: withDefault(flag(), false),
  after: orNull(text({ min: 1, max: 129, rule: (cursor) => (cursorOf(cursor) === null ? 'invalid cursor' : null) })),
  limit: withDefault(integer({ min: 1, max: maxDeliveries }), maxDeliveries),
})
export type ReplayFilter = v.InferOutput<typeof replayInput>

/** Where a replay goes on: strictly beyond `start`. Attempts made from `end` on do not belong to the replay. */
export interface ReplayCursor {
  readonly start: string | null
  readonly end: string
}

/** Adds attempts to a workspace with their jobs, and answers how many were added. */
export type AddAttempts = (attempts: readonly PlannedAttempt[], options?: { first: boolean }) => Promise<number>

export function timeRange(
  filter: number | { [bound in 'gt' | 'gte' | 'lt' | 'lte']?: number | null | undefined },
): TimeRange {
  if (typeof filter === 'number') return { eq: filter }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value != null))
}

/** A cursor as a report contains it; null for what is no cursor. */
export function cursorOf(cursor: string): ReplayCursor | null {
  const [start = '', end = '', ...more] = cursor.split(cursorSeparator)
  return more.length === 0 && idPattern.test(start) && timeOfId(end) !== null ? { start, end } : null
}
