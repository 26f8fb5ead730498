import { describe, expect, test } from 'vitest'

import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { versions } from '../../src/plugins/event-validation/schema.ts'
import { inboundContext, inboundRequest, platform, refusal, written } from './fixtures.ts'

const kind = eventValidation()

/** Sends events to a source with the plugin: answers `passed`, or the status and the body of the refusal. */
async function source(config: Readonly<Record<string, unknown>>) {
  const plugin = await kind.prepare((await written(kind, config)) as never, platform)
  return async (body: string | object) => {
    const request = inboundRequest({ body: typeof body === 'string' ? body : JSON.stringify(body) })
    const verdict = await plugin.inbound!(request, inboundContext())
    if (!(verdict instanceof Response)) return verdict === request ? 'passed' : 'changed'
    expect([verdict.status, verdict.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8'])
    return verdict.json()
  }
}

/** Whether data conforms to a schema. */
async function validator(version: string, schema: unknown) {
  const send = await source({ version, schemas: { a: JSON.stringify(schema) } })
  return async (data: unknown) => (await send({ event_type: 'a', data })) === 'passed'
}

const order = { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, note: { type: 'string' } } }
const refused = { message: 'event data does not conform to schema' }

function refusalOf(version: string, schema: unknown) {
  return refusal(kind, {
    version,
    schemas: { 'order.paid': typeof schema === 'string' ? schema : JSON.stringify(schema) },
  })
}

describe('event-validation', () => {
  test('lets conforming data pass and refuses other data', async () => {
    const send = await source({ version: 'draft-07', schemas: { 'order.paid': JSON.stringify(order) } })
    expect(await send({ event_type: 'order.paid', data: { id: 1 } })).toBe('passed')
    expect(await send({ event_type: 'order.paid', data: { id: 'x' } })).toEqual(refused)
    expect(await send({ event_type: 'order.paid', data: null })).toEqual(refused)
  })

  test('uses the default schema for types without one, and none where there is none', async () => {
    const schemas = { 'order.paid': JSON.stringify(order), constructor: '{"type":"string"}' }
    const strict = await source({ version: 'draft-07', schemas, default_schema: '{"type":"object"}' })
    expect(await strict({ event_type: 'other', data: 1 })).toEqual(refused)
    expect(await strict({ event_type: 'other', data: {} })).toBe('passed')
    expect(await strict({ event_type: 'constructor', data: {} })).toEqual(refused)
    const loose = await source({ version: 'draft-07', schemas: { 'order.paid': JSON.stringify(order) } })
    expect(await loose({ event_type: 'other', data: 1 })).toBe('passed')
    expect(await loose({ event_type: 'toString', data: 1 })).toBe('passed')
  })

  test('tells the reasons at their places where it is asked to, 20 at most', async () => {
    const send = await source({
      version: 'draft-2020-12',
      schemas: { a: JSON.stringify({ ...order, additionalProperties: false }) },
      verbose_response: true,
    })
    expect(await send({ event_type: 'a', data: { note: 1, 'x/~y': 2 } })).toEqual({
      ...refused,
      error: [
        `at '': required property "id" is missing`,
        "at 'note': value must be string",
        "at 'x~1~0y': value is not allowed",
      ],
    })
    const many = (await send({
      event_type: 'a',
      data: Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`k${i}`, 1])),
    })) as { error: string[] }
    expect(many.error).toHaveLength(20)
  })

  test.each(['', '{', '"text"', 'null', '[]', '{"data":1}', '{"event_type":5,"data":1}', '{"event_type":"a"}'])(
    'leaves the answer to %j to the gateway',
    async (body) => {
      expect(await (await source({ version: 'draft-07', schemas: { a: 'false' } }))(body)).toBe('passed')
    },
  )

  test('asks for a version that it knows, and for schemas', async () => {
    expect(await refusal(kind, {})).toEqual({
      version: 'required field missing',
      schemas: 'required field missing',
    })
    expect(await refusal(kind, { version: 'draft-03', schemas: {} })).toEqual({
      version:
        'value is not one of the allowed values ["draft-04","draft-06","draft-07","draft-2019-09","draft-2020-12","openapi-3.0"]',
    })
    expect(await refusal(kind, { version: 'draft-07', schemas: { a: '{', b: 5 }, default_schema: '' })).toEqual({
      schemas: { a: 'string doesn\'t match the format "json" (not a valid JSON)', b: 'value must be a string' },
      default_schema: 'string doesn\'t match the format "json" (not a valid JSON)',
    })
  })

  describe.each(versions)('%s', (version) => {
    test('accepts a schema and judges by it', async () => {
      expect(await refusalOf(version, order)).toBeNull()
      const conforms = await validator(version, order)
      expect(await Promise.all([{ id: 1 }, { id: 1.5 }, {}, []].map(conforms))).toEqual([true, false, false, false])
    })

    test('refuses a schema that its meta-schema refuses', async () => {
      const at = async (schema: unknown) =>
        ((await refusalOf(version, schema)) as { schemas: Record<string, string> }).schemas['order.paid']
      expect(await at({ type: 'strin' })).toMatch(/^at 'type': value /)
      expect(await at({ minLength: -1 })).toBe("at 'minLength': number must be at least 0")
      expect(await at({ required: 'id' })).toBe("at 'required': value must be array")
      expect(await at(5)).toMatch(/^at '': value must be /)
      expect(await at({ properties: { a: { minimum: '1' } } })).toMatch(/^at 'properties\/a/)
    })

    test('refuses patterns that are none, or that linear time cannot match', async () => {
      expect(await refusalOf(version, { properties: { a: { type: 'string', pattern: '(' } } })).toEqual({
        schemas: { 'order.paid': expect.stringMatching(/^at 'properties\/a(\/pattern)?': /) },
      })
      expect(await refusalOf(version, { type: 'string', pattern: '(a)\\1' })).toEqual({
        schemas: { 'order.paid': expect.stringMatching(/^at '(pattern)?': /) },
      })
    })

    test('refuses references that lead out of it, and fetches nothing', async () => {
      for (const $ref of ['#/definitions/none', 'http://127.0.0.1:1/schema', 'other.json', '#none', 'http://[']) {
        expect(await refusalOf(version, { properties: { a: { $ref } } })).toEqual({
          schemas: {
            'order.paid': expect.stringMatching(/^at 'properties\/a/),
          },
        })
      }
      expect(await refusalOf(version, { properties: { a: { $ref: '#' } } })).toBeNull()
    })
  })

  test('tells every schema at fault', async () => {
    expect(
      await refusal(kind, {
        version: 'draft-2020-12',
        schemas: { good: '{}', bad: '{"$ref":"#/$defs/x"}', worse: '{"$defs":{"x":{"pattern":"["}}}' },
        default_schema: '{"type":1}',
      }),
    ).toEqual({
      schemas: {
        bad: `at '$ref': reference "#/$defs/x" does not resolve inside the schema`,
        worse: "at '$defs/x/pattern': invalid pattern: not a regular expression of ECMA-262",
      },
      default_schema: "at 'type': value does not match any of the allowed forms",
    })
  })

  test('a schema may refer to its meta-schema', async () => {
    const conforms = await validator('draft-07', { $ref: 'http://json-schema.org/draft-07/schema#' })
    expect([await conforms({ type: 'string' }), await conforms({ type: 'strin' })]).toEqual([true, false])
  })
})

