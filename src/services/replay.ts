import * as v from 'valibot'

import type { Context } from '../context.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { manual } from '../core/schedule.ts'
import { integer, list, object, oneOf, orNull, text, withDefault } from '../schema/fields.ts'
import { parse } from '../schema/parse.ts'
import { jobOf } from './job-of.ts'
import type { EventUseCases } from './use-cases.ts'

const mostDeliveries = 10_000
const batchSize = 500
/** Between the two ids of a cursor, in which it cannot occur: where to go on, and where the replay ends. */
const cursorSeparator = '.'

export const replayMoment = integer()
const bound = orNull(replayMoment)
export const replayBounds = object({ gt: bound, gte: bound, lt: bound, lte: bound })

export const replayInput = object({
  event_types: orNull(list(text({ min: 1, max: 255 }), { min: 1 })),
  endpoint_id: orNull(text({ min: 1 })),
  created_at: orNull(v.lazy((input) => (typeof input === 'number' ? replayMoment : replayBounds))),
  status: orNull(oneOf(['FAILED', 'CANCELED'])),
  after: orNull(text({ min: 1, max: 129 })),
  limit: withDefault(integer({ min: 1, max: mostDeliveries }), mostDeliveries),
})

/** Sends again what ended without success: a MANUAL attempt for each delivery that the filter finds, in batches. */
export function replayService(ctx: Context): Pick<EventUseCases, 'replay'> {
  return {
    async replay(workspaceId, input, { dryRun = false } = {}) {
      const filter = parse(replayInput, input)
      const query = {
        ...(filter.event_types && { event_types: filter.event_types }),
        ...(filter.endpoint_id && { endpoint_id: filter.endpoint_id }),
        ...(filter.status && { status: filter.status }),
        ...(filter.created_at !== null && { created_at: timeRange(filter.created_at) }),
      }
      await ctx.clock.ready?.()
      // What this replay makes itself, and what fails again of it meanwhile, comes after `end` and is not replayed.
      const [start, end = ctx.newId()] = filter.after?.split(cursorSeparator) ?? []
      let matched = 0
      let created = 0
      let after = start ?? null
      while (matched < filter.limit) {
        const limit = Math.min(batchSize, filter.limit - matched)
        const page = await ctx.storage.attempts.undelivered(workspaceId, { ...query, after, limit })
        const found = page.filter(({ attemptId }) => attemptId < end)
        matched += found.length
        after = found.at(-1)?.attemptId ?? after
        if (!dryRun && found.length > 0) {
          const now = ctx.clock.now()
          const attempts = found.map(({ event_id, endpoint_id }) => manual(event_id, endpoint_id, now, ctx.newId))
          const added = await ctx.storage.attempts.add(workspaceId, attempts, { enqueue: ctx.ownQueue })
          const stored = attempts.filter((_, i) => added[i])
          created += stored.length
          ctx.enqueued(stored.map((attempt) => jobOf(workspaceId, attempt)))
        }
        if (found.length < limit) return { matched, created, next: null }
      }
      return { matched, created, next: `${after}${cursorSeparator}${end}` }
    },
  }
}

function timeRange(filter: number | { [bound in 'gt' | 'gte' | 'lt' | 'lte']?: number | null | undefined }): TimeRange {
  if (typeof filter === 'number') return { eq: filter }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value != null))
}
