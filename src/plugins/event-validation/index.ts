// Schemas are judged by our own code, since no validator that runs without `eval` keeps what this plugin promises.
// @cfworker/json-schema 4.1 matches patterns with the host's RegExp, which nothing can replace, compares unique items
// in pairs and knows no $dynamicRef; json-schema-library 11.6 ignores `maximum: 0` and properties named `_id`, throws
// on a property named `constructor`, and compiles a referenced schema anew at every use (a schema of 2000 properties,
// used by 1000 items: 40 s).
// @hyperjump/json-schema 1.18 fetches references that it does not know, keeps its keywords in one registry of the process,
// and imports node: modules.

import { definePlugin, type PluginKind } from '../../contracts/plugin.ts'
import { dictionary, flag, object, oneOf, orNull, text, textProblem, withDefault } from '../../schema/fields.ts'
import { runnerOf } from '../pool/shared.ts'
import { unavailable } from '../unavailable.ts'
import type { Schemas } from './judge.ts'
import { ownThreadRunner, processRunner, type Runner } from './runner.ts'
import { reasonAt, versions } from './schema.ts'

export interface EventValidationConfig extends Schemas {
  /** Whether the answer to a refused event gives the reasons. */
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

/** When a config is written, all its schemas must be made within this time. */
const makingMs = 1000

/**
 * Refuses events of a source whose `data` does not conform to the JSON Schema of their type. Schemas refer to nothing
 * outside themselves but their meta-schema, patterns match in linear time, and no event costs more than a bounded
 * amount of work: on Node, Deno and Bun in a separate process, 1 s and 64 MiB; elsewhere in the request's own thread,
 * about 100 ms. Needs the package `re2js`.
 *
 * @example const posthorn = createPosthorn({ plugins: [eventValidation()] })
 */
export function eventValidation(): PluginKind<EventValidationConfig> {
  const runners = runnerOf<Runner>(({ thread }) => (thread === undefined ? ownThreadRunner() : processRunner(thread)))
  let numbers = 0

  return definePlugin({
    name: 'event-validation',
    sides: ['inbound'],
    config,

    load: (platform) => runners.use(platform, (runner) => runner.load()),

    verify: ({ version, schemas, default_schema }, platform, workspaceId = '') =>
      runners.use(platform, async (runner) => {
        const whose = { script: {}, tenant: { workspace: workspaceId, owner: '' } }
        let leftMs = makingMs
        const problemOf = async (schema: string) => {
          if (leftMs <= 0) return reasonAt([], 'could not be read: the schemas together take more than a second')
          const reading = await runner.problemOf(whose, schema, version, leftMs)
          if (reading === 'busy') return reasonAt([], 'could not be checked: too many schemas are read')
          leftMs -= reading.tookMs
          return reading.problem
        }
        const refused: Record<string, string> = {}
        for (const [type, schema] of Object.entries(schemas)) {
          const problem = await problemOf(schema)
          if (problem !== null) refused[type] = problem
        }
        const reason = default_schema === null ? null : await problemOf(default_schema)
        if (Object.keys(refused).length === 0 && reason === null) return null
        return {
          ...(Object.keys(refused).length === 0 ? {} : { schemas: refused }),
          ...(reason === null ? {} : { default_schema: reason }),
        }
      }),

    prepare({ version, schemas, default_schema, verbose_response }, platform) {
      const runner = runners.open(platform)
      const script = {}
      const plugin = { number: numbers++, schemas: { version, schemas, default_schema } }
      const decoder = new TextDecoder()

      return {
        async inbound(request, { workspaceId, source, signal }) {
          const whose = { script, tenant: { workspace: workspaceId, owner: source.id }, signal }
          const reasons = await runner.reasons(whose, decoder.decode(request.body), plugin, verbose_response)
          if (reasons === 'busy') return unavailable()
          return reasons.length === 0 ? request : refusal(verbose_response ? reasons : null)
        },
        close: runner.close,
      }
    },
  })
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
