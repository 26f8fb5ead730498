import type { PlannedAttempt } from '../../src/contracts/storage/attempts.ts'
import { isAstray } from '../../src/core/id-bounds.ts'
import { leaseText } from './queue.ts'
import { isSkewed } from './skewed.ts'

/** The six arguments of an attempt. `isAgain`: the event has another attempt to the endpoint. */
export function attemptArgs(attempt: PlannedAttempt, isAgain = false): readonly (string | number)[] {
  const { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at } = attempt
  const planned = { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at }
  const held = attempt.lease === undefined ? '' : `held ${leaseText(attempt.lease)}`
  const marks = `${isAstray(attempt) ? 'astray ' : ''}${isSkewed(attempt) ? 'skewed ' : ''}${isAgain ? 'again ' : ''}${attempt.priority === 'low' ? 'low ' : ''}${held}`
  return [id, endpoint_id, scheduled_at, created_at, JSON.stringify(planned), marks]
}

/** The arguments of all attempts that an event is stored with. */
export function attemptsArgs(attempts: readonly PlannedAttempt[]): readonly (readonly (string | number)[])[] {
  const endpoints = new Set<string>()
  const isAgain = ({ endpoint_id }: PlannedAttempt) => endpoints.size === endpoints.add(endpoint_id).size
  return attempts.map((attempt) => attemptArgs(attempt, isAgain(attempt)))
}
