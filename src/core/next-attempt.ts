import type { NewAttempt } from '../contracts/storage/attempts.ts'

/**
 * The attempt that follows a failed attempt under a retry policy, or null when all tries are used up. It is never due before
 * `notBefore`. `added`: how much longer the wait gets, as a share of the wait.
 */
export function nextAttempt(
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
    scheduled_at: Math.max(afterSeconds(finishedAt, delay * (1 + added)), notBefore),
    trigger_mode: 'AUTOMATIC',
    created_at: finishedAt,
  }
}

/** The time that many seconds later, at most the largest safe number: a policy may name any number of seconds. */
export function afterSeconds(now: number, seconds: number): number {
  return Math.min(now + Math.ceil(seconds * 1000), Number.MAX_SAFE_INTEGER)
}
