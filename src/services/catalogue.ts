import { invalid } from '../errors.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import { refusalAt } from '../schema/parse.ts'

/** The event types that the host declares. */
export interface Catalogue {
  readonly schemas: EventCatalogue
  /**
   * Lets an event pass whose data, given as JSON text, its schema takes; one of an undeclared type unless the catalogue is strict.
   * @throws PosthornError `validation`
   */
  check(eventType: string, data: string): Promise<void>
}

export function catalogue(schemas: EventCatalogue, { strict }: { readonly strict: boolean }): Catalogue {
  return {
    schemas,
    async check(eventType, data) {
      const schema = Object.hasOwn(schemas, eventType) ? schemas[eventType] : undefined
      if (schema === undefined) {
        if (strict) throw invalid({ event_type: `unknown event type '${eventType}'` })
        return
      }
      const { issues } = await schema['~standard'].validate(JSON.parse(data))
      if (issues === undefined) return
      throw refusalAt(issues.map(({ message, path = [] }) => ({ message, path: ['data', ...path] })))
    },
  }
}
