import type { Context } from '../context.ts'
import { failing } from '../core/breaker.ts'
import { disabledEndpoint } from '../core/endpoint-row.ts'
import type { Endpoint } from '../schema/endpoint.ts'

const mostTries = 5
const minuteMs = 60_000

/** The circuit breaker: switches off the endpoints that failed too often, of all workspaces. One process at a time. */
export async function tripCircuitBreakers(
  ctx: Context,
  rule: NonNullable<Context['settings']['breaker']>,
  now: number,
): Promise<void> {
  const since = now - rule.windowSeconds * 1000

  /** Outcomes from before its last change say nothing of an endpoint: one that was mended and enabled starts anew. */
  async function stillFails(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.updated_at <= since || endpoint.updated_at === endpoint.created_at) return true
    const nextMinute = Math.ceil(endpoint.updated_at / minuteMs) * minuteMs
    const tallies = await ctx.storage.attempts.tallies(nextMinute)
    return failing(tallies, rule).some(({ endpointId }) => endpointId === endpoint.id)
  }

  /** False when it is off or gone already, fails no more, or somebody keeps writing it. */
  async function disable(workspaceId: string, endpointId: string, detail: string): Promise<boolean> {
    for (let tries = 0; tries < mostTries; tries++) {
      const stored = await ctx.storage.endpoints.get(workspaceId, endpointId)
      if (stored === null || !stored.row.enabled || !(await stillFails(stored.row))) return false
      const row = disabledEndpoint(stored.row, ctx.clock.now(), 'breaker', detail)
      const answer = await ctx.storage.endpoints.update(workspaceId, row, stored.revision)
      if (answer !== 'conflict') return answer === 'written'
    }
    return false
  }

  for (const { workspaceId, endpointId, total, failed } of failing(await ctx.storage.attempts.tallies(since), rule)) {
    const detail = `${failed} of ${total} attempts within ${rule.windowSeconds} seconds failed.`
    if (!(await disable(workspaceId, endpointId, detail))) continue
    ctx.log.info(`an endpoint was disabled: at least ${rule.failurePercent} % of its attempts failed`, {
      workspace_id: workspaceId,
      endpoint_id: endpointId,
    })
    ctx.emit('endpoint.disabled', { workspace_id: workspaceId, endpoint_id: endpointId, reason: 'breaker' })
  }
}
