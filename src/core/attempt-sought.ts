import type { AttemptSought } from '../contracts/storage/events.ts'
import type { StoredAttempt } from '../contracts/storage/attempts.ts'

/** Whether an attempt is what is sought. `beside`: all attempts of the event, or those to the same endpoint. */
export function isSought(
  attempt: StoredAttempt,
  beside: readonly StoredAttempt[],
  { endpoint_id, status, exhausted, retried, response_status }: AttemptSought,
): boolean {
  const tries = beside.filter((other) => other.endpoint_id === attempt.endpoint_id && other.trigger_mode !== 'TEST')
  const failedBefore = () => tries.some((other) => other.status === 'FAILED')
  const isLast = () => !tries.some((other) => other.id > attempt.id && other.status !== 'OPEN')
  return (
    attempt.trigger_mode !== 'TEST' &&
    (endpoint_id === undefined || attempt.endpoint_id === endpoint_id) &&
    (status === undefined || (attempt.status === status && (status === 'OPEN' || isLast()))) &&
    (exhausted === undefined || attempt.exhausted) &&
    (response_status === undefined || attempt.response?.status === response_status) &&
    (retried === undefined || failedBefore() === retried)
  )
}
