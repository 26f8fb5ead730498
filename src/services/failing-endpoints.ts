import type { Context } from '../context.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { dayMs } from '../core/periods.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { leaveCause } from './operational/leave-cause.ts'
import { allWorkspaces } from './secrets/all-workspaces.ts'
import { disableEndpoint } from './disable-endpoint.ts'

const minExhausted = 10

/** When endpoints are looked at, and how often: so that each endpoint is reported once. */
interface Look {
  readonly days: number
  readonly now: number
  readonly periodMs: number
}

/**
 * Disables the endpoints that had nothing but failures for `days`, and warns of endpoints that have failed for half of
 * that time.
 */
export async function disableFailing(ctx: Context, look: Look): Promise<void> {
  for await (const workspaceId of allWorkspaces(ctx)) {
    const configuration = await ctx.storage.configuration(workspaceId)
    for (const { row } of configuration?.endpoints ?? []) {
      if (row.enabled && !isHeld(row)) await judge(ctx, workspaceId, row, look)
    }
  }
}

async function judge(ctx: Context, workspaceId: string, row: Endpoint, { days, now, periodMs }: Look): Promise<void> {
  const maxMs = days * dayMs
  const since = await failingSince(ctx, workspaceId, row, now - maxMs - dayMs)
  if (since === null) return
  const about = { workspace_id: workspaceId, endpoint_id: row.id }
  const beyondHalf = now - since - maxMs / 2
  if (beyondHalf >= maxMs / 2) {
    const detail = `For ${days} days no delivery succeeded, and at least ${minExhausted} used up their tries.`
    // Where somebody writes the endpoint meanwhile, the next look judges anew.
    const holds = ({ updated_at }: Endpoint): boolean => updated_at === row.updated_at
    const judged = { workspaceId, endpointId: row.id, at: now, reason: 'failing', detail, holds } as const
    if (await disableEndpoint(ctx, judged)) {
      ctx.log.info('an endpoint was disabled: all deliveries failed for days', { ...about, since })
    }
  } else if (beyondHalf >= 0 && beyondHalf < periodMs) {
    await leaveCause(ctx, { kind: 'failing', ...about, at: now, reason: null })
    ctx.log.info('all deliveries of an endpoint fail', { ...about, since })
    ctx.emit('endpoint.failing', { ...about, since })
  }
}

/**
 * When the first failure since the last success was made; null for fewer than ten exhausted deliveries since then.
 * Failures before `earliest` or before the last write of the endpoint do not count: an endpoint that was repaired
 * starts anew.
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
      limit: minExhausted,
    })
  if ((await exhausted({ gte: after })).length < minExhausted) return null
  const page = { limit: 1, page: null, after: null, before: null, descending: true }
  const successes = { ...page, endpoint_id: id, status: 'SUCCESSFUL' as const, created_at: { gte: after } }
  const [success] = (await storage.attempts.list(workspaceId, successes)).rows
  const [first, ...others] = await exhausted(success === undefined ? { gte: after } : { gt: success.created_at })
  if (first === undefined || others.length + 1 < minExhausted) return null
  return (await storage.attempts.get(workspaceId, first.attemptId))?.created_at ?? null
}
