import type { Context } from '../context.ts'
import { failing } from '../core/breaker.ts'
import { minuteMs } from '../core/periods.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { foldGently } from './fold-notes.ts'
import { disableEndpoint } from './disable-endpoint.ts'

/** The circuit breaker: switches off the endpoints that failed too often, of all workspaces. One process at a time. */
export async function tripCircuitBreakers(
  ctx: Context,
  rule: NonNullable<Context['settings']['breaker']>,
  now: number,
): Promise<void> {
  const since = now - rule.windowSeconds * 1000
  await foldGently(ctx.storage.statistics, ctx.clock)

  /** Outcomes from before the last change of an endpoint do not count: an endpoint that was repaired and enabled starts anew. */
  async function stillFails(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.updated_at <= since || endpoint.updated_at === endpoint.created_at) return true
    const nextMinute = Math.ceil(endpoint.updated_at / minuteMs) * minuteMs
    const tallies = await ctx.storage.attempts.tallies(nextMinute)
    return failing(tallies, rule).some(({ endpointId }) => endpointId === endpoint.id)
  }

  for (const { workspaceId, endpointId, total, failed } of failing(await ctx.storage.attempts.tallies(since), rule)) {
    const detail = `${failed} of ${total} attempts within ${rule.windowSeconds} seconds failed.`
    const judged = { workspaceId, endpointId, at: now, reason: 'breaker', detail, holds: stillFails } as const
    if (!(await disableEndpoint(ctx, judged))) continue
    ctx.log.info(`an endpoint was disabled: at least ${rule.failurePercent} % of its attempts failed`, {
      workspace_id: workspaceId,
      endpoint_id: endpointId,
    })
  }
}
