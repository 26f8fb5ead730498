import type { Context } from '../context.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { matches } from '../core/match.ts'
import { replayed } from '../core/fanout.ts'
import { type FieldErrors, invalid } from '../errors.ts'
import { type AddAttempts, type ReplayCursor, type ReplayFilter, timeRange } from './replay-input.ts'
import { restsBetween } from '../runtime/rests.ts'
import type { ReplayReport } from '../surface/events.ts'

/** Small, so that fresh events are held up for no longer than a few milliseconds by each. */
const batchSize = 50
/** Events that one call looks at. */
const maxLooked = 50_000
const dayMs = 24 * 3_600_000

/**
 * Sends what an endpoint never got: a MANUAL attempt for each event that matches the endpoint now and has no attempt to
 * it. However many ask at once, an event goes once. Events whose attempts may have been purged are left out: nobody
 * knows whether the endpoint got them.
 */
export async function recoverMissing(
  ctx: Context,
  workspaceId: string,
  { filter, cursor, add }: { filter: ReplayFilter; cursor: ReplayCursor; add: AddAttempts | null },
): Promise<ReplayReport> {
  const { endpoint_id, event_types, limit } = filter
  const problems = problemsOf(filter)
  if (problems !== null) throw invalid(problems)
  const configuration = await ctx.configuration.fresh(workspaceId)
  const endpoint = configuration?.endpoints.get(endpoint_id ?? '')
  if (endpoint === undefined) throw invalid({ endpoint_id: 'endpoint not found' })
  if (!endpoint.enabled && add !== null) throw invalid({ endpoint_id: 'the endpoint is disabled' })
  const isWanted = (type: string): boolean =>
    (event_types === null || event_types.includes(type)) && endpoint.events.some((pattern) => matches(pattern, type))

  const created_at = knownRange(ctx, filter.created_at === null ? {} : timeRange(filter.created_at))
  let matched = 0
  let created = 0
  let after = cursor.start
  const rest = restsBetween(ctx.clock)
  for (let looked = 0; matched < limit && looked < maxLooked; looked += batchSize) {
    await rest()
    const query = { endpoint_id: endpoint.id, created_at, after, limit: batchSize }
    const { events, next } = await ctx.storage.attempts.missing(workspaceId, query)
    const all = events.filter(({ event_type }) => isWanted(event_type))
    const wanted = all.slice(0, limit - matched)
    matched += wanted.length
    if (add !== null && wanted.length > 0) {
      const now = ctx.clock.now()
      const attempts = wanted.map(({ id }) => replayed(id, endpoint.id, now, ctx.newId))
      created += await add(attempts, { first: true })
    }
    const isCut = wanted.length < all.length // the next call goes on behind the last event that was taken
    if (next === null && !isCut) return { matched, created, next: null }
    after = isCut ? wanted.at(-1)!.id : next
  }
  return { matched, created, next: after }
}

function problemsOf({ endpoint_id, status, attempted_at }: ReplayFilter): FieldErrors | null {
  const problems: FieldErrors = {
    ...(endpoint_id === null && { endpoint_id: 'required with missing' }),
    ...(status !== null && { status: 'cannot be given with missing' }),
    ...(attempted_at !== null && { attempted_at: 'cannot be given with missing' }),
  }
  return Object.keys(problems).length === 0 ? null : problems
}

/** The part of a range whose attempts still exist. */
function knownRange(ctx: Context, range: TimeRange): TimeRange {
  const { attemptsDays } = ctx.settings.retention
  if (attemptsDays === undefined) return range
  const oldest = ctx.clock.now() - attemptsDays * dayMs
  return { ...range, gte: Math.max(range.gte ?? oldest, oldest) }
}
