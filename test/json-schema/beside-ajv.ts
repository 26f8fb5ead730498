// oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema
// Random schemas and documents: the answers are those of Ajv.
import { RE2JS } from 're2js'
import AjvDraft4 from 'ajv-draft-04'
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'

import { metaSchemas } from '../../src/plugins/event-validation/meta/index.ts'
import { patternCompiler } from '../../src/plugins/event-validation/pattern.ts'
import { dialects, type Version } from '../../src/plugins/event-validation/schema.ts'
import { readSchema } from '../../src/plugins/event-validation/validator.ts'

const runs = 2000
const patterns = patternCompiler(RE2JS)
const options = { strict: false, validateFormats: false, logger: false } as const
const others: Readonly<Partial<Record<Version, { compile(schema: object): (data: unknown) => unknown }>>> = {
  'draft-04': new AjvDraft4.default(options),
  'draft-07': new Ajv(options),
  'draft-2019-09': new Ajv2019(options),
  'draft-2020-12': new Ajv2020(options),
}

const key = fc.constantFrom('a', 'b', 'c', 'ab')
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 3, 1.5, -1, '', 'a', 'b', 'ab', 'aab')
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

function schemas(draft: number) {
  const count = fc.integer({ min: 0, max: 3 })
  const type = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object')
  const names = fc.uniqueArray(key, { minLength: 1, maxLength: 3 })
  return fc.letrec<{ schema: object; sub: object | boolean }>((tie) => {
    const sub = tie('sub')
    const some = fc.array(sub, { minLength: 1, maxLength: 3 })
    const keywords: Record<string, fc.Arbitrary<unknown>> = {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(json, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) }),
      minimum: count,
      maximum: count,
      multipleOf: fc.constantFrom(1, 2, 0.5, 0.1),
      minLength: count,
      maxLength: count,
      pattern: fc.constantFrom('^a', 'b$', '^(a|b)*$'),
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      minProperties: count,
      maxProperties: count,
      required: names,
      properties: fc.dictionary(key, sub, { maxKeys: 3 }),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), sub, { maxKeys: 2 }),
      additionalProperties: draft === 4 ? fc.oneof(fc.boolean(), tie('schema')) : sub,
      allOf: some,
      anyOf: some,
      oneOf: some,
      not: sub,
      items: draft === 2020 ? sub : fc.oneof(sub, some),
      $ref: fc.constantFrom('#/definitions/x', '#/definitions/y'),
    }
    if (draft < 2020) keywords.additionalItems = draft === 4 ? fc.boolean() : sub
    if (draft === 4) keywords.dependencies = fc.dictionary(key, fc.oneof(sub, names), { maxKeys: 2 })
    if (draft >= 6) {
      Object.assign(keywords, {
        const: json,
        contains: sub,
        propertyNames: sub,
        exclusiveMinimum: count,
        exclusiveMaximum: count,
      })
      Object.assign(keywords, {
        if: sub,
        then: sub,
        else: sub,
        dependencies: fc.dictionary(key, fc.oneof(sub, names), { maxKeys: 2 }),
      })
    }
    if (draft >= 2019) {
      Object.assign(keywords, {
        minContains: count,
        maxContains: count,
        dependentRequired: fc.dictionary(key, names, { maxKeys: 2 }),
        dependentSchemas: fc.dictionary(key, sub, { maxKeys: 2 }),
        unevaluatedProperties: sub,
        unevaluatedItems: sub,
      })
      delete keywords.dependencies
    }
    if (draft === 2020) keywords.prefixItems = some
    const schema = fc
      .uniqueArray(fc.oneof(...Object.entries(keywords).map(([name, value]) => fc.tuple(fc.constant(name), value))), {
        minLength: 1,
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map((entries) => {
        const all: { $ref?: unknown } = Object.fromEntries(entries)
        // Ajv reads what stands beside a reference, which before 2019-09 is to be ignored.
        return draft <= 7 && '$ref' in all ? { $ref: all.$ref } : all
      })
    return {
      schema,
      sub:
        draft === 4
          ? fc.oneof({ depthSize: 'small' }, fc.constant({}), schema)
          : fc.oneof({ depthSize: 'small' }, fc.boolean(), fc.constant({}), schema),
    }
  }).schema
}

for (const [version, other] of Object.entries(others) as [Version, NonNullable<(typeof others)[Version]>][]) {
  const dialect = dialects[version]
  let judged = 0
  let accepted = 0
  const property = fc.property(
    schemas(dialect.draft),
    fc.array(json, { minLength: 5, maxLength: 5 }),
    (schema, documents) => {
      const text = JSON.stringify(schema)
      // Whether `contains` counts as having looked at an item, as it does since 2020-12, Ajv tells neither way for sure.
      if (text.includes('contains') && text.includes('unevaluatedItems')) return
      const whole = { ...schema, definitions: { x: { type: 'string' }, y: { required: ['a'] } } }
      const theirs = other.compile(whole)
      const { validate, problems } = readSchema(whole, dialect, metaSchemas[version], patterns)
      if (problems.length > 0) throw new Error(problems.join('; '))
      for (const document of documents) {
        // Ajv says of an empty array that it contains what it must, where `items` refuses the first item.
        if (text.includes('contains') && JSON.stringify(document).includes('[]')) continue
        const answer = validate(document).length === 0
        judged++
        if (answer) accepted++
        if (answer !== theirs(document))
          throw new Error(`${answer ? 'accepted' : 'refused'} ${JSON.stringify(document)}`)
      }
    },
  )
  fc.assert(property, { numRuns: runs, seed: 42 })
  process.stdout.write(`${version.padEnd(14)} ${judged} documents judged as Ajv does, ${accepted} of them accepted\n`)
}
