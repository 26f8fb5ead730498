import type { NewAttempt, PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { Endpoint } from '../schema/endpoint.ts'

/** An open attempt that falls due within this time is shown as QUEUED, a later one as INIT. */
export const queuedWithinMs = 180_000

/**
 * The first attempts of an event: one for each endpoint, due after the first entry of its retry policy. What a paused
 * endpoint gets meanwhile stands behind what it gets after the pause.
 */
export function fanout(
  eventId: string,
  endpoints: readonly Endpoint[],
  now: number,
  newId: () => string,
): PlannedAttempt[] {
  return endpoints.map((endpoint) => ({
    id: newId(),
    event_id: eventId,
    endpoint_id: endpoint.id,
    attempt_number: 1,
    scheduled_at: after(now, endpoint.retry.config.attempts[0]!), // the schema asks for at least one entry
    trigger_mode: 'INITIAL',
    created_at: now,
    ...(endpoint.paused && { priority: 'low' }),
  }))
}

/** A manual attempt: the first of a chain of its own, due at once. */
export function manual(eventId: string, endpointId: string, now: number, newId: () => string): NewAttempt {
  return {
    id: newId(),
    event_id: eventId,
    endpoint_id: endpointId,
    attempt_number: 1,
    scheduled_at: now,
    trigger_mode: 'MANUAL',
    created_at: now,
  }
}

/** A manual attempt that comes behind first tries of the endpoint. */
export function replayed(...of: Parameters<typeof manual>): PlannedAttempt {
  return { ...manual(...of), priority: 'low' }
}

/** The attempt of a test delivery. It is stored as due at `dueAt`, when a worker would have to take it over. */
export function testAttempt(
  eventId: string,
  endpointId: string,
  { now, dueAt }: { now: number; dueAt: number },
  newId: () => string,
): NewAttempt {
  return { ...manual(eventId, endpointId, now, newId), scheduled_at: dueAt, trigger_mode: 'TEST' }
}

/**
 * What follows a failed attempt under a retry policy, or null when its tries are used up. Never before `notBefore`. `added`:
 * what is added to the wait, as a share of the wait.
 */
export function followUp(
  attempt: NewAttempt,
  attempts: readonly number[],
  finishedAt: number,
  notBefore: number,
  newId: () => string,
  added = 0,
): NewAttempt | null {
  const delay = attempts[attempt.attempt_number]
  if (delay === undefined) return null
  return {
    id: newId(),
    event_id: attempt.event_id,
    endpoint_id: attempt.endpoint_id,
    attempt_number: attempt.attempt_number + 1,
    scheduled_at: Math.max(after(finishedAt, delay * (1 + added)), notBefore),
    trigger_mode: 'AUTOMATIC',
    created_at: finishedAt,
  }
}

/** Saturates, since a policy may name any number of seconds. */
function after(now: number, seconds: number): number {
  return Math.min(now + Math.ceil(seconds * 1000), Number.MAX_SAFE_INTEGER)
}
