import type { Random } from './random.ts'

/** A schema with an event's data for it, as JSON texts. */
export interface Case {
  readonly version: string
  readonly schema: string
  readonly data: string
}

/** A JSON text that is too deep to be made from a value. */
class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const many = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const keyed = <Value>(count: number, make: (i: number) => Value, key = (i: number) => `k${i}`) =>
  Object.fromEntries(many(count, (i) => [key(i), make(i)]))

function nested(depth: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  let value = innermost
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}

const atoms = ['a', '[a-z]', '\\p{L}', '\\P{Lu}', '\\s', '(?:x|y)', '.', '(a|b|c)', '[^\\p{L}\\d]', '(x+x+)+']

function pattern(random: Random): string {
  const times = random.size(1000)
  return many(random.size(60), (i) => {
    const atom = random.pick(atoms)
    return `${atom}${random.pick(['', '*', '+', '?', `{${times}}`, `{0,${times}}`])}${i}`
  }).join(random.pick(['', '|']))
}

const formats = [
  'regex',
  'uri',
  'iri',
  'uri-template',
  'email',
  'idn-email',
  'hostname',
  'idn-hostname',
  'ipv6',
  'date-time',
  'duration',
  'json-pointer',
  'relative-json-pointer',
  'uuid',
  'byte',
]

const texts: readonly ((random: Random) => string)[] = [
  (random) => 'a'.repeat(random.size(800_000)),
  (random) => '#/~0'.repeat(random.size(100_000)),
  (random) => '%41{x}'.repeat(random.size(100_000)),
  (random) => '\\p{L}'.repeat(random.size(50_000)),
  (random) => '('.repeat(random.size(100_000)),
  (random) => '1'.repeat(random.size(300_000)),
  (random) => `${'é.'.repeat(random.size(100_000))}@`,
  pattern,
]

/** Each grows a schema, or the data, along one dimension. */
const dimensions: Readonly<Record<string, (random: Random) => { schema: unknown; data: unknown }>> = {
  depth(random) {
    const [levels, deep] = [random.size(80_000), random.size(400_000)]
    const keyword = random.pick(['not', 'items', 'if', 'additionalProperties'])
    return {
      schema: new Written(`${`{"${keyword}":`.repeat(levels)}{}${'}'.repeat(levels)}`),
      data: new Written(`${'['.repeat(deep)}1${']'.repeat(deep)}`),
    }
  },
  width: (random) => ({
    schema: { anyOf: many(random.size(20_000), (i) => ({ [random.pick(['const', 'minimum', 'maxLength'])]: i })) },
    data: many(random.size(60_000), (i) => i),
  }),
  keys: (random) => ({
    schema: {
      allOf: many(random.size(500), () => ({ additionalProperties: true, propertyNames: { maxLength: 9 } })),
      properties: keyed(random.size(5000), () => ({ type: 'integer' })),
    },
    data: keyed(random.size(50_000), (i) => i),
  }),
  'long keys': (random) => ({
    schema: { anyOf: many(random.size(2000), (i) => ({ [random.pick(['const', 'enum'])]: [{ a: i }] })) },
    data: [{ ['k'.repeat(random.size(900_000))]: 1 }],
  }),
  patterns: (random) => ({
    schema: {
      patternProperties: keyed(
        random.size(3000),
        () => false,
        () => pattern(random),
      ),
    },
    data: keyed(
      random.size(2000),
      (i) => i,
      (i) => `x${i}`.repeat(random.size(50)),
    ),
  }),
  'patterns of values': (random) => ({
    schema: { allOf: many(random.size(300), () => ({ items: { pattern: pattern(random) } })) },
    data: many(random.size(3000), () => 'ab0x1'.repeat(random.size(40))),
  }),
  references: (random) => {
    const count = random.size(3000)
    const next = (i: number) => ({ $ref: `#/definitions/d${i + 1}` })
    return {
      schema: {
        ...(random.below(2) === 0 ? { $id: `http://x/${'a'.repeat(random.size(300_000))}` } : {}),
        definitions: {
          ...keyed(
            count,
            (i) => ({ allOf: [next(i), next(i)] }),
            (i) => `d${i}`,
          ),
          [`d${count}`]: {},
        },
        anyOf: many(random.size(2000), () => ({ $ref: '#/definitions/d0' })),
      },
      data: { a: 1 },
    }
  },
  'references to itself': (random) => ({
    schema: { items: { $ref: '#' }, anyOf: [{ $ref: '#/anyOf/1' }, { items: { $ref: '#' } }, { type: 'integer' }] },
    data: nested(
      random.size(1500),
      (inner) => [inner],
      many(random.size(2000), () => []),
    ),
  }),
  'dynamic references': (random) => ({
    schema: {
      $dynamicAnchor: 'node',
      unevaluatedItems: { $dynamicRef: '#node' },
      unevaluatedProperties: { $dynamicRef: '#node' },
      allOf: many(random.size(50), () => ({ $dynamicRef: '#node' })),
    },
    data: keyed(random.size(1000), () => [[{ a: [1] }]]),
  }),
  'unique items': (random) => ({
    schema: { items: { uniqueItems: true }, uniqueItems: true },
    data: many(random.size(30_000), (i) => [keyed(random.below(4), () => i), i % 7]),
  }),
  formats: (random) => ({
    schema: { items: { format: random.pick(formats) } },
    data: many(
      random.size(500),
      (i) => `${random.pick(texts)({ ...random, size: (max) => random.size(max / 500) })}${i}`,
    ),
  }),
  'long texts': (random) => ({
    schema: { allOf: many(random.size(500), () => ({ format: random.pick(formats), maxLength: random.size(1e6) })) },
    data: random.pick(texts)(random),
  }),
  numbers: (random) => ({
    schema: { items: { multipleOf: random.pick([1e-300, 0.1, 3e300, 1e-7]) } },
    data: many(random.size(50_000), (i) => random.pick([1e308, 5e-324, i / 3])),
  }),
  enums: (random) => ({
    schema: { items: { enum: many(random.size(20_000), (i) => ({ a: [i] })) } },
    data: many(random.size(20_000), (i) => ({ a: [i + 0.5] })),
  }),
}

const versions = ['draft-04', 'draft-07', 'draft-2019-09', 'draft-2020-12', 'openapi-3.0'] as const
/** What a gateway takes. */
const maxBytes = 1_000_000

/** Schemas and data of every dimension in turn; none larger than what the administrative API and the gateway take. */
export function* hostileCases(random: Random): Generator<Case> {
  for (;;) {
    for (const grow of Object.values(dimensions)) {
      const { schema, data } = grow(random)
      const texts = [schema, data].map((value) => (value instanceof Written ? value.text : JSON.stringify(value)))
      if (texts.every((text) => text.length < maxBytes)) {
        yield { version: random.pick(versions), schema: texts[0]!, data: texts[1]! }
      }
    }
  }
}
