/** The versions of JSON Schema that a plugin's `version` names. */
export const versions = ['draft-04', 'draft-06', 'draft-07', 'draft-2019-09', 'draft-2020-12', 'openapi-3.0'] as const
export type Version = (typeof versions)[number]

export type Document = Readonly<Record<string, unknown>>
export type Schema = boolean | Document

/** What sets the versions apart when they are read. */
export interface Dialect {
  readonly id: 'id' | '$id'
  /** 4, 6, 7, 2019 or 2020. */
  readonly draft: number
  /** Whether `format` refuses a value, or only describes it, as it does since 2019-09. */
  readonly assertsFormat: boolean
}

/** OpenAPI's dialect is translated into that of draft-07 before it is read. */
export const dialects: Readonly<Record<Version, Dialect>> = {
  'draft-04': { id: 'id', draft: 4, assertsFormat: true },
  'draft-06': { id: '$id', draft: 6, assertsFormat: true },
  'draft-07': { id: '$id', draft: 7, assertsFormat: true },
  'draft-2019-09': { id: '$id', draft: 2019, assertsFormat: false },
  'draft-2020-12': { id: '$id', draft: 2020, assertsFormat: false },
  'openapi-3.0': { id: '$id', draft: 7, assertsFormat: true },
}

const single = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const lists = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'])
const maps = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isDocument(value)
}

export function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schemas directly inside a schema, each with the way to it. */
export function* subschemas(schema: Document): Generator<readonly [path: readonly string[], schema: Schema]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (Array.isArray(value)) {
      if (!lists.has(keyword)) continue
      for (const [at, item] of value.entries()) if (isSchema(item)) yield [[keyword, String(at)], item]
    } else if (maps.has(keyword) && isDocument(value)) {
      for (const [name, item] of Object.entries(value)) if (isSchema(item)) yield [[keyword, name], item]
    } else if (single.has(keyword) && isSchema(value)) yield [[keyword], value]
  }
}

const maxPointerLength = 1000

/**
 * A reason with its place, a JSON pointer without the first slash: `at 'order/amount': ...`, `at '': ...` for the root.
 */
export function reasonAt(path: readonly (string | number)[], reason: string): string {
  return `at '${pointerOf(path).slice(1)}': ${reason}`
}

/** A JSON pointer (RFC 6901), cut where it is very long. */
function pointerOf(path: readonly (string | number)[]): string {
  let pointer = ''
  for (const step of path) {
    pointer += `/${String(step).slice(0, maxPointerLength).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (pointer.length > maxPointerLength) return `${pointer.slice(0, maxPointerLength)}...`
  }
  return pointer
}
