import * as v from 'valibot'

import { bounded, boundedArray } from './many.ts'

// The building blocks of every schema, with the messages of the API. A property that is missing or null takes its
// default; without a default it is "required field missing" or "Value is not nullable".

const maxInteger = Number.MAX_SAFE_INTEGER

/** Counts code points, as the limits do: an emoji counts as 1. */
export function textLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) {
      const following = text.charCodeAt(i + 1)
      if (following >= 0xdc00 && following < 0xe000) {
        length--
        i++
      }
    }
  }
  return length
}

export const textRule = 'value must not contain U+0000 or unpaired surrogates'

/** The rule of texts as a pattern: a document that is Unicode holds no unpaired surrogates. */
export const textPattern = String.raw`^[^\x00]*$`

/** Whether every engine can store the text: no U+0000 and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeMessage(noun: string): (issue: { input: unknown }) => string {
  return ({ input }) => {
    if (input === undefined) return 'required field missing'
    return input === null ? 'Value is not nullable' : `value must be ${noun}`
  }
}

/** What JSON Schema can say of the checks of a field, for descriptions of the API. It checks nothing. */
export function keywords<Input>(
  given: Readonly<Record<string, unknown>>,
): v.MetadataAction<Input, Record<string, unknown>> {
  return v.metadata(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
}

/**
 * A string of `min` to `max` code points. `rule` may ask for more: it answers why it refuses the string, or null.
 * `pattern` tells descriptions of the API what `rule` asks.
 */
export function text({
  pattern = textPattern,
  ...bounds
}: { min?: number; max?: number; rule?: (value: string) => string | null; pattern?: string } = {}) {
  return v.pipe(
    v.string(typeMessage('a string')),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const reason = textProblem(dataset.value, bounds)
      if (reason !== null) addIssue({ message: reason })
    }),
    keywords({ minLength: bounds.min, maxLength: bounds.max, pattern }),
  )
}

/** Why a string is refused, or null when it is not. */
export function textProblem(
  value: string,
  { min = 0, max = Infinity, rule }: { min?: number; max?: number; rule?: (value: string) => string | null },
): string | null {
  if (!isStorableText(value)) return textRule
  const length = textLength(value)
  if (length < min) return `minimum string length is ${min}`
  if (length > max) return `maximum string length is ${max}`
  return rule?.(value) ?? null
}

/** A whole number of `min` to `max`; 1.0 is a whole number, 1.5 is not. */
export function integer({ min = -maxInteger, max = maxInteger }: { min?: number; max?: number } = {}) {
  return v.pipe(
    v.number(typeMessage('an integer')),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const value = dataset.value
      if (Number.isFinite(value) && !Number.isInteger(value)) addIssue({ message: 'value must be an integer' })
      else if (value < min) addIssue({ message: `number must be at least ${min}` })
      else if (value > max) addIssue({ message: `number must be at most ${max}` })
    }),
    keywords({ type: 'integer', minimum: min, maximum: max }),
  )
}

/** A number of `min` to `max`, whole or not. */
export function number({ min, max }: { min: number; max: number }) {
  return v.pipe(
    v.number(typeMessage('a number')),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      if (dataset.value < min) addIssue({ message: `number must be at least ${min}` })
      else if (dataset.value > max) addIssue({ message: `number must be at most ${max}` })
    }),
    keywords({ minimum: min, maximum: max }),
  )
}

export function flag() {
  return v.boolean(typeMessage('a boolean'))
}

/** One of the given strings. The list of them is the answer to a value of any other type too. */
export function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.picklist(options, ({ input }) => {
    if (input === undefined) return 'required field missing'
    return input === null
      ? 'Value is not nullable'
      : `value is not one of the allowed values ${JSON.stringify(options)}`
  })
}

export function list<Item extends v.GenericSchema>(
  item: Item,
  { min = 0, max = Infinity, unique = false }: { min?: number; max?: number; unique?: boolean } = {},
) {
  return v.pipe(
    boundedArray(item, max, typeMessage('an array')),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const items: readonly unknown[] = dataset.value
      if (items.length < min) addIssue({ message: `minimum number of items is ${min}` })
      else if (unique && new Set(items).size < items.length) addIssue({ message: 'duplicate items found' })
    }),
    keywords({
      minItems: min || undefined,
      maxItems: max === Infinity ? undefined : max,
      uniqueItems: unique || undefined,
    }),
  )
}

/** An object with the given properties; others are dropped. */
export function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(
    v.custom<v.InferInput<v.ObjectSchema<Entries, undefined>>>(isPlainObject, typeMessage('an object')),
    v.object(entries, typeMessage('an object')),
  )
}

