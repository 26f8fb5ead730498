import type { Context } from '../context.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { disabledEndpoint, isHeld } from '../core/endpoint-row.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { allWorkspaces } from './secrets/all-workspaces.ts'

const dayMs = 86_400_000
const fewestExhausted = 10

/**
 * Disables the endpoints of which nothing but failures came for `days`, and tells of those that are half way there. `now` and
 * `periodMs`: when this is done, and how often: so each endpoint is told once.
 */
export async function disableFailing(ctx: Context, days: number, now: number, periodMs: number): Promise<void> {
  const mostMs = days * dayMs
  for await (const workspaceId of allWorkspaces(ctx)) {
    const configuration = await ctx.storage.configuration(workspaceId)
    for (const { row } of configuration?.endpoints ?? []) {
      if (!row.enabled || isHeld(row)) continue
      const since = await failingSince(ctx, workspaceId, row, now - mostMs - dayMs)
      if (since === null) continue
      const about = { workspace_id: workspaceId, endpoint_id: row.id }
      const failingMs = now - since
      if (failingMs >= mostMs) {
        if (!(await disable(ctx, workspaceId, row, days))) continue
        ctx.log.info('an endpoint was disabled: all deliveries failed for days', { ...about, since })
        ctx.emit('endpoint.disabled', { ...about, reason: 'failing' })
      } else if (failingMs >= mostMs / 2 && failingMs - mostMs / 2 < periodMs) {
        ctx.log.info('all deliveries of an endpoint fail', { ...about, since })
        ctx.emit('endpoint.failing', { ...about, since })
      }
    }
  }
}

/**
 * When the first of the failures was made that no success followed: at least ten exhausted deliveries. Null for fewer. What was
 * before `earliest` or before the last write of the endpoint does not count: an endpoint that was mended starts anew.
 */
async function failingSince(
  { storage }: Context,
  workspaceId: string,
  { id, updated_at }: Endpoint,
  earliest: number,
): Promise<number | null> {
  const after = Math.max(earliest, updated_at)
  const exhausted = (created_at: TimeRange) =>
    storage.attempts.undelivered(workspaceId, {
      status: 'FAILED',
      endpoint_id: id,
      created_at,
      after: null,
      limit: fewestExhausted,
    })
  if ((await exhausted({ gte: after })).length < fewestExhausted) return null
  const page = { limit: 1, page: null, after: null, before: null, descending: true }
  const successes = { ...page, endpoint_id: id, status: 'SUCCESSFUL' as const, created_at: { gte: after } }
  const [success] = (await storage.attempts.list(workspaceId, successes)).rows
  const [first, ...others] = await exhausted(success === undefined ? { gte: after } : { gt: success.created_at })
  if (first === undefined || others.length + 1 < fewestExhausted) return null
  return (await storage.attempts.get(workspaceId, first.attemptId))?.created_at ?? null
}

/** False when somebody wrote the endpoint meanwhile: then the next look judges anew. */
function disable(ctx: Context, workspaceId: string, { id, updated_at }: Endpoint, days: number): Promise<boolean> {
  const detail = `For ${days} days no delivery succeeded, and at least ${fewestExhausted} used up their tries.`
  return withWriteLock<boolean>(ctx.storage, workspaceId, async () => {
    const stored = await ctx.storage.endpoints.get(workspaceId, id)
    if (stored === null || stored.row.updated_at !== updated_at || !stored.row.enabled) return false
    const row = disabledEndpoint(stored.row, ctx.clock.now(), 'failing', detail)
    const answer = await ctx.storage.endpoints.update(workspaceId, row, stored.revision)
    return answer === 'conflict' ? answer : answer === 'written'
  })
}
