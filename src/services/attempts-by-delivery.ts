import type { Context } from '../context.ts'
import type { OfEventsQuery, StoredAttempt } from '../contracts/storage/attempts.ts'
import type { EventHead } from '../contracts/storage/events.ts'

/** Attempts that are read at once at most. */
export const maxAttempts = 1000
/** Stands behind every id. */
const behindIds = '~'

/** An event, and all its attempts to an endpoint but those of test deliveries, in the order of their ids. */
interface Own {
  readonly event: EventHead
  readonly attempts: StoredAttempt[]
}

interface Asked {
  /** Missing: all. */
  readonly endpointId?: string | undefined
  /** Only deliveries of the first event beyond that to this endpoint. */
  readonly after?: { readonly endpoint_id: string } | null
  /** Endpoints of an event go downwards. */
  readonly descending?: boolean
  /** How many attempts are read at once. */
  readonly atOnce?: number
}

/** The deliveries of events, one after the other. An event may have thousands: few attempts are held in memory at once. */
export async function* attemptsByDelivery(
  ctx: Context,
  workspaceId: string,
  events: readonly EventHead[],
  { endpointId, after = null, descending = false, atOnce = maxAttempts }: Asked,
): AsyncGenerator<Own, void> {
  let own: Own | null = null
  let from: OfEventsQuery['after'] = after && [after.endpoint_id, descending ? '' : behindIds]
  const ended = ({ event, attempts }: Own): Own => ({ event, attempts: descending ? attempts.toReversed() : attempts })
  for (let rest = events; rest.length > 0;) {
    const asked = from === null ? rest : rest.slice(0, 1)
    const query = { ...(endpointId !== undefined && { endpointId }), after: from, descending, limit: atOnce }
    const rows = await ctx.storage.attempts.ofEvents(
      workspaceId,
      asked.map(({ id }) => id),
      query,
    )
    let at = 0
    for (const attempt of rows) {
      while (rest[at]!.id !== attempt.event_id) at++ // rows come in the order of the events
      if (attempt.trigger_mode === 'TEST') continue
      if (own !== null && own.event.id === attempt.event_id && own.attempts[0]!.endpoint_id === attempt.endpoint_id) {
        own.attempts.push(attempt)
        continue
      }
      if (own !== null) yield ended(own)
      own = { event: rest[at]!, attempts: [attempt] }
    }
    const last = rows.length < atOnce ? undefined : rows.at(-1)
    rest = rest.slice(last === undefined ? asked.length : at)
    from = last === undefined ? null : [last.endpoint_id, last.id]
  }
  if (own !== null) yield ended(own)
}
