import type { Context } from '../context.ts'
import { invalid } from '../errors.ts'
import { integer, object, orNull, text, withDefault } from '../schema/fields.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { replayRange, timeRange } from './replay-input.ts'
import type { EventUseCases } from './use-cases.ts'

const maxEvents = 10_000
const batchSize = 100
/** A step ends early when the data of the events reaches this many bytes: the data is read along, though not needed. */
const maxStepBytes = 4 * 1024 * 1024

export const eraseInput = object({
  unique_id: orNull(text({ min: 1 })),
  event_type: orNull(text({ min: 1, max: 255 })),
  created_at: replayRange,
  limit: withDefault(integer({ min: 1, max: maxEvents }), maxEvents),
})

/** Erases events with all that was recorded of them: open attempts are not sent any more. */
export function eraseService(ctx: Context): Pick<EventUseCases, 'delete' | 'erase'> {
  return {
    async delete(workspaceId, id) {
      if (idPattern.test(id)) await ctx.storage.events.erase(workspaceId, [id])
    },

    async erase(workspaceId, input) {
      const { unique_id, event_type, created_at, limit } = parse(eraseInput, input)
      if (unique_id === null && event_type === null && created_at === null) {
        throw invalid({ created_at: 'one of unique_id, event_type and created_at is required' })
      }
      const query = {
        ...(unique_id !== null && { unique_id }),
        ...(event_type !== null && { event_type }),
        ...(created_at !== null && { created_at: timeRange(created_at) }),
        page: null,
        after: null,
        before: null,
        descending: false,
        maxBytes: maxStepBytes,
      }
      let erased = 0
      while (erased < limit) {
        // Erased events are not found again, so each step begins at the first event, and so does a later call.
        const step = Math.min(batchSize, limit - erased)
        const { rows, followed } = await ctx.storage.events.list(workspaceId, { ...query, limit: step })
        const ids = rows.map(({ id }) => id)
        erased += await ctx.storage.events.erase(workspaceId, ids)
        if (!followed) return { erased, more: false }
      }
      return { erased, more: true }
    },
  }
}
