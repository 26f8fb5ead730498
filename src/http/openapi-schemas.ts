import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

import { attemptStatuses } from '../schema/attempt.ts'
import type { EventSchema } from '../schema/catalogue.ts'
import { configDocument } from '../schema/config.ts'
import { endpointInput } from '../schema/endpoint.ts'
import { eventInput } from '../schema/event.ts'
import { pluginInput } from '../schema/plugin.ts'
import { rotateInput } from '../schema/rotate-secret.ts'
import { sourceInput } from '../schema/source.ts'
import { workspaceInput } from '../schema/workspace.ts'

type Json = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, Json>>

/** The JSON schema of what a schema takes. */
export function leafSchema(schema: GenericSchema): Json {
  // Rules that JSON Schema cannot tell are left out; what is said of the last step of a pipe holds for its input.
  const options = { target: 'draft-2020-12', typeMode: 'output', errorMode: 'ignore' } as const
  const { $schema: _, ...described } = toJsonSchema(schema, options)
  return withRequest(described)
}

/** What is required of an endpoint, though it is read as an empty object where it is missing: its request. */
function withRequest(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withRequest) as unknown as Json
  if (typeof schema !== 'object' || schema === null) return schema
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withRequest(value as Json)]))
  const { request } = (all['properties'] ?? {}) as { request?: { anyOf?: readonly Json[] } }
  if (request?.anyOf?.[0] === undefined) return all
  const required = [...((all['required'] as readonly string[] | undefined) ?? []), 'request']
  return { ...all, properties: { ...(all['properties'] as Properties), request: request.anyOf[0] }, required }
}

/** The JSON schema of an event's data, as far as its library tells one. */
export function dataSchema(schema: EventSchema): Json {
  const { vendor, jsonSchema } = schema['~standard']
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' })
    if (vendor === 'valibot') {
      const options = { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' } as const
      return { ...toJsonSchema(schema as unknown as GenericSchema, options) } // as the vendor says
    }
  } catch {
    // Not everything that a schema checks can be told.
  }
  return { description: `As the schema made with ${vendor} says.` }
}

/** Every named schema of the API. */
export function componentSchemas(): Properties {
  const inputs = {
    Workspace: { schema: workspaceInput, example: workspace },
    Endpoint: { schema: endpointInput, example: endpoint },
    Source: { schema: sourceInput, example: source },
    Plugin: { schema: pluginInput, example: plugin },
  }
  const resources = Object.entries(inputs).flatMap(([name, { schema, example }]): [string, Json][] => {
    const taken = leafSchema(schema)
    const { required: _, ...partial } = taken
    return [
      [`${name}Input`, { ...taken, examples: [example] }],
      [`${name}Update`, { ...partial, examples: [{ metadata: { team: 'billing' } }] }],
      [name, row(taken)],
    ]
  })
  const event = leafSchema(eventInput)
  return {
    ...Object.fromEntries(resources),
    EventInput: { ...event, examples: [{ event_type: 'invoice.paid', data: { id: 'in_1', amount: 4200 } }] },
    Event: row(event),
    ConfigDocument: {
      ...leafSchema(configDocument),
      patternProperties: { '^x-': true },
      additionalProperties: false,
      examples: [{ endpoints: [{ ...endpoint, plugins: [{ name: 'standard-webhooks' }] }], sources: [source] }],
    },
    ...answers,
  }
}

/** A row as it is answered: what its input may hold, every property there, null only where null is its default. */
function row({ properties }: Json): Json {
  const given = Object.entries(properties as Properties).filter(([, schema]) => !('not' in schema))
  return {
    type: 'object',
    properties: Object.fromEntries(given.map(([name, schema]) => [name, settled(name, schema)])),
    required: given.map(([name]) => name),
  }
}

const madeByTheService = new Set(['id', 'path', 'ingested_at', 'created_at', 'updated_at'])

