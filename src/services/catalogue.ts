import type { Catalogue } from '../contracts/catalogue.ts'
import { invalid } from '../errors.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import { reasonsAt } from '../schema/parse.ts'

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
      const placed = issues.map(({ message, path = [] }) => ({
        message,
        path: ['data', ...path].map((step) => (typeof step === 'object' ? step.key : step)),
      }))
      throw reasonsAt(placed)
    },
  }
}
