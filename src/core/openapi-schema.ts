type Json = Readonly<Record<string, unknown>>

/**
 * The JSON Schema (draft-07) that means what an OpenAPI 3.0 Schema Object means: `nullable` adds the type null, the
 * flags `exclusiveMinimum` and `exclusiveMaximum` become bounds. Everything keeps its place, so that references stay
 * true; what stands beside a `$ref` is ignored in both.
 */
export function jsonSchemaOfOpenApi(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const answer = withBounds(schema)
  for (const keyword of ['not', 'items', 'additionalProperties']) {
    if (keyword in answer) answer[keyword] = jsonSchemaOfOpenApi(answer[keyword])
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const list = answer[keyword]
    if (Array.isArray(list)) answer[keyword] = list.map(jsonSchemaOfOpenApi)
  }
  if (isObject(answer.properties)) {
    answer.properties = Object.fromEntries(
      Object.entries(answer.properties).map(([name, property]) => [name, jsonSchemaOfOpenApi(property)]),
    )
  }
  // "nullable: true" has a meaning only beside a type (OpenAPI 3.0.3, proposal "Clarify nullable"); an enum still decides.
  if (answer.nullable === true && typeof answer.type === 'string') answer.type = [answer.type, 'null']
  return answer
}

/** The flags `exclusiveMinimum` and `exclusiveMaximum` of draft-04 as the bounds that they became. */
export function withBounds(schema: Json): Record<string, unknown> {
  const answer = { ...schema }
  bound(answer, 'minimum', 'exclusiveMinimum')
  bound(answer, 'maximum', 'exclusiveMaximum')
  return answer
}

function bound(schema: Record<string, unknown>, inclusive: string, exclusive: string): void {
  const flag = schema[exclusive]
  if (typeof flag !== 'boolean') return
  delete schema[exclusive]
  if (!flag || schema[inclusive] === undefined) return
  schema[exclusive] = schema[inclusive]
  delete schema[inclusive]
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