function settled(name: string, schema: Json): Json {
  const { anyOf, default: value, ...rest } = schema as { anyOf?: readonly Json[]; default?: unknown }
  const inner = anyOf?.find(({ type }) => type !== 'null')
  if (inner === undefined) return 'properties' in rest ? row(rest) : rest
  const settledInner = 'properties' in inner ? row(inner) : inner
  const nullable = (value ?? null) === null && !madeByTheService.has(name)
  return nullable ? { anyOf: [settledInner, { type: 'null' }] } : settledInner
}

const workspace = { name: 'staging', description: 'What we try before it is live.', metadata: { team: 'payments' } }
const endpoint = {
  name: 'billing',
  request: { url: 'https://example.com/webhooks', headers: { 'X-Tenant': 'acme' } },
  events: ['invoice.*'],
  rate_limit: { quota: 100, period: 60 },
}
const source = { name: 'github', config: { http: { path: '/github', methods: ['POST'] } } }
const plugin = { name: 'basic-auth', source_id: 'src_1', config: { username: 'user', password: 'secret' } }

const text = { type: 'string' }
const integer = { type: 'integer' }
const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] })
const object = (properties: Properties, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})
const headers = orNull({ type: 'object', additionalProperties: text })
const counts = object({ created: integer, updated: integer, deleted: integer, unchanged: integer })
const range = object({ gt: integer, gte: integer, lt: integer, lte: integer }, ['gt', 'gte', 'lt', 'lte'])

const answers: Properties = {
  Attempt: object({
    id: text,
    event_id: text,
    endpoint_id: text,
    status: { enum: attemptStatuses },
    attempt_number: integer,
    scheduled_at: integer,
    attempted_at: orNull(integer),
    trigger_mode: { enum: ['INITIAL', 'AUTOMATIC', 'MANUAL'] },
    exhausted: { type: 'boolean' },
    error_code: orNull(text),
    error_message: orNull(text),
    request: orNull(object({ method: text, url: text, headers, body: orNull(text) })),
    response: orNull(object({ status: integer, latency: integer, headers, body: orNull(text) })),
    created_at: integer,
    updated_at: integer,
  }),
  Explanation: object({
    endpoint_id: text,
    endpoint_name: orNull(text),
    matched: { type: 'boolean' },
    reason: text,
    attempts: { type: 'array', items: { $ref: '#/components/schemas/Attempt' } },
    next_due_at: orNull(integer),
  }),
  TestInput: {
    ...object({ event_type: { ...text, minLength: 1, maxLength: 255 }, data: { description: 'Any JSON value.' } }, [
      'event_type',
      'data',
    ]),
    examples: [{}],
  },
  ReplayInput: {
    ...object(
      {
        event_types: { type: 'array', items: text },
        endpoint_id: text,
        created_at: { oneOf: [integer, range] },
        status: { enum: ['FAILED', 'CANCELED'] },
        after: text,
        limit: { type: 'integer', minimum: 1, maximum: 10_000 },
      },
      ['event_types', 'endpoint_id', 'created_at', 'status', 'after', 'limit'],
    ),
    examples: [{ event_types: ['invoice.paid'], status: 'FAILED' }],
  },
  RotateInput: { ...leafSchema(rotateInput), examples: [{ overlap_seconds: 86_400 }] },
  EndpointSecret: object({
    secret: text,
    secrets: { type: 'array', items: object({ secret: text, expires_at: orNull(integer) }) },
  }),
  ReplayReport: object({ matched: integer, created: integer, next: orNull(text) }),
  SyncReport: object(
    { endpoints: counts, sources: counts, plugins: counts, warnings: { type: 'array', items: text } },
    ['warnings'],
  ),
  Version: object({ version: text, message: text }),
  Message: { ...object({ message: text }), examples: [{ message: 'Not found' }] },
  ValidationError: {
    ...object({
      message: { const: 'Request Validation' },
      error: object(
        {
          message: text,
          fields: { type: 'object', description: 'The first hundred reasons, each at its place in the body.' },
          '...': { type: 'string', description: 'How many reasons are left out: `900 more`.' },
        },
        ['...'],
      ),
    }),
    examples: [
      {
        message: 'Request Validation',
        error: { message: 'request validation', fields: { request: { url: 'required field missing' } } },
      },
    ],
  },
}
