import type { StoredAttempt } from '../contracts/storage/attempts.ts'
import type { EventHead } from '../contracts/storage/events.ts'
import type { Delivery, DeliveryStatus } from '../schema/delivery.ts'

/** A delivery as its attempts tell it, at least one, in any order. */
export function deliveryOf(event: EventHead, attempts: readonly StoredAttempt[]): Delivery {
  const inOrder = attempts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const sent = inOrder.flatMap(({ attempted_at }) => attempted_at ?? [])
  const due = inOrder.filter(({ status }) => status === 'OPEN').map(({ scheduled_at }) => scheduled_at)
  const last = inOrder.findLast(({ status }) => status !== 'OPEN')
  return {
    event_id: event.id,
    endpoint_id: inOrder[0]!.endpoint_id,
    event_type: event.event_type,
    unique_id: event.unique_id,
    status: statusOf(inOrder),
    tries: sent.length,
    created_at: event.created_at,
    last_attempted_at: sent.length === 0 ? null : sent.reduce((a, b) => Math.max(a, b)),
    next_attempt_at: due.length === 0 ? null : due.reduce((a, b) => Math.min(a, b)),
    last: last === undefined || last.status === 'OPEN' ? null : lastOf(last, last.status),
  }
}

/** DELIVERED once any attempt succeeded. Else the newest attempt decides. */
function statusOf(inOrder: readonly StoredAttempt[]): DeliveryStatus {
  if (inOrder.some(({ status }) => status === 'SUCCESSFUL')) return 'DELIVERED'
  const newest = inOrder.at(-1)!
  if (newest.status !== 'OPEN') return newest.status === 'CANCELED' ? 'CANCELED' : 'FAILED'
  return inOrder.some(({ status }) => status === 'FAILED') ? 'RETRYING' : 'PENDING'
}

function lastOf(
  { id, response, error_code, error_message }: StoredAttempt,
  status: NonNullable<Delivery['last']>['status'],
) {
  return {
    attempt_id: id,
    status,
    response_status: response?.status ?? null,
    error_code,
    error_message,
    latency: response?.latency ?? null,
  }
}

/** What places an attempt among those of its event. */
export type Place = Pick<StoredAttempt, 'endpoint_id' | 'id'>

/** Whether an attempt stands before another of the same event: by endpoint id, then by id. See `Attempts.ofEvents`. */
export function isBefore(a: Place, b: Place): boolean {
  return a.endpoint_id < b.endpoint_id || (a.endpoint_id === b.endpoint_id && a.id < b.id)
}
