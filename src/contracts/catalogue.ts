import type { EventCatalogue } from '../schema/catalogue.ts'

/** The event types that the host declares. */
export interface Catalogue {
  readonly schemas: EventCatalogue
  /**
   * Lets an event pass whose data, given as JSON text, its schema takes; one of an undeclared type unless the catalogue is strict.
   * @throws PosthornError `validation`
   */
  check(eventType: string, data: string): Promise<void>
}
