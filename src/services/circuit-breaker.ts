import type { Context } from '../context.ts'
import { failing } from '../core/breaker.ts'
import { disabledEndpoint } from '../core/endpoint-row.ts'
import { minuteMs } from '../core/notes.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { foldNotes } from './fold-notes.ts'
import { withdraw, willDisable } from './operational/will-disable.ts'

const mostTries = 5

/** The circuit breaker: switches off the endpoints that failed too often, of all workspaces. One process at a time. */
export async function tripCircuitBreakers(
  ctx: Context,
  rule: NonNullable<Context['settings']['breaker']>,
  now: number,
): Promise<void> {
  const since = now - rule.windowSeconds * 1000
  await foldNotes(ctx)

  /** Outcomes from before its last change say nothing of an endpoint: one that was mended and enabled starts anew. */
  async function stillFails(endpoint: Endpoint): Promise<boolean> {
    if (endpoint.updated_at <= since || endpoint.updated_at === endpoint.created_at) return true
    const nextMinute = Math.ceil(endpoint.updated_at / minuteMs) * minuteMs
    const tallies = await ctx.storage.attempts.tallies(nextMinute)
    return failing(tallies, rule).some(({ endpointId }) => endpointId === endpoint.id)
  }

  /** False when it is off or gone already, fails no more, or somebody keeps writing it. */
  async function disable(workspaceId: string, endpointId: string, detail: string): Promise<boolean> {
    let announced = false
    for (let tries = 0; tries < mostTries; tries++) {
      const stored = await ctx.storage.endpoints.get(workspaceId, endpointId)
      if (stored === null || !stored.row.enabled || !(await stillFails(stored.row))) break
      await willDisable(ctx, workspaceId, endpointId, now, 'breaker')
      announced = true
      const row = disabledEndpoint(stored.row, ctx.clock.now(), 'breaker', detail)
      const answer = await ctx.storage.endpoints.update(workspaceId, row, stored.revision)
      if (answer === 'written') return true
      if (answer !== 'conflict') break
    }
    // Not what another process left, which may have disabled the endpoint.
    if (announced) await withdraw(ctx, endpointId)
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
