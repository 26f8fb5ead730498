import type { Context } from '../context.ts'
import { addCounts, noCounts } from '../core/counts.ts'
import { hourMs, minuteMs, startOf } from '../core/periods.ts'
import type { EndpointHealth } from '../schema/stats.ts'
import { foldNotes } from './fold-notes.ts'
import type { EndpointService } from '../surface/endpoints.ts'
import { storedEndpoint } from './stored-endpoint.ts'

/** The health of an endpoint, from the sums that are stored with the attempts. */
export function endpointHealthService(ctx: Context): Pick<EndpointService, 'health'> {
  return {
    async health(workspaceId, id) {
      const endpoint = await storedEndpoint(ctx, workspaceId, id)
      await ctx.clock.ready()
      await foldNotes(ctx)
      const now = ctx.clock.now()
      const [streak, due, pausedUntil, hour, day] = await Promise.all([
        ctx.storage.statistics.streak(workspaceId, id),
        ctx.queue.dueOf?.(id, now) ?? null,
        ctx.queue.pausedUntil?.(id, now) ?? null,
        successRate(ctx, workspaceId, id, 'minute', now),
        successRate(ctx, workspaceId, id, 'hour', now),
      ])
      const failure = await lastFailure(ctx, workspaceId, streak?.failed_at ?? null, streak?.attempt_id ?? null)
      const failures = streak?.failures ?? 0
      return {
        endpoint_id: id,
        enabled: endpoint.enabled,
        last_success_at: streak?.succeeded_at ?? null,
        last_failure: failure,
        consecutive_failures: failures,
        due_now: due,
        success_rate_1h: hour,
        success_rate_24h: day,
        paused_until: pausedUntil,
        suspect: failures > 0 && (failure?.error_code === 'TIMEOUT' || failure?.error_code === 'UNKNOWN'),
      }
    },
  }
}

async function lastFailure(
  ctx: Context,
  workspaceId: string,
  at: number | null,
  attemptId: string | null,
): Promise<EndpointHealth['last_failure']> {
  if (at === null) return null
  const attempt = attemptId === null ? null : await ctx.storage.attempts.get(workspaceId, attemptId)
  const answered = attempt?.response == null ? null : `status ${attempt.response.status}`
  return {
    at,
    attempt_id: attemptId,
    error_code: attempt?.error_code ?? null,
    reason: attempt?.error_message ?? answered,
  }
}

/** Successes among the tries of the last hour, by minutes, or of the last day, by hours. Null without a try. */
async function successRate(
  ctx: Context,
  workspaceId: string,
  endpoint_id: string,
  step: 'minute' | 'hour',
  now: number,
): Promise<number | null> {
  const from = step === 'minute' ? startOf(now - hourMs, minuteMs) : startOf(now - 24 * hourMs, hourMs)
  const query = { workspaceId, step, from, to: now + 1, endpoint_id }
  const sum = noCounts()
  for (const { counts } of await ctx.storage.statistics.sums(query, null)) addCounts(sum, counts)
  const [succeeded = 0, failed = 0] = sum
  return succeeded + failed === 0 ? null : succeeded / (succeeded + failed)
}