/** An object with the given properties and no others, but those whose key matches `free`. */
export function closedObject<const Entries extends v.ObjectEntries>(
  entries: Entries,
  { free }: { free?: RegExp } = {},
): v.GenericSchema<
  v.InferInput<v.ObjectSchema<Entries, undefined>>,
  v.InferOutput<v.ObjectSchema<Entries, undefined>>
> {
  return v.pipe(
    v.custom<v.InferInput<v.ObjectSchema<Entries, undefined>>>(isPlainObject, typeMessage('an object')),
    v.looseObject(entries, typeMessage('an object')),
    // A check runs after failed properties too, so that all reasons come at once.
    v.rawCheck(({ dataset, addIssue }) => {
      const input = dataset.value as Record<string, unknown>
      const reasons = bounded(addIssue)
      for (const [key, value] of Object.entries(input)) {
        if (!Object.hasOwn(entries, key) && !free?.test(key)) {
          reasons.report({
            message: 'property is unsupported',
            path: [{ type: 'object', origin: 'value', input, key, value }],
          })
        }
      }
      reasons.end()
    }),
  )
}

/**
 * An object whose values are strings. `v.record` would drop the keys `constructor`, `prototype` and `__proto__`, which
 * are data here; so this schema reads own entries and answers an object without a prototype. `max` bounds the number of
 * entries, `maxLength` the characters of all keys and values together. `keys` and `values` tell descriptions of the API
 * what `problem` asks of each.
 */
export function dictionary(
  problem: (key: string, value: string) => string | null,
  {
    max = Infinity,
    maxLength = Infinity,
    keys = { pattern: textPattern },
    values = { pattern: textPattern },
  }: { max?: number; maxLength?: number; keys?: TextKeywords; values?: TextKeywords } = {},
) {
  return v.pipe(
    v.custom<Readonly<Record<string, string>>>(isPlainObject, typeMessage('an object')),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const answer: Record<string, string> = Object.create(null) as Record<string, string>
      const input = dataset.value as Record<string, unknown>
      const whole = dictionaryProblem(input, max, maxLength)
      if (whole !== null) {
        addIssue({ message: whole })
        return NEVER
      }
      const reasons = bounded(addIssue)
      let refused = false
      for (const [key, value] of Object.entries(input)) {
        const reason =
          typeof value === 'string'
            ? problem(key, value)
            : value === null
              ? 'Value is not nullable'
              : 'value must be a string'
        if (reason === null) {
          answer[key] = value as string // a string, by the check above
          continue
        }
        refused = true
        reasons.report({ message: reason, path: [{ type: 'object', origin: 'value', input, key, value }] })
      }
      reasons.end()
      return refused ? NEVER : answer
    }),
    keywords({
      type: 'object',
      additionalProperties: { type: 'string', ...values },
      propertyNames: keys,
      maxProperties: max === Infinity ? undefined : max,
    }),
  )
}

/** What JSON Schema can say of a string. */
interface TextKeywords {
  readonly pattern: string
  readonly maxLength?: number
}

/** Why an object as a whole is more than a dictionary may be, or null. */
function dictionaryProblem(input: Readonly<Record<string, unknown>>, max: number, maxLength: number): string | null {
  // A body may have a hundred thousand names: entries of these take far longer than the names.
  if (Object.keys(input).length > max) return `maximum number of properties is ${max}`
  const length = Object.entries(input).reduce(
    (sum, [key, value]) => sum + key.length + (typeof value === 'string' ? value.length : 0),
    0,
  )
  return length > maxLength ? `maximum length of all names and values is ${maxLength}` : null
}

/** Any JSON object whose texts every engine can store, taken as it is. */
export function anyObject() {
  return v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(isPlainObject, typeMessage('an object')),
    v.check((value: Readonly<Record<string, unknown>>) => isStorableJson(value), textRule),
    keywords({ type: 'object' }),
  )
}

/** Whether every text in a parsed JSON value, keys included, can be stored. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorableJson)
  const members = value as Readonly<Record<string, unknown>> // an object that is no list
  return Object.keys(members).every((key) => isStorableText(key) && isStorableJson(members[key]))
}

/** A property with a default, taken when it is missing or null. */
export function withDefault<Schema extends v.GenericSchema, const Default extends v.InferInput<Schema>>(
  schema: Schema,
  value: Default | (() => Default),
) {
  return v.nullish(schema, value as v.InferInput<Schema>)
}

/** A property that may be null, and is when it is missing. */
export function orNull<Schema extends v.GenericSchema>(schema: Schema) {
  return v.nullish(schema, null)
}

/** A property that the service sets: accepted when the type is right, and ignored. */
export function readOnly() {
  return v.nullish(integer())
}

/** The same for a text. */
export function readOnlyText() {
  return v.nullish(text())
}

/** A property that is refused wherever it stands. */
export function unsupported() {
  return v.optional(
    v.pipe(
      v.custom<never>(() => false, 'property is unsupported'),
      keywords({ not: {} }),
    ),
  )
}
