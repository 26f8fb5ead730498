import type { Awaitable } from './awaitable.ts'
import type { EventEntry } from '../schema/catalogue.ts'

/** The event types that the host declares. */
export interface Catalogue {
  readonly entries: Readonly<Record<string, EventEntry>>
  /**
   * Accepts an event whose data, given as JSON text, matches the schema of its type. An event of an undeclared type
   * passes unless the catalogue is strict.
   * @throws PosthornError `validation`
   */
  check(eventType: string, data: string): Awaitable<void>
}
