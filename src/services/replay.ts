import * as v from 'valibot'

import type { Context } from '../context.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import type { NewAttempt } from '../contracts/storage/attempts.ts'
import { timeOfId } from '../core/id.ts'
import { manual } from '../core/schedule.ts'
import { flag, integer, list, object, oneOf, orNull, text, withDefault } from '../schema/fields.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { jobOf } from './ingest.ts'
import { recoverMissing } from './recover-missing.ts'
import type { EventService, ReplayReport } from './services.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const mostDeliveries = 10_000
const batchSize = 500
/** Between the two ids of a cursor, in which it cannot occur: where to go on, and where the replay ends. */
const cursorSeparator = '.'

export const replayMoment = integer()
const bound = orNull(replayMoment)
export const replayBounds = object({ gt: bound, gte: bound, lt: bound, lte: bound })
const range = orNull(v.lazy((input) => (typeof input === 'number' ? replayMoment : replayBounds)))

export const replayInput = object({
  event_types: orNull(list(text({ min: 1, max: 255 }), { min: 1 })),
  endpoint_id: orNull(text({ min: 1 })),
  created_at: range,
  attempted_at: range,
  status: orNull(oneOf(['FAILED', 'CANCELED'])),
  missing: withDefault(flag(), false),
  after: orNull(text({ min: 1, max: 129, rule: (cursor) => (cursorOf(cursor) === null ? 'invalid cursor' : null) })),
  limit: withDefault(integer({ min: 1, max: mostDeliveries }), mostDeliveries),
})
export type ReplayFilter = v.InferOutput<typeof replayInput>

/** Where a replay goes on: strictly beyond `start`. What was made from `end` on is none of the replay's. */
export interface ReplayCursor {
  readonly start: string | null
  readonly end: string
}

/** Adds attempts to a workspace with their jobs, and answers how many were added. */
export type AddAttempts = (attempts: readonly NewAttempt[], options?: { first: boolean }) => Promise<number>

/**
 * Sends again what ended without success: a MANUAL attempt for each delivery that the filter finds, in batches. With
 * `missing` what an endpoint never got.
 */
export function replayService(ctx: Context): Pick<EventService, 'replay'> {
  return {
    async replay(workspace, input, { dryRun = false } = {}) {
      const filter = parse(replayInput, input)
      const { id: workspaceId } = await resolveWorkspace(ctx, workspace)
      await ctx.clock.ready?.()
      // What this replay makes itself, and what fails again of it meanwhile, comes after `end` and is not replayed.
      const { start, end } = (filter.after !== null && cursorOf(filter.after)) || { start: null, end: ctx.newId() }
      const add: AddAttempts = async (attempts, { first } = { first: false }) => {
        const added = await ctx.storage.attempts.add(workspaceId, attempts, { enqueue: ctx.ownQueue, first })
        const stored = attempts.filter((_, i) => added[i])
        ctx.enqueued(stored.map((attempt) => jobOf(workspaceId, attempt)))
        return stored.length
      }
      const cursor = { start, end }
      const adding = dryRun ? null : add
      const { next, ...counts } = filter.missing
        ? await recoverMissing(ctx, workspaceId, { filter, cursor, add: adding })
        : await replayUndelivered(ctx, workspaceId, { filter, cursor, add: adding })
      return { ...counts, next: next === null ? null : `${next}${cursorSeparator}${end}` }
    },
  }
}

async function replayUndelivered(
  ctx: Context,
  workspaceId: string,
  { filter, cursor, add }: { filter: ReplayFilter; cursor: ReplayCursor; add: AddAttempts | null },
): Promise<ReplayReport> {
  const query = {
    ...(filter.event_types && { event_types: filter.event_types }),
    ...(filter.endpoint_id && { endpoint_id: filter.endpoint_id }),
    ...(filter.status && { status: filter.status }),
    ...(filter.created_at !== null && { created_at: timeRange(filter.created_at) }),
    ...(filter.attempted_at !== null && { attempted_at: timeRange(filter.attempted_at) }),
  }
  let matched = 0
  let created = 0
  let after = cursor.start
  while (matched < filter.limit) {
    const limit = Math.min(batchSize, filter.limit - matched)
    const page = await ctx.storage.attempts.undelivered(workspaceId, { ...query, after, limit })
    const found = page.filter(({ attemptId }) => attemptId < cursor.end)
    matched += found.length
    after = found.at(-1)?.attemptId ?? after
    if (add !== null && found.length > 0) {
      const now = ctx.clock.now()
      created += await add(found.map(({ event_id, endpoint_id }) => manual(event_id, endpoint_id, now, ctx.newId)))
    }
    if (found.length < limit) return { matched, created, next: null }
  }
  return { matched, created, next: after }
}

export function timeRange(
  filter: number | { [bound in 'gt' | 'gte' | 'lt' | 'lte']?: number | null | undefined },
): TimeRange {
  if (typeof filter === 'number') return { eq: filter }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value != null))
}

/** A cursor as a report told it; null for what is none. */
function cursorOf(cursor: string): ReplayCursor | null {
  const [start = '', end = '', ...more] = cursor.split(cursorSeparator)
  return more.length === 0 && idPattern.test(start) && timeOfId(end) !== null ? { start, end } : null
}
