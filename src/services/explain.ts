import type { Context } from '../context.ts'
import type { StoredAttempt } from '../contracts/storage/attempts.ts'
import { shownAttempt } from '../core/attempt.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { matches } from '../core/match.ts'
import { notFound } from '../errors.ts'
import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { listParameters, parameterProblems } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import type { Explanation } from '../surface/events.ts'
import { pacer } from '../runtime/slices.ts'
import { invalidParameters } from './listing.ts'
import type { EventUseCases } from './use-cases.ts'

/** Attempts that are read at once, and those of an endpoint that are shown. */
const attemptsOfPage = 1000
const maxShown = 20

/** What an endpoint made of the event: how many attempts, the newest attempts in order, and the open attempt that is due first. */
interface Tries {
  count: number
  readonly newest: StoredAttempt[]
  open: StoredAttempt | null
}

/** Tells for each endpoint of the workspace whether it got an event, and why not. Endpoints come in the order of their ids. */
export function explainService(ctx: Context): Pick<EventUseCases, 'explain'> {
  return {
    async explain(workspaceId, id, { limit, after } = {}) {
      const max = limit === undefined ? Infinity : readLimit(limit)
      const event = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
      if (event === null) throw notFound()
      const configuration = await ctx.configuration.fresh(workspaceId)
      const asked = [...(configuration?.endpoints.values() ?? [])]
        .filter((endpoint) => after === undefined || endpoint.id > after)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, max)
      const tries = await triesOf(ctx, workspaceId, id, new Set(asked.map((endpoint) => endpoint.id)))
      const now = ctx.clock.now()
      const answer: Explanation[] = []
      const pace = pacer(ctx.clock) // a workspace may have thousands of endpoints
      for (const endpoint of asked) {
        const turn = pace()
        if (turn !== undefined) await turn
        answer.push(await explanation(endpoint, event.event_type, tries.get(endpoint.id), now))
      }
      return answer
    },
  }

  async function explanation(
    endpoint: Endpoint,
    eventType: string,
    { count, newest, open }: Tries = { count: 0, newest: [], open: null },
    now: number,
  ): Promise<Explanation> {
    // A retry by hand may stand beside a chain that is still going on. The attempt that is due first explains most.
    const told = open ?? newest.at(-1)
    const pausedUntil = open === null ? null : ((await ctx.queue.pausedUntil?.(endpoint.id, now)) ?? null)
    return {
      endpoint_id: endpoint.id,
      endpoint_name: endpoint.name,
      matched: count > 0,
      reason:
        told === undefined
          ? unmatchedReason(endpoint, eventType)
          : attemptReason(shownAttempt(told, now), endpoint, pausedUntil),
      attempts: newest.map((attempt) => shownAttempt(attempt, now, ctx.settings.compatible)),
      next_due_at: open === null || isHeld(endpoint) ? null : Math.max(open.scheduled_at, pausedUntil ?? 0),
      tries: count,
    }
  }
}

/**
 * The tries of an event at these endpoints. However many attempts an endpoint has, few of them are held in memory at
 * once.
 */
async function triesOf(
  ctx: Context,
  workspaceId: string,
  event_id: string,
  endpoints: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Tries>> {
  const tries = new Map<string, Tries>()
  const [only] = endpoints.size === 1 ? endpoints : []
  for (let after: string | null = null; ;) {
    const { rows, followed } = await ctx.storage.attempts.list(workspaceId, {
      event_id,
      ...(only !== undefined && { endpoint_id: only }),
      limit: attemptsOfPage,
      page: null,
      after,
      before: null,
      descending: false,
    })
    for (const attempt of rows) if (endpoints.has(attempt.endpoint_id)) addTry(tries, attempt)
    const last = rows.at(-1)
    if (!followed || last === undefined) return tries
    after = last.id
  }
}

function addTry(tries: Map<string, Tries>, attempt: StoredAttempt): void {
  const { endpoint_id, status, scheduled_at } = attempt
  let own = tries.get(endpoint_id)
  if (own === undefined) tries.set(endpoint_id, (own = { count: 0, newest: [], open: null }))
  own.count++
  own.newest.push(attempt)
  if (own.newest.length > maxShown) own.newest.shift()
  if (status === 'OPEN' && (own.open === null || scheduled_at < own.open.scheduled_at)) own.open = attempt
}

/** Over HTTP the limit is text. */
function readLimit(limit: number | string): number {
  const max = typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit
  const reasons = parameterProblems('limit', listParameters.attempts.limit, max)
  if (reasons.length > 0) throw invalidParameters(reasons)
  return Number(max)
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
