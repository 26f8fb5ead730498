import { jsonSchemaOfOpenApi } from '../../core/openapi-schema.ts'
import { metaSchemas } from './meta/index.ts'
import type { PatternCompiler } from './pattern.ts'
import { dialects, isDocument, isSchema, reasonAt, type Schema, type Version } from './schema.ts'
import { readSchema, type Validator } from './validator.ts'

export interface Schemas {
  /** The version of JSON Schema, or OpenAPI 3.0. */
  readonly version: Version
  /** JSON Schemas as JSON texts, by event type. */
  readonly schemas: Readonly<Record<string, string>>
  /** For event types that are not in `schemas`. */
  readonly default_schema: string | null
}

export interface Judge {
  /** Why a schema is refused: `at '<place>': <reason>`, or null. */
  problemOf(schema: string, version: Version): string | null
  /**
   * Why the event that a request body is does not conform; nothing when it does, or has no schema, or the body is no
   * event. Null when the schemas under that number are not known, and are not given.
   */
  reasons(body: string, number: number, schemas: Schemas | null, wantsReasons: boolean): readonly string[] | null
}

/** Of made schemas those of the last use are held, as many as this many steps and characters made. */
const maxHeld = 16_000_000

interface Held {
  readonly schemas: Schemas
  readonly made: Map<string | null, Validator>
  weight: number
}

/** Judges schemas and events. It holds made schemas by the number of their plugin, and nothing by what a sender wrote. */
export function makeJudge(patterns: PatternCompiler): Judge {
  const metas = new Map<Version, Validator>()
  // The last used is the last.
  const held = new Map<number, Held>()

  function metaOf(version: Version): Validator {
    const [meta, ...others] = metaSchemas[version]
    // The schema of OpenAPI is itself written in draft-04.
    const dialect = dialects[version === 'openapi-3.0' ? 'draft-04' : version]
    const known = metas.get(version) ?? readSchema(meta, dialect, others, patterns).validate
    metas.set(version, known)
    return known
  }

  function make(text: string, version: Version) {
    const given: unknown = JSON.parse(text)
    const schema = (version === 'openapi-3.0' ? jsonSchemaOfOpenApi(given) : given) as Schema // `problemOf` has seen it
    return readSchema(schema, dialects[version], version === 'openapi-3.0' ? [] : metaSchemas[version], patterns)
  }

  function hold(number: number, schemas: Schemas): Held {
    const { schemas: texts, default_schema } = schemas
    const weight = [...Object.values(texts), default_schema ?? ''].reduce((sum, text) => sum + text.length, 0)
    const entry: Held = { schemas, made: new Map(), weight }
    held.set(number, entry)
    return entry
  }

  function shed(): void {
    let weight = 0
    for (const [number, entry] of [...held].toReversed()) {
      weight += entry.weight
      if (weight > maxHeld) held.delete(number)
    }
  }

  function validatorOf(entry: Held, type: string): Validator | null {
    const { schemas, default_schema, version } = entry.schemas
    const key = Object.hasOwn(schemas, type) ? type : null
    const text = key === null ? default_schema : schemas[key]
    if (text === null || text === undefined) return null
    const known = entry.made.get(key)
    if (known !== undefined) return known
    const { validate, steps } = make(text, version)
    entry.made.set(key, validate)
    entry.weight += steps
    shed()
    return validate
  }

  return {
    problemOf(text, version) {
      try {
        const schema: unknown = JSON.parse(text)
        const [reason] = metaOf(version)(schema, true)
        if (reason !== undefined) return reason
        return isSchema(schema) ? (make(text, version).problems[0] ?? null) : reasonAt([], 'value must be a schema')
      } catch (thrown) {
        if (!(thrown instanceof RangeError)) throw thrown // what is very deep
        return reasonAt([], 'the schema cannot be used: it is too large or too deep')
      }
    },

    reasons(body, number, schemas, wantsReasons) {
      const known = held.get(number)
      if (known === undefined && schemas === null) return null
      const entry = known ?? hold(number, schemas!)
      held.delete(number)
      held.set(number, entry)
      const event = parsed(body)
      // What is no event is answered by the gateway itself.
      if (!isDocument(event) || typeof event.event_type !== 'string' || !Object.hasOwn(event, 'data')) return []
      return validatorOf(entry, event.event_type)?.(event.data, wantsReasons) ?? []
    },
  }
}

/** The value of a JSON text; undefined when it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
