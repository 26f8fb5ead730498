import type { EventEntry } from '../schema/catalogue.ts'

/** The event types that the host declares. */
export interface Catalogue {
  readonly entries: Readonly<Record<string, EventEntry>>
  /**
   * Lets an event pass whose data, given as JSON text, its schema takes; one of an undeclared type unless the catalogue is strict.
   * @throws PosthornError `validation`
   */
  check(eventType: string, data: string): Promise<void>
}
