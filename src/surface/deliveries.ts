import type { Attempt } from '../schema/attempt.ts'
import type { Delivery, DeliveryDetails, DeliveryStatus } from '../schema/delivery.ts'
import type { CursorPage, TimeFilter } from '../schema/page.ts'

/** What the list of deliveries can be asked. Filters that are given must all hold. */
export interface DeliveryListInput {
  /** The most rows of a page, 1 to 1000. Default 20. */
  readonly limit?: number
  /** Only rows behind this row: `next` of the page before. */
  readonly after?: string
  /** Only rows before this row: `prev` of the page behind. */
  readonly before?: string
  /** When the events were created. */
  readonly created_at?: TimeFilter
  /** Deliveries of this event. */
  readonly event_id?: string
  /** Deliveries to this endpoint. */
  readonly endpoint_id?: string
  /** Deliveries of events of exactly this type. */
  readonly event_type?: string
  /** Only deliveries with this status. */
  readonly status?: DeliveryStatus
  /** Deliveries whose last try was answered with this HTTP status, 100 to 599. */
  readonly response_status?: number
}

/** Deliveries: all attempts of an event to an endpoint as one row. `workspace` is an id or a name. */
export interface DeliveryService {
  /**
   * Lists deliveries of a workspace, the newest event first.
   * @throws PosthornError validation, unknown_workspace
   * @example const { data } = await posthorn.deliveries.list('default', { status: 'FAILED' })
   */
  list(workspace: string, query?: DeliveryListInput): Promise<CursorPage<Delivery>>
  /**
   * Iterates over all rows of the list, read page by page (100 rows, or `limit`) while they are taken.
   * @throws PosthornError validation, unknown_workspace
   * @example for await (const delivery of posthorn.deliveries.each('default')) console.log(delivery.status)
   */
  each(workspace: string, query?: DeliveryListInput): AsyncIterable<Delivery>
  /** Reads one delivery with all its attempts. @throws PosthornError not_found, unknown_workspace */
  get(workspace: string, eventId: string, endpointId: string): Promise<DeliveryDetails>
  /** Sends the event to the endpoint once more, as `events.retry`. @throws PosthornError not_found, validation, unknown_workspace */
  retry(workspace: string, eventId: string, endpointId: string): Promise<Attempt>
}
