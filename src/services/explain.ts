import type { Context } from '../context.ts'
import type { StoredAttempt } from '../contracts/storage.ts'
import { shownAttempt } from '../core/attempt.ts'
import { matches } from '../core/match.ts'
import { notFound } from '../errors.ts'
import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { EventService, Explanation } from './services.ts'
import { resolveWorkspace } from './workspaces.ts'

const mostAttempts = 1000

/** Tells for each endpoint of the workspace whether it got an event, and why not. */
export function explainService(ctx: Context): Pick<EventService, 'explain'> {
  return {
    async explain(workspace, id) {
      const { id: workspaceId } = await resolveWorkspace(ctx, workspace)
      const event = await ctx.storage.events.get(workspaceId, id)
      if (event === null) throw notFound()
      const configuration = await ctx.configuration.fresh(workspaceId)
      const { rows } = await ctx.storage.attempts.list(workspaceId, {
        event_id: id,
        limit: mostAttempts,
        page: null,
        after: null,
        before: null,
        descending: false,
      })
      const now = ctx.clock.now()
      const answer: Explanation[] = []
      for (const endpoint of configuration?.endpoints.values() ?? []) {
        const own = rows.filter((attempt) => attempt.endpoint_id === endpoint.id)
        answer.push(await explanation(endpoint, event.event_type, own, now))
      }
      return answer
    },
  }

  async function explanation(
    endpoint: Endpoint,
    eventType: string,
    own: readonly StoredAttempt[],
    now: number,
  ): Promise<Explanation> {
    const open = own.find(({ status }) => status === 'OPEN')
    const pausedUntil = open === undefined ? null : ((await ctx.queue.pausedUntil?.(endpoint.id, now)) ?? null)
    const attempts = own.map((attempt) => shownAttempt(attempt, now))
    return {
      endpoint_id: endpoint.id,
      endpoint_name: endpoint.name,
      matched: own.length > 0,
      reason: reason(endpoint, eventType, attempts.at(-1), pausedUntil),
      attempts,
      next_due_at: open === undefined ? null : Math.max(open.scheduled_at, pausedUntil ?? 0),
    }
  }
}

function reason(endpoint: Endpoint, eventType: string, last: Attempt | undefined, pausedUntil: number | null): string {
  if (last !== undefined) return attemptReason(last, endpoint, pausedUntil)
  if (!endpoint.enabled) return 'the endpoint is disabled'
  if (endpoint.events.length === 0) return 'the endpoint names no events'
  if (!endpoint.events.some((pattern) => matches(pattern, eventType))) {
    return `none of its events matches '${eventType}'`
  }
  return 'the endpoint matches now, but did not when the event was accepted'
}

function attemptReason(last: Attempt, endpoint: Endpoint, pausedUntil: number | null): string {
  switch (last.status) {
    case 'SUCCESSFUL':
      return 'delivered'
    case 'FAILED':
      if (last.error_code === 'DENIED') return `denied: ${last.error_message ?? 'the address may not be sent to'}`
      return `failed and nothing follows: ${last.error_message ?? `status ${last.response?.status ?? 'unknown'}`}`
    case 'CANCELED':
      return last.error_code === 'ENDPOINT_DISABLED'
        ? 'canceled: the endpoint was disabled when the attempt fell due'
        : 'canceled: the endpoint or the event was gone when the attempt fell due'
    case 'INIT':
    case 'QUEUED': {
      const at = (time: number) => new Date(time).toISOString()
      if (pausedUntil !== null) {
        const why = endpoint.rate_limit === null ? 'the endpoint asked to be left alone' : 'its rate limit is used up'
        return `waits until ${at(pausedUntil)}: ${why}`
      }
      return `attempt ${last.attempt_number} is due at ${at(last.scheduled_at)}`
    }
  }
}
