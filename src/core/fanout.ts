import type { NewAttempt, PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { afterSeconds } from './next-attempt.ts'

/**
 * The first attempts of an event: one for each endpoint, due after the first entry of its retry policy. Attempts made
 * while an endpoint is paused have low priority: attempts made after the pause come before them.
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
    scheduled_at: afterSeconds(now, endpoint.retry.config.attempts[0]!), // the schema asks for at least one entry
    trigger_mode: 'INITIAL',
    created_at: now,
    ...(endpoint.paused && { priority: 'low' }),
  }))
}

/** A manual attempt: the first of a new chain, due at once. */
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
