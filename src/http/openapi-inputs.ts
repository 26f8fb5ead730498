import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

export type Json = Readonly<Record<string, unknown>>
export type Properties = Readonly<Record<string, Json>>
/** Descriptions of properties by their path, such as `request.url`; `[]` stands for the items of a list. */
export type Texts = Readonly<Record<string, string>>

/** What JSON Schema can say of what a valibot schema checks, as the library tells it. */
function told(schema: GenericSchema): Json {
  // Rules that JSON Schema cannot tell are left out; what the last step of a pipe says holds for the pipe's input.
  const options = { target: 'draft-2020-12', typeMode: 'output', errorMode: 'ignore' } as const
  const { $schema: _, ...described } = toJsonSchema(schema, options)
  return described
}

/**
 * The schema of an input in the words that client generators know: null stands in `type`, a default stands in the
 * description (generators would make a defaulted property required), and a property that is always refused is left out.
 */
export function inputSchema(schema: GenericSchema, texts: Texts = {}): Json {
  return plain(withRequest(told(schema)), texts)
}

/** A JSON merge patch of an input: every member may be missing, or null, which removes the member. */
export function patchSchema({ required: _, ...input }: Json): Json {
  const { properties, additionalProperties } = input as {
    readonly properties?: Properties
    readonly additionalProperties?: unknown
  }
  const patched = (schema: Json): Json => {
    const { type } = schema as { readonly type?: unknown }
    const isNullable = Array.isArray(type) || 'anyOf' in schema
    return isNullable ? patchSchema(schema) : orNull(patchSchema(schema))
  }
  return {
    ...input,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, patched(schema)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: patched(additionalProperties as Json) }),
  }
}

/**
 * A row as it is answered: the properties of the input, all of them present, null only where null is the default of the
 * property.
 */
export function rowSchema(schema: GenericSchema, texts: Texts = {}): Json {
  return withoutBounds(plain(row(told(schema)), texts))
}

/** The same with null allowed. */
export function orNull(schema: Json): Json {
  const { type, enum: values } = schema as { readonly type?: unknown; readonly enum?: readonly unknown[] }
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }) }
}

/** Beyond these bounds an integer needs 64 bits, which generators of typed languages take only where the document says so. */
const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 }

function plain(schema: Json, texts: Texts, path = ''): Json {
  const {
    anyOf,
    default: value,
    properties,
    items,
    additionalProperties,
    ...rest
  } = schema as {
    readonly anyOf?: readonly Json[]
    readonly default?: unknown
    readonly properties?: Properties
    readonly items?: Json
    readonly additionalProperties?: unknown
  }
  const inner = anyOf?.find(({ type }) => type !== 'null')
  if (inner !== undefined) {
    const nullable = orNull(plain(inner, texts, path))
    return value === undefined || value === null ? nullable : withDefaultTold(nullable, value)
  }
  const { type, enum: values, minimum, maximum } = rest as Json
  const wide = type === 'integer' && !(Number(minimum) >= int32.min && Number(maximum) <= int32.max)
  const open = type === 'object' && properties === undefined && additionalProperties === undefined
  return {
    ...(values !== undefined && { type: 'string' }),
    ...rest,
    ...(wide && { format: 'int64' }),
    ...(texts[path] !== undefined && { description: texts[path] }),
    ...(items && { items: plain(items, texts, `${path}[]`) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties)
          .filter(([, property]) => !('not' in property))
          .map(([name, property]) => [name, plain(property, texts, path === '' ? name : `${path}.${name}`)]),
      ),
    }),
    ...(additionalProperties !== undefined && { additionalProperties }),
    ...(open && { additionalProperties: true }),
  }
}

function withDefaultTold(schema: Json, value: unknown): Json {
  const nothing = typeof value === 'object' && Object.keys(value as object).length === 0 && !Array.isArray(value)
  if (nothing) return schema // the schemas of the properties name the defaults
  const { description = '', ...rest } = schema as { readonly description?: string }
  return { ...rest, description: `${description} Default \`${JSON.stringify(value)}\`.`.trimStart() }
}

/** Marks `request` of an endpoint as required, though a missing `request` is read as an empty object. */
function withRequest(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withRequest) as unknown as Json
  if (typeof schema !== 'object' || schema === null) return schema
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withRequest(value as Json)]))
  const { request } = (all['properties'] ?? {}) as { request?: { anyOf?: readonly Json[] } }
  if (request?.anyOf?.[0] === undefined) return all
  const required = [...((all['required'] as readonly string[] | undefined) ?? []), 'request']
  return { ...all, properties: { ...(all['properties'] as Properties), request: request.anyOf[0] }, required }
}

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

/** Rules for what is written. A row that was written under other rules is answered too. */
const rulesOfInputs = new Set(
  'pattern minLength maxLength minItems maxItems minProperties maxProperties propertyNames'.split(' '),
)

function withoutBounds(schema: Json): Json {
  const rest = Object.entries(schema).filter(([keyword]) => !rulesOfInputs.has(keyword))
  return Object.fromEntries(
    rest.map(([keyword, value]) => {
      if (keyword === 'properties') {
        const properties = Object.entries(value as Properties)
        return [keyword, Object.fromEntries(properties.map(([name, property]) => [name, withoutBounds(property)]))]
      }
      const nested = keyword === 'items' || keyword === 'additionalProperties'
      return [keyword, nested && typeof value === 'object' ? withoutBounds(value as Json) : value]
    }),
  )
}
