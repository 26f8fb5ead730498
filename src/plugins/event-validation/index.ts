// Schemas are judged by code of our own, since no validator that runs without `eval` keeps what this plugin promises.
// @cfworker/json-schema 4.1 matches patterns with the host's RegExp, which nothing can replace, compares unique items in
// pairs and knows no $dynamicRef; json-schema-library 11.6 ignores `maximum: 0` and properties named `_id`, throws on one
// named `constructor`, and compiles a referenced schema anew at every use (one of 2000 properties, used by 1000 items: 40 s).
// @hyperjump/json-schema 1.18 fetches references that it does not know, keeps its keywords in one registry of the process,
// and imports node: modules.

import { definePlugin, type PluginKind } from '../../contracts/plugin.ts'
import { jsonSchemaOfOpenApi } from '../../core/openapi-schema.ts'
import { dictionary, flag, object, oneOf, orNull, text, textProblem, withDefault } from '../../schema/leaf.ts'
import { metaSchemas } from './meta/index.ts'
import { loadPatterns, type PatternCompiler } from './pattern.ts'
import { dialects, isDocument, isSchema, type Schema, type Version, versions } from './schema.ts'
import { readSchema, type Validator } from './validator.ts'

export interface EventValidationConfig {
  readonly version: Version
  /** JSON Schemas as JSON texts, by event type. */
  readonly schemas: Readonly<Record<string, string>>
  /** For event types that are not in `schemas`. */
  readonly default_schema: string | null
  /** Whether a refusal tells its reasons. */
  readonly verbose_response: boolean
}

const jsonMessage = 'string doesn\'t match the format "json" (not a valid JSON)'
const maxLength = 1024 * 1024

const schemaText = (value: string) => textProblem(value, { max: maxLength, rule: jsonProblem })

const config = object({
  version: oneOf(versions),
  schemas: dictionary((_type, value) => schemaText(value)),
  default_schema: orNull(text({ max: maxLength, rule: jsonProblem })),
  verbose_response: withDefault(flag(), false),
})

/**
 * Refuses events of a source whose `data` does not conform to the JSON Schema of their type. Schemas refer to nothing
 * outside themselves but their meta-schema, patterns match in linear time, and no event costs more than a bounded amount
 * of work. Needs the package `re2js`.
 */
export function eventValidation(): PluginKind<EventValidationConfig> {
  return definePlugin<EventValidationConfig>({
    name: 'event-validation',
    sides: ['inbound'],
    config,

    async load() {
      await loadPatterns()
    },

    async verify({ version, schemas, default_schema }) {
      const patterns = await loadPatterns()
      const refused = Object.entries(schemas).flatMap(([type, schema]) => {
        const reason = problemOf(schema, version, patterns)
        return reason === null ? [] : [[type, reason] as const]
      })
      const reason = default_schema === null ? null : problemOf(default_schema, version, patterns)
      if (refused.length === 0 && reason === null) return null
      return {
        ...(refused.length === 0 ? {} : { schemas: Object.fromEntries(refused) }),
        ...(reason === null ? {} : { default_schema: reason }),
      }
    },

    async prepare({ version, schemas, default_schema, verbose_response }) {
      const patterns = await loadPatterns()
      const compiled = (text: string) => readText(text, version, patterns).validate
      const validators = new Map(Object.entries(schemas).map(([type, schema]) => [type, compiled(schema)]))
      const fallback = default_schema === null ? undefined : compiled(default_schema)
      const decoder = new TextDecoder()

      return {
        inbound(request) {
          const body = parsed(decoder.decode(request.body))
          // What is no event is answered by the gateway itself.
          if (!isDocument(body) || typeof body.event_type !== 'string' || !Object.hasOwn(body, 'data')) return request
          const reasons = (validators.get(body.event_type) ?? fallback)?.(body.data, verbose_response) ?? []
          return reasons.length === 0 ? request : refusal(verbose_response ? reasons : null)
        },
      }
    },
  })
}

/** Why a schema is refused: `<json pointer>: <reason>`, or null. */
function problemOf(text: string, version: Version, patterns: PatternCompiler): string | null {
  const schema: unknown = JSON.parse(text)
  const [meta, ...others] = metaSchemas[version]
  // The schema of OpenAPI is itself written in draft-04.
  const metaDialect = dialects[version === 'openapi-3.0' ? 'draft-04' : version]
  const [reason] = readSchema(meta, metaDialect, others, patterns).validate(schema, true)
  if (reason !== undefined) return reason
  return isSchema(schema) ? (readText(text, version, patterns).problems[0] ?? null) : ': value must be a schema'
}

function readText(
  text: string,
  version: Version,
  patterns: PatternCompiler,
): { validate: Validator; problems: readonly string[] } {
  const given: unknown = JSON.parse(text)
  const schema = (version === 'openapi-3.0' ? jsonSchemaOfOpenApi(given) : given) as Schema // `problemOf` has seen it
  return readSchema(schema, dialects[version], version === 'openapi-3.0' ? [] : metaSchemas[version], patterns)
}

function jsonProblem(text: string): string | null {
  return parsed(text) === undefined ? jsonMessage : null
}

/** The value of a JSON text; undefined when it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusal(error: readonly string[] | null): Response {
  const message = 'event data does not conform to schema'
  return new Response(JSON.stringify(error === null ? { message } : { message, error }), {
    status: 400,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
}
