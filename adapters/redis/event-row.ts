import type { StoredEvent } from '../../src/schema/event.ts'

/** An event without `data`, with the size of `data`. */
export type EventRow = Omit<StoredEvent, 'data'> & { readonly bytes: number }

/** An event from the stored row and the data. */
export function eventOf(json: string, data: string): StoredEvent {
  const { bytes: _, ...event } = JSON.parse(json) as EventRow // written by ingest
  return withData(event, data)
}

/** An event with its members in the usual order. */
export function withData({ id, event_type, ...rest }: Omit<StoredEvent, 'data'>, data: string): StoredEvent {
  return { id, event_type, data, ...rest }
}