describe('no event costs more than a bounded amount of work', () => {
  async function judged(schema: unknown, data: unknown, version = 'draft-07') {
    const conforms = await validator(version, schema)
    // Not the wall clock: the machines of tests are busy.
    const before = process.cpuUsage()
    const answer = await conforms(data)
    const { user, system } = process.cpuUsage(before)
    return { answer, ms: (user + system) / 1000 }
  }
  // Generous beside the 100 ms that are aimed at: the machines of tests are slow, and the compilers of the engine count.
  const bound = 1000

  test.each([
    ['^(a+)+$', `${'a'.repeat(40)}b`, false],
    ['^(a+)+$', `${'a'.repeat(100_000)}b`, false],
    ['(x+x+)+y', 'x'.repeat(100_000), false],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(10_000), false],
    ['^[A-Za-z0-9+/]*={0,2}$', 'A'.repeat(1_000_000), true],
  ])('the pattern %s on %.20s…', async (pattern, text, answer) => {
    const asValue = await judged({ pattern }, text)
    expect([asValue.answer, asValue.ms < bound]).toEqual([answer, true])
    const asKey = await judged({ patternProperties: { [pattern]: false } }, { [text]: 1 })
    expect([asKey.answer, asKey.ms < bound]).toEqual([!answer, true])
  })

  test('many patterns on many texts', async () => {
    const allOf = Array.from({ length: 500 }, (_, i) => ({ items: { pattern: `^(a?){${i % 200}}(b|c)*$` } }))
    const { answer, ms } = await judged(
      { allOf },
      Array.from({ length: 5000 }, () => 'b'.repeat(100)),
    )
    expect([answer, ms < 2 * bound]).toEqual([false, true])
  })

  test('unique items', async () => {
    const numbers = Array.from({ length: 100_000 }, (_, i) => i)
    const { answer, ms } = await judged({ uniqueItems: true }, numbers)
    expect([answer, ms < bound]).toEqual([true, true])
    expect((await judged({ uniqueItems: true }, [...numbers, 5])).answer).toBe(false)
  })

  const many = <Item>(count: number, make: (i: number) => Item) => Array.from({ length: count }, (_, i) => make(i))
  const keyed = (count: number, value: unknown) => Object.fromEntries(many(count, (i) => [`k${i}`, value]))
  const objects = many(20_000, () => ({}))

  test.each<readonly [what: string, schema: object, data: unknown]>([
    ['dependencies', { items: { dependentRequired: keyed(20_000, ['z']) } }, objects],
    ['schemas of dependencies', { items: { dependentSchemas: keyed(20_000, true) } }, objects],
    ['required names', { items: { anyOf: [{ required: Object.keys(keyed(20_000, 1)) }, {}] } }, objects],
    ['schemas that are true', { items: { allOf: many(20_000, () => true) } }, objects],
    ['looks at all items', { allOf: many(5000, () => ({ items: true })) }, many(200_000, () => 1)],
    ['looks at all keys', { allOf: many(1000, () => ({ additionalProperties: true })) }, keyed(50_000, 1)],
    ['counts of keys', { allOf: many(5000, () => ({ minProperties: 1 })) }, keyed(50_000, 1)],
    ['counts of characters', { allOf: many(5000, () => ({ minLength: 1 })) }, 'a'.repeat(1_000_000)],
  ])('many %s', async (_what, schema, data) => {
    const { answer, ms } = await judged(schema, data, 'draft-2020-12')
    expect([answer, ms < 3 * bound]).toEqual([false, true])
  })

  test('many properties of many objects cost what the objects hold', async () => {
    const schema = { items: { properties: keyed(20_000, { type: 'integer' }) } }
    const { answer, ms } = await judged(schema, [...objects, { k7: 1 }])
    expect([answer, ms < 2 * bound]).toEqual([true, true])
  })

  test('a large event is no dear one', async () => {
    const order = { id: 1, name: 'a'.repeat(20), lines: [{ sku: 'x', amount: 2 }] }
    const line = { properties: { sku: { type: 'string' }, amount: { minimum: 1 } }, required: ['sku'] }
    const schema = {
      type: 'array',
      uniqueItems: false,
      items: {
        type: 'object',
        required: ['id', 'name', 'lines'],
        properties: { id: { type: 'integer' }, name: { maxLength: 40 }, lines: { items: line, minItems: 1 } },
        additionalProperties: false,
      },
    }
    expect(
      (
        await judged(
          schema,
          many(12_000, () => order),
        )
      ).answer,
    ).toBe(true)
  })

  test('references that double', async () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d${i}`,
        { allOf: [{ $ref: `#/definitions/d${i + 1}` }, { $ref: `#/definitions/d${i + 1}` }] },
      ]),
    )
    const { answer, ms } = await judged(
      { definitions: { ...definitions, d60: {} }, $ref: '#/definitions/d0', allOf: [] },
      {},
    )
    expect([answer, ms < 2 * bound]).toEqual([false, true])
  })

  test('references without end', async () => {
    for (const version of versions) {
      expect((await judged({ allOf: [{ $ref: '#' }] }, {}, version)).answer).toBe(false)
    }
  })

  test('deep data', async () => {
    let data: unknown = 1
    for (let i = 0; i < 240; i++) data = { a: [data] }
    const schema = { anyOf: [{ type: 'integer' }, { properties: { a: { items: { $ref: '#' } } }, type: 'object' }] }
    expect((await judged(schema, data)).answer).toBe(true)
    let deeper: unknown = 1
    for (let i = 0; i < 2000; i++) deeper = [deeper]
    expect((await judged({ items: { $ref: '#' } }, deeper)).answer).toBe(false)
  })
})

