import type { Context } from '../context.ts'
import { replayed } from '../core/fanout.ts'
import { restsBetween } from '../runtime/rests.ts'
import { parse } from '../schema/parse.ts'
import { jobOf } from './job-of.ts'
import { recoverMissing } from './recover-missing.ts'
import {
  type AddAttempts,
  cursorOf,
  cursorSeparator,
  type ReplayCursor,
  type ReplayFilter,
  replayInput,
  timeRange,
} from './replay-input.ts'
import type { ReplayReport } from '../surface/events.ts'
import type { EventUseCases } from './use-cases.ts'

/** Small, so that fresh events are held up for no longer than a few milliseconds by each. */
const batchSize = 50

/**
 * Sends again what ended without success: a MANUAL attempt for each delivery that the filter finds, in batches. With
 * `missing` what an endpoint never got.
 */
export function replayService(ctx: Context): Pick<EventUseCases, 'replay'> {
  return {
    async replay(workspaceId, input, { dryRun = false } = {}) {
      const filter = parse(replayInput, input)
      await ctx.clock.ready?.()
      // Attempts that this replay makes come after `end`, even those that fail again meanwhile: so they are not
      // replayed.
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
  const rest = restsBetween(ctx.clock)
  while (matched < filter.limit) {
    await rest()
    const limit = Math.min(batchSize, filter.limit - matched)
    const page = await ctx.storage.attempts.undelivered(workspaceId, { ...query, after, limit })
    const found = page.filter(({ attemptId }) => attemptId < cursor.end)
    matched += found.length
    after = found.at(-1)?.attemptId ?? after
    if (add !== null && found.length > 0) {
      const now = ctx.clock.now()
      created += await add(found.map(({ event_id, endpoint_id }) => replayed(event_id, endpoint_id, now, ctx.newId)))
    }
    if (found.length < limit) return { matched, created, next: null }
  }
  return { matched, created, next: after }
}
