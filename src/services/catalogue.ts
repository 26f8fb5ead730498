import type { Catalogue } from '../contracts/catalogue.ts'
import { invalid } from '../errors.ts'
import type { EventCatalogue, EventEntry, EventSchema } from '../schema/catalogue.ts'
import { refusalAt } from '../schema/parse.ts'

export function catalogue(given: EventCatalogue, { strict }: { readonly strict: boolean }): Catalogue {
  const entries = Object.fromEntries(Object.entries(given).map(([type, entry]) => [type, entryOf(entry)]))
  return {
    entries,
    check(eventType, data) {
      const schema = Object.hasOwn(entries, eventType) ? entries[eventType]?.schema : undefined
      if (schema !== undefined) return matches(schema, data)
      if (strict) throw invalid({ event_type: `unknown event type '${eventType}'` })
      return undefined
    },
  }
}

async function matches(schema: EventSchema, data: string): Promise<void> {
  const { issues } = await schema['~standard'].validate(JSON.parse(data))
  if (issues === undefined) return
  throw refusalAt(issues.map(({ message, path = [] }) => ({ message, path: ['data', ...path] })))
}

function entryOf(given: EventSchema | EventEntry): EventEntry {
  return '~standard' in given ? { schema: given } : given
}
