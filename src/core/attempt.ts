import type { NewAttempt, Settlement, StoredAttempt } from '../contracts/storage/attempts.ts'
import type { Attempt, AttemptStatus } from '../schema/attempt.ts'
import type { Compatible } from './webhookx.ts'

/** An open attempt that falls due within this time is shown as QUEUED, a later attempt as INIT. */
export const queuedWithinMs = 180_000

/** A new attempt as storage holds it until it ends. */
export function openAttempt(attempt: NewAttempt, event_type: string): StoredAttempt {
  const { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at } = attempt
  return {
    id,
    event_id,
    endpoint_id,
    attempt_number,
    scheduled_at,
    trigger_mode,
    created_at,
    status: 'OPEN',
    attempted_at: null,
    exhausted: false,
    error_code: null,
    error_message: null,
    request: null,
    response: null,
    updated_at: created_at,
    event_type,
  }
}

/**
 * How a stored attempt looks at a moment: an open attempt is QUEUED when it falls due within three minutes, else INIT. With
 * `compatible: 'webhookx'` an attempt that was asked for by hand is INIT.
 */
export function shownAttempt(stored: StoredAttempt, now: number, compatible?: Compatible): Attempt {
  const { request, response } = stored
  return {
    id: stored.id,
    event_id: stored.event_id,
    endpoint_id: stored.endpoint_id,
    status: shownStatus(stored, now, compatible),
    attempt_number: stored.attempt_number,
    scheduled_at: shownDue(stored),
    attempted_at: stored.attempted_at,
    trigger_mode: stored.trigger_mode,
    exhausted: stored.exhausted,
    error_code: stored.error_code,
    error_message: stored.error_message,
    request:
      request === null
        ? null
        : { method: request.method, url: request.url, headers: request.headers, body: request.body },
    response:
      response === null
        ? null
        : { status: response.status, latency: response.latency, headers: response.headers, body: response.body },
    created_at: stored.created_at,
    updated_at: stored.updated_at,
    event_type: stored.event_type,
    final: isFinal(stored),
  }
}

/** Whether an attempt has ended and no automatic try follows. */
export function isFinal({ status, exhausted }: Pick<StoredAttempt, 'status' | 'exhausted'>): boolean {
  return status === 'SUCCESSFUL' || status === 'CANCELED' || (status === 'FAILED' && exhausted)
}

/** A test delivery is stored as due only when a worker would have to take it over; once it is made, it was due at once. */
function shownDue({ status, scheduled_at, attempted_at, updated_at }: StoredAttempt): number {
  return status === 'OPEN' ? scheduled_at : Math.min(scheduled_at, attempted_at ?? updated_at)
}

function shownStatus(
  { status, scheduled_at, trigger_mode }: StoredAttempt,
  now: number,
  compatible?: Compatible,
): AttemptStatus {
  if (status !== 'OPEN') return status
  if (compatible === 'webhookx' && trigger_mode === 'MANUAL') return 'INIT'
  return scheduled_at <= now + queuedWithinMs ? 'QUEUED' : 'INIT'
}

/** An attempt as it ended. Request and answer are what the caller keeps, or shows, of them. */
export function endedAttempt<Request, Response>(
  attempt: NewAttempt,
  event_type: string,
  ended: Settlement,
  request: Request,
  response: Response,
) {
  return {
    id: attempt.id,
    event_id: attempt.event_id,
    endpoint_id: attempt.endpoint_id,
    status: ended.status,
    attempt_number: attempt.attempt_number,
    scheduled_at: attempt.scheduled_at,
    attempted_at: ended.attempted_at,
    trigger_mode: attempt.trigger_mode,
    exhausted: ended.exhausted,
    error_code: ended.error_code,
    error_message: ended.error_message,
    request,
    response,
    created_at: attempt.created_at,
    updated_at: ended.settled_at,
    event_type,
  }
}
