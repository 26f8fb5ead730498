// oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema
import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'

import { metaSchemas } from '../../src/plugins/event-validation/meta/index.ts'
import { patternCompiler } from '../../src/plugins/event-validation/pattern.ts'
import { dialects, type Schema, type Version } from '../../src/plugins/event-validation/schema.ts'
import { readSchema } from '../../src/plugins/event-validation/validator.ts'

const patterns = patternCompiler(RE2JS)
const drafts: readonly Version[] = ['draft-04', 'draft-06', 'draft-07', 'draft-2019-09', 'draft-2020-12']
const from6 = drafts.slice(1)
const from7 = drafts.slice(2)
const from2019 = drafts.slice(3)
const only2020 = drafts.slice(4)
const until7 = drafts.slice(0, 3)
const until2019 = drafts.slice(0, 4)

function conforms(version: Version, schema: Schema, data: unknown): boolean {
  const { validate, problems } = readSchema(schema, dialects[version], metaSchemas[version], patterns)
  expect(problems).toEqual([])
  return validate(data).length === 0
}

type Case = readonly [
  what: string,
  versions: readonly Version[],
  schema: Schema,
  good: readonly unknown[],
  bad: readonly unknown[],
]

const cases: readonly Case[] = [
  ['a boolean is a schema', from6, { properties: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }]],
  ['1.0 is an integer', drafts, { type: 'integer' }, [1, JSON.parse('1.0')], [1.5, '1']],
  ['types in a list', drafts, { type: ['string', 'null'] }, ['', null], [0, [], {}, false]],
  ['0 is not false, 1 is not true', drafts, { enum: [false, 1] }, [false, 1], [0, true]],
  [
    'an enum of structures',
    drafts,
    { enum: [{ a: [1, { b: 2 }], c: null }] },
    [{ c: null, a: [1, { b: 2 }] }],
    [{ a: [{ b: 2 }, 1], c: null }, {}],
  ],
  ['const', from6, { const: { a: false } }, [{ a: false }], [{ a: 0 }, [false], {}]],
  ['const is no keyword of draft-04', ['draft-04'], { const: 1 }, [2], []],
  ['multiples of fractions', drafts, { multipleOf: 0.01 }, [0.29, 4.35, 1e20, 'x'], [0.295]],
  ['multiples of tiny numbers', drafts, { multipleOf: 1e-8 }, [12391239123, 1e-7], [1.5e-8]],
  ['flags of exclusiveness', ['draft-04'], { minimum: 1, exclusiveMinimum: true, maximum: 3 }, [2, 3], [1, 4]],
  ['bounds of exclusiveness', from6, { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2, 'x'], [1, 3]],
  ['length in code points', drafts, { minLength: 2, maxLength: 2 }, ['😀😀', 'ab'], ['😀', 'abc']],
  [
    'unique items',
    drafts,
    { uniqueItems: true },
    [
      [1, true],
      [{ a: 1 }, { a: 2 }],
      [0, false],
      ['1', 1],
    ],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[0], [0]],
    ],
  ],
  [
    'names that objects inherit',
    drafts,
    { required: ['constructor', '__proto__'], properties: { toString: { type: 'string' } } },
    [JSON.parse('{"__proto__":1,"constructor":2}')],
    [{}, JSON.parse('{"constructor":1}'), JSON.parse('{"__proto__":1,"constructor":2,"toString":3}')],
  ],
  [
    'additional properties are those beside',
    drafts,
    {
      properties: { a: {} },
      patternProperties: { '^x': { type: 'integer' } },
      additionalProperties: { type: 'string' },
    },
    [{ a: 1, x1: 1, b: 's' }],
    [{ b: 1 }, { x1: 's' }],
  ],
  [
    'tuples',
    until2019,
    { items: [{ type: 'integer' }], additionalItems: { type: 'string' } },
    [[1, 'a'], []],
    [['a'], [1, 2]],
  ],
  ['additionalItems without a tuple', until2019, { items: {}, additionalItems: { not: {} } }, [[1, 2]], []],
  [
    'prefix items',
    only2020,
    { prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
    [[1, 'a'], []],
    [['a'], [1, 2]],
  ],
  ['contains', from6, { contains: { minimum: 5 } }, [[1, 5], 'x'], [[], [1]]],
  [
    'how many it contains',
    from2019,
    { contains: { minimum: 5 }, minContains: 0, maxContains: 1 },
    [[], [5, 1]],
    [[5, 6]],
  ],
  [
    'dependencies',
    until7,
    { dependencies: { a: ['b'], c: { minProperties: 3 } } },
    [{ a: 1, b: 1 }, {}, 'x'],
    [{ a: 1 }, { c: 1, d: 1 }],
  ],
  [
    'dependent schemas',
    from2019,
    { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { minProperties: 3 } } },
    [{ a: 1, b: 1 }],
    [{ a: 1 }, { c: 1 }],
  ],
  ['property names', from6, { propertyNames: { maxLength: 2 } }, [{ ab: 1 }, 'abc'], [{ abc: 1 }]],
  [
    'if, then and else',
    from7,
    { if: { minimum: 10 }, then: { multipleOf: 2 }, else: { type: 'integer' } },
    [12, 3],
    [11, 3.5],
  ],
  ['if is no keyword of draft-06', ['draft-06'], { if: true, then: false }, [1], []],
  [
    'one of, any of, all of, not',
    drafts,
    { oneOf: [{ type: 'integer' }, { minimum: 2 }], not: { enum: [7.5] }, allOf: [{}, { maximum: 9 }] },
    [1, 2.5],
    [3, 1.5, 7.5, 9.5],
  ],
  [
    'a reference into the document',
    drafts,
    { definitions: { 'a/b%c~d': { type: 'integer' } }, properties: { x: { $ref: '#/definitions/a~1b%25c~0d' } } },
    [{ x: 1 }],
    [{ x: 's' }],
  ],
  [
    'a reference to itself',
    drafts,
    { properties: { next: { $ref: '#' } }, type: 'object' },
    [{ next: { next: {} } }],
    [{ next: { next: 1 } }],
  ],
  [
    'what stands beside a reference is ignored',
    until7,
    { definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a', maxLength: 1 } } },
    [{ x: 'ab' }],
    [],
  ],
  [
    'what stands beside a reference counts',
    from2019,
    { $defs: { a: {} }, properties: { x: { $ref: '#/$defs/a', maxLength: 1 } } },
    [{ x: 'a' }],
    [{ x: 'ab' }],
  ],
  ['a property called $ref', drafts, { properties: { $ref: { type: 'string' } } }, [{ $ref: '#/none' }], [{ $ref: 1 }]],
  [
    'ids and what is relative to them',
    ['draft-04'],
    {
      id: 'http://a.test/root',
      definitions: { x: { id: 'x/y', type: 'integer' }, z: { id: '#z', type: 'string' } },
      items: { anyOf: [{ $ref: 'x/y' }, { $ref: '#z' }] },
    },
    [[1, 'a']],
    [[null]],
  ],
  [
    'ids and anchors of old',
    ['draft-06', 'draft-07'],
    {
      $id: 'http://a.test/root',
      definitions: { x: { $id: 'x/y', type: 'integer' }, z: { $id: '#z', type: 'string' } },
      items: { anyOf: [{ $ref: 'http://a.test/x/y' }, { $ref: '#z' }] },
    },
    [[1, 'a']],
    [[null]],
  ],
  [
    'ids and anchors',
    from2019,
    {
      $id: 'urn:uuid:deadbeef-1234-ff00-00ff-4321feebdaed',
      $defs: {
        x: { $id: 'http://b.test/x', $defs: { y: { $anchor: 'y', type: 'integer' } } },
        z: { $anchor: 'z', type: 'string' },
      },
      items: { anyOf: [{ $ref: 'http://b.test/x#y' }, { $ref: '#z' }] },
    },
    [[1, 'a']],
    [[null]],
  ],
  [
    'an id inside a value is none',
    from6,
    {
      enum: [{ $id: 'http://a.test/x', type: 'null' }],
      definitions: { x: { $id: 'http://a.test/x', type: 'object' } },
      $comment: 'x',
      allOf: [{ $ref: 'http://a.test/x' }],
    },
    [{ $id: 'http://a.test/x', type: 'null' }],
    [null],
  ],
  [
    'a reference into an unknown keyword',
    drafts,
    { 'x-parts': { a: { type: 'integer' } }, items: { $ref: '#/x-parts/a' } },
    [[1]],
    [['a']],
  ],
  [
    'recursion that an outer schema extends',
    ['draft-2019-09'],
    {
      $id: 'http://a.test/strict',
      $recursiveAnchor: true,
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: { tree: { $id: 'tree', $recursiveAnchor: true, properties: { kids: { items: { $recursiveRef: '#' } } } } },
    },
    [{ kids: [{ kids: [] }] }],
    [{ kids: [{ kid: [] }] }],
  ],
  [
    'a dynamic reference that an outer schema fills',
    only2020,
    {
      $id: 'http://a.test/numbers',
      $ref: 'list',
      $defs: {
        n: { $dynamicAnchor: 'item', type: 'number' },
        list: { $id: 'list', items: { $dynamicRef: '#item' }, $defs: { item: { $dynamicAnchor: 'item' } } },
      },
    },
    [[1]],
    [['a']],
  ],
  [
    'a dynamic reference to a plain anchor',
    only2020,
    {
      $id: 'http://a.test/any',
      $ref: 'list',
      $defs: {
        n: { $dynamicAnchor: 'item', type: 'number' },
        list: { $id: 'list', items: { $dynamicRef: '#item' }, $defs: { item: { $anchor: 'item' } } },
      },
    },
    [['a'], [1]],
    [],
  ],
  [
    'unevaluated properties',
    from2019,
    {
      properties: { a: true },
      anyOf: [{ required: ['b'], properties: { b: true } }, { properties: { c: true } }],
      not: { properties: { d: true }, required: ['e'] },
      unevaluatedProperties: false,
    },
    [
      { a: 1, b: 1, c: 1 },
      { a: 1, c: 1 },
    ],
    [
      { a: 1, d: 1 },
      { b: 1, z: 1 },
    ],
  ],
  [
    'unevaluated properties of a failed branch',
    from2019,
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      then: { properties: { b: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 2 }, {}],
    [{ a: 2 }, { b: 2 }],
  ],
  [
    'unevaluated items',
    only2020,
    { prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false },
    [[1, 'a', 'b']],
    [['a', 1]],
  ],
  [
    'unevaluated items of old',
    ['draft-2019-09'],
    { items: [true], contains: { type: 'string' }, unevaluatedItems: false },
    [['a']],
    [[1, 'a']],
  ],

  [
    'formats refuse',
    until7,
    {
      items: [
        { format: 'date-time' },
        { format: 'email' },
        { format: 'ipv6' },
        { format: 'uri' },
        { format: 'unknown' },
      ],
    },
    [
      ['2024-02-29T23:59:60Z', 'a@b.test', '::1', 'urn:a', '?'],
      [1, 2],
    ],
    [['2023-02-29T00:00:00Z'], ['2024-01-01T00:00:00Z', 'a@'], ['2024-01-01T00:00:00Z', 'a@b', ':::1']],
  ],
  ['formats describe', from2019, { format: 'email' }, ['no address'], []],
]

describe.each(drafts)('%s', (version) => {
  const mine = cases.filter(([, versions]) => versions.includes(version))
  test.each(mine)('%s', (_what, _versions, schema, good, bad) => {
    for (const data of good) expect([data, conforms(version, schema, data)]).toEqual([data, true])
    for (const data of bad) expect([data, conforms(version, schema, data)]).toEqual([data, false])
  })

  test('its meta-schema describes itself', () => {
    const [meta, ...others] = metaSchemas[version]
    expect(readSchema(meta, dialects[version], others, patterns).validate(meta, true)).toEqual([])
  })
})