describe('patterns mean what they mean in ECMA-262', () => {
  test.each([
    ['^\\d+$', '\u0661', false],
    ['^a$', 'a\n', false],
    ['^\\s$', '\u00a0', true],
    ['^[\\s]$', '\ufeff', true],
    ['^\\S$', '\u00a0', false],
    ['^\\w$', 'é', false],
    ['^\\p{Letter}+$', 'éa', true],
    ['^\\P{L}$', 'é', false],
    ['^\\p{Script=Greek}$', 'α', true],
    ['^\\u00e9\\u{1F600}$', 'é😀', true],
    ['^.$', '😀', true],
    ['^\\cA\\/$', '\u0001/', true],
    ['^[^]$', '\n', true],
    ['b', 'abc', true],
  ])('%s on %j', async (pattern, text, answer) => {
    expect(new RegExp(pattern, 'u').test(text)).toBe(answer)
    expect(await (await validator('draft-2020-12', { pattern }))(text)).toBe(answer)
  })

  test('what only other dialects know is refused', async () => {
    for (const pattern of ['(?i)a', '\\Aa', 'a++', '(?P<x>a)', '\\Qa\\E', '^(?!x)']) {
      expect(await refusalOf('draft-07', { pattern })).not.toBeNull()
    }
  })
})
