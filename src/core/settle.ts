import type { Claim } from '../contracts/queue.ts'
import type { Counted, NewAttempt, PlannedAttempt, Settlement, StoredRequest } from '../contracts/storage/attempts.ts'
import type { AttemptErrorCode, AttemptResponse } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { isGone } from './gone-endpoint.ts'
import { retryAfter } from './retry-after.ts'
import { nextAttempt } from './next-attempt.ts'

/** What came of a try. An outcome without `request` ended before a request was built. */
export type Outcome =
  | {
      readonly kind: 'answered'
      readonly request: StoredRequest
      readonly response: AttemptResponse
      readonly retryAfter: string | undefined
      /** Whether the receiver wants no further try (`webhook-retry: no`). Default false. */
      readonly isLast?: boolean
    }
  | { readonly kind: 'timeout' | 'failed' | 'denied'; readonly request: StoredRequest; readonly message: string }
  | { readonly kind: 'plugin_error'; readonly message: string }
  | { readonly kind: 'endpoint_gone' | 'endpoint_disabled' | 'event_gone' }

export interface Ended {
  readonly settlement: Settlement
  /** The type of the event; empty when the event is gone. */
  readonly eventType: string
  /** The endpoint asked to be left alone until then (Retry-After on 429 or 503). */
  readonly pauseUntil: number | null
}

interface Try {
  readonly workspaceId: string
  readonly attempt: NewAttempt
  /** The type of the event; empty when the event is gone. */
  readonly eventType: string
  readonly claim: Claim | null
  /** As it is at this moment; null when it is gone. */
  readonly endpoint: Endpoint | null
  readonly startedAt: number
  /** Whether a failure may be followed by another try. */
  readonly retries: boolean
  /** Answers from 0 to below 1: how much of the endpoint's jitter is added to the wait before the next try. Default: 0. */
  readonly random?: () => number
  /** How the outcome is counted; null for a test delivery. */
  readonly counted: Counted | null
}

const errorCodes: Readonly<Record<Exclude<Outcome['kind'], 'answered'>, AttemptErrorCode>> = {
  timeout: 'TIMEOUT',
  failed: 'UNKNOWN',
  denied: 'DENIED',
  plugin_error: 'PLUGIN_ERROR',
  endpoint_gone: 'ENDPOINT_NOT_FOUND',
  endpoint_disabled: 'ENDPOINT_DISABLED',
  event_gone: 'EVENT_NOT_FOUND',
}

/** What is to be written when a try has ended: how the try ended, and all that follows. */
export function settle(tried: Try, outcome: Outcome, now: number, newId: () => string): Ended {
  const { attempt, endpoint } = tried
  const canceled =
    outcome.kind === 'endpoint_gone' || outcome.kind === 'endpoint_disabled' || outcome.kind === 'event_gone'
  const status = outcome.kind === 'answered' ? outcome.response.status : null
  const successful = status !== null && status >= 200 && status < 300
  const gone = isGone(status)
  const pauseUntil =
    outcome.kind === 'answered' && (status === 429 || status === 503) ? retryAfter(outcome.retryAfter, now) : null

  const isLast = outcome.kind === 'denied' || (outcome.kind === 'answered' && (outcome.isLast ?? false))
  const retried = tried.retries && !successful && !canceled && !gone && !isLast && endpoint !== null
  const next = retried ? nextTry(tried, endpoint, { now, notBefore: pauseUntil ?? 0, newId }) : null

  return {
    eventType: tried.eventType,
    pauseUntil,
    settlement: {
      workspaceId: tried.workspaceId,
      attempt,
      status: successful ? 'SUCCESSFUL' : canceled ? 'CANCELED' : 'FAILED',
      attempted_at: canceled ? null : tried.startedAt,
      exhausted: !successful && !canceled && next === null,
      error_code: outcome.kind === 'answered' ? null : errorCodes[outcome.kind],
      error_message: 'message' in outcome ? outcome.message : null,
      request: 'request' in outcome ? outcome.request : null,
      response: outcome.kind === 'answered' ? outcome.response : null,
      settled_at: now,
      next,
      disable: gone && endpoint !== null ? { url: endpoint.request.url } : null,
      counted: tried.counted,
      claim: tried.claim,
    },
  }
}

/** The follow-up. That of a replay stays behind others as the replay did. */
function nextTry(
  { attempt, claim, random }: Try,
  { retry: { config } }: Endpoint,
  { now, notBefore, newId }: { now: number; notBefore: number; newId: () => string },
): PlannedAttempt | null {
  const jitter = config.jitter === 0 ? 0 : config.jitter * (random?.() ?? 0)
  const next = nextAttempt(attempt, config.attempts, now, notBefore, newId, jitter)
  return next === null || claim?.priority === undefined ? next : { ...next, priority: claim.priority }
}
