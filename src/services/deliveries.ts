import type { Context } from '../context.ts'
import type { AttemptSought, TimelineQuery } from '../contracts/storage/events.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { shownAttempt } from '../core/attempt.ts'
import { deliveryOf } from '../core/delivery.ts'
import { notFound } from '../errors.ts'
import type { Delivery, DeliveryStatus } from '../schema/delivery.ts'
import { type CursorPage, listParameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { attemptsByDelivery, maxAttempts } from './attempts-by-delivery.ts'
import { checkedList, filtersOf, invalidParameters } from './listing.ts'
import { retryService } from './manual-retry.ts'
import type { DeliveryUseCases } from './use-cases.ts'

const defaultLimit = 20
/** Events that one step reads at most. */
const maxEvents = 500
/** Attempts that are read at once, at least, where few deliveries are asked for. */
const minAttempts = 100
const separator = '.'

/** The place of a delivery in the list: by the event's time, then the event's id, then the endpoint's id. */
interface Position {
  readonly created_at: number
  readonly event_id: string
  readonly endpoint_id: string
}

interface Asked {
  readonly event_id?: string
  readonly endpoint_id?: string
  readonly event_type?: string
  readonly status?: DeliveryStatus
  readonly response_status?: number
  readonly created_at?: TimeRange
}

/** An attempt that each delivery of a status has. A status is missing here where most deliveries have such an attempt. */
const attemptOf: Readonly<Partial<Record<DeliveryStatus, AttemptSought>>> = {
  PENDING: { status: 'OPEN', retried: false },
  RETRYING: { status: 'OPEN', retried: true },
  FAILED: { status: 'FAILED', exhausted: true },
  CANCELED: { status: 'CANCELED' },
}

/** Deliveries are a view of attempts: storage has no deliveries. */
export function deliveryService(ctx: Context): DeliveryUseCases {
  const { retry } = retryService(ctx)
  return {
    async list(id, query = {}) {
      const given = checkedList(listParameters.deliveries, query)
      const position = positionOf(given.after, 'after') ?? positionOf(given.before, 'before')
      const asked = filtersOf(listParameters.deliveries, given) as Asked // the filters of this list
      const descending = given.before === undefined
      const limit = given.limit ?? defaultLimit
      const found = await walk(ctx, id, asked, { position, descending, limit: limit + 1 })
      const rows = found.slice(0, limit)
      if (!descending) rows.reverse()
      return pageOf(rows, { goesOn: found.length > limit, descending, began: position !== null })
    },

    async get(id, eventId, endpointId) {
      const isId = idPattern.test(eventId) && idPattern.test(endpointId)
      const events = isId ? await ctx.storage.events.timeline(id, ofEvent(eventId)) : []
      // One at most: of an event and an endpoint.
      for await (const { event, attempts } of attemptsByDelivery(ctx, id, events, { endpointId })) {
        const now = ctx.clock.now()
        const shown = attempts.map((attempt) => shownAttempt(attempt, now, ctx.settings.compatible))
        return { ...deliveryOf(event, attempts), attempts: shown }
      }
      throw notFound()
    },

    retry,
  }
}

const ofEvent = (id: string): TimelineQuery => ({ ids: [id], from: null, descending: true, limit: 1 })

/** Deliveries beyond a position, in order, until a page is full. */
async function walk(
  ctx: Context,
  workspaceId: string,
  asked: Asked,
  { position, descending, limit }: { position: Position | null; descending: boolean; limit: number },
): Promise<Delivery[]> {
  const having = attemptSought(asked)
  const query: Omit<TimelineQuery, 'from' | 'limit'> = {
    ...(asked.event_id !== undefined && { ids: [asked.event_id] }),
    ...(having !== null && { having }),
    ...(asked.event_type !== undefined && { event_type: asked.event_type }),
    ...(asked.created_at !== undefined && { created_at: asked.created_at }),
    descending,
  }
  const found: Delivery[] = []
  // The event of the position may have more deliveries beyond it.
  let from: TimelineQuery['from'] =
    position === null ? null : { created_at: position.created_at, id: position.event_id, inclusive: true }
  for (let step = limit; found.length < limit;) {
    const before = found.length
    const heads = await ctx.storage.events.timeline(workspaceId, { ...query, from, limit: step })
    const atOnce = Math.min(Math.max(2 * (limit - found.length), minAttempts), maxAttempts)
    const after = heads[0]?.id === position?.event_id ? position : null
    const asOf = { endpointId: asked.endpoint_id, after, descending, atOnce }
    for await (const { event, attempts } of attemptsByDelivery(ctx, workspaceId, heads, asOf)) {
      const delivery = deliveryOf(event, attempts)
      if (asked.status !== undefined && delivery.status !== asked.status) continue
      if (asked.response_status !== undefined && delivery.last?.response_status !== asked.response_status) continue
      if (found.push(delivery) === limit) return found
    }
    const last = heads.at(-1)
    if (last === undefined || heads.length < step) break
    from = { created_at: last.created_at, id: last.id, inclusive: false }
    // Where most events have what is asked for, few more are enough.
    const isDense = 2 * (found.length - before) >= heads.length
    step = Math.min(2 * step, maxEvents, isDense ? 2 * (limit - found.length) + 2 : Infinity)
  }
  return found
}

/** An attempt that each delivery has that is asked for, as far as that is worth looking for; else null. */
function attemptSought({ event_id, endpoint_id, status, response_status }: Asked): AttemptSought | null {
  if (event_id !== undefined) return null
  const isRefusal = response_status !== undefined && (response_status < 200 || response_status > 299)
  const ofStatus = status === undefined ? {} : attemptOf[status]
  const refused: AttemptSought = { status: 'FAILED', response_status: response_status! }
  const sought: AttemptSought = {
    ...(endpoint_id !== undefined && { endpoint_id }),
    ...(isRefusal ? { ...(status === 'FAILED' && ofStatus), ...refused } : ofStatus),
  }
  return Object.keys(sought).length === 0 ? null : sought
}

function pageOf(
  rows: readonly Delivery[],
  { goesOn, descending, began }: { goesOn: boolean; descending: boolean; began: boolean },
): CursorPage<Delivery> {
  const cursor = (row: Delivery | undefined): string | null =>
    row === undefined ? null : [row.created_at, row.event_id, row.endpoint_id].join(separator)
  // Behind a cursor stands the row that the cursor was made of.
  return {
    data: rows,
    next: (descending ? goesOn : began) ? cursor(rows.at(-1)) : null,
    prev: (descending ? began : goesOn) ? cursor(rows[0]) : null,
  }
}

function positionOf(cursor: string | undefined, parameter: 'after' | 'before'): Position | null {
  if (cursor === undefined) return null
  const [time = '', event_id = '', endpoint_id = '', ...more] = cursor.split(separator)
  const isOurs = /^-?\d{1,16}$/.test(time) && idPattern.test(event_id) && idPattern.test(endpoint_id)
  if (!isOurs || more.length > 0) throw invalidParameters([`${parameter}: invalid cursor`])
  return { created_at: Number(time), event_id, endpoint_id }
}
