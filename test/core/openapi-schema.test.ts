import { describe, expect, test } from 'vitest'

import { jsonSchemaOfOpenApi } from '../../src/core/openapi-schema.ts'

describe('an OpenAPI 3.0 Schema Object as JSON Schema', () => {
  test('nullable adds the type null, and means nothing without a type', () => {
    expect(jsonSchemaOfOpenApi({ type: 'string', nullable: true })).toMatchObject({ type: ['string', 'null'] })
    expect(jsonSchemaOfOpenApi({ type: 'string', nullable: false })).toMatchObject({ type: 'string' })
    expect(jsonSchemaOfOpenApi({ nullable: true, enum: ['a'] })).toEqual({ nullable: true, enum: ['a'] })
  })

  test('flags of exclusiveness become bounds', () => {
    expect(jsonSchemaOfOpenApi({ minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false })).toEqual({
      exclusiveMinimum: 1,
      maximum: 5,
    })
    expect(jsonSchemaOfOpenApi({ exclusiveMaximum: true })).toEqual({})
  })

  test('reaches every schema inside, and leaves values alone', () => {
    const inner = { type: 'integer', nullable: true }
    const outer = { ...inner, type: ['integer', 'null'] }
    expect(
      jsonSchemaOfOpenApi({
        properties: { nullable: inner },
        items: inner,
        additionalProperties: inner,
        not: inner,
        allOf: [inner],
        anyOf: [inner],
        oneOf: [inner, { $ref: '#' }],
        enum: [inner],
        default: inner,
        example: inner,
      }),
    ).toEqual({
      properties: { nullable: outer },
      items: outer,
      additionalProperties: outer,
      not: outer,
      allOf: [outer],
      anyOf: [outer],
      oneOf: [outer, { $ref: '#' }],
      enum: [inner],
      default: inner,
      example: inner,
    })
    expect(jsonSchemaOfOpenApi({ additionalProperties: false })).toEqual({ additionalProperties: false })
  })

  test('does not change what it was given', () => {
    const given = { type: 'string', nullable: true, properties: { a: { type: 'string', nullable: true } } }
    const before = structuredClone(given)
    jsonSchemaOfOpenApi(given)
    expect(given).toEqual(before)
  })
})
