import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

import type { EventSchema } from '../schema/catalogue.ts'

/** The JSON Schema (draft 2020-12) of an event's data; null where the library of the schema tells none. */
export function dataSchema(schema: EventSchema): Readonly<Record<string, unknown>> | null {
  const { vendor, jsonSchema } = schema['~standard']
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' })
    if (vendor === 'valibot') {
      const options = { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' } as const
      return { ...toJsonSchema(schema as unknown as GenericSchema, options) } // as the vendor says
    }
  } catch {
    // Not everything that a schema checks can be said in JSON Schema.
  }
  return null
}
