import type { Context } from '../context.ts'
import type { StoredAttempt } from '../contracts/storage/attempts.ts'
import { shownAttempt } from '../core/attempt.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { matches } from '../core/match.ts'
import { notFound } from '../errors.ts'
import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { idPattern } from '../schema/shared.ts'
import type { Explanation } from '../surface/events.ts'
import type { EventUseCases } from './use-cases.ts'

const mostAttempts = 1000

/** Tells for each endpoint of the workspace whether it got an event, and why not. */
export function explainService(ctx: Context): Pick<EventUseCases, 'explain'> {
  return {
    async explain(workspaceId, id) {
      const event = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
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
    // A retry by hand may stand beside a chain that is still going on; what is next to happen tells most.
    const open = own
      .filter(({ status }) => status === 'OPEN')
      .reduce<StoredAttempt | undefined>(
        (a, b) => (a === undefined || b.scheduled_at < a.scheduled_at ? b : a),
        undefined,
      )
    const told = open ?? own.at(-1)
    const pausedUntil = open === undefined ? null : ((await ctx.queue.pausedUntil?.(endpoint.id, now)) ?? null)
    return {
      endpoint_id: endpoint.id,
      endpoint_name: endpoint.name,
      matched: own.length > 0,
      reason:
        told === undefined
          ? unmatchedReason(endpoint, eventType)
          : attemptReason(shownAttempt(told, now), endpoint, pausedUntil),
      attempts: own.map((attempt) => shownAttempt(attempt, now, ctx.settings.compatible)),
      next_due_at: open === undefined || isHeld(endpoint) ? null : Math.max(open.scheduled_at, pausedUntil ?? 0),
    }
  }
}

function unmatchedReason(endpoint: Endpoint, eventType: string): string {
  if (!endpoint.enabled) return 'the endpoint is disabled'
  if (endpoint.events.length === 0) return 'the endpoint names no events'
  if (!endpoint.events.some((pattern) => matches(pattern, eventType))) {
    return `none of its events matches '${eventType}'`
  }
  return 'the endpoint matches now, but did not when the event was accepted'
}

function attemptReason(attempt: Attempt, endpoint: Endpoint, pausedUntil: number | null): string {
  switch (attempt.status) {
    case 'SUCCESSFUL':
      return 'delivered'
    case 'FAILED':
      if (attempt.error_code === 'DENIED') return `denied: ${attempt.error_message ?? 'the address may not be sent to'}`
      return `failed and nothing follows: ${attempt.error_message ?? `status ${attempt.response?.status ?? 'unknown'}`}`
    case 'CANCELED':
      return attempt.error_code === 'ENDPOINT_DISABLED'
        ? 'canceled: the endpoint was disabled when the attempt fell due'
        : 'canceled: the endpoint or the event was gone when the attempt fell due'
    case 'INIT':
    case 'QUEUED': {
      const due = `attempt ${attempt.attempt_number} is due at ${timeText(attempt.scheduled_at)}`
      if (!endpoint.enabled) return `the endpoint is disabled: ${due} and will be canceled unless it is enabled by then`
      if (endpoint.paused) return `the endpoint is paused: ${due} and waits until the endpoint is resumed`
      if (pausedUntil === null || pausedUntil <= attempt.scheduled_at) return due
      const asked = 'the endpoint asked to be left alone'
      const why = endpoint.rate_limit === null ? asked : `its rate limit is used up, or ${asked}`
      return `waits until ${timeText(pausedUntil)}: ${why}`
    }
  }
}

/** An ISO 8601 time; the milliseconds themselves where a date cannot hold them. */
function timeText(time: number): string {
  return time <= 8.64e15 ? new Date(time).toISOString() : String(time)
}
