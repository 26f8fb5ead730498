import { textLength } from '../../schema/fields.ts'
import { canonical } from './canonical.ts'
import { numberFormats, type TextFormat } from './format.ts'
import type { Pattern } from './pattern.ts'
import { isDocument, type Dialect } from './schema.ts'
import { type Budget, entriesOf, every, refuse, spend, type Work } from './work.ts'

/** Judges one value by one keyword. When the value is refused, it reports the reason and answers false. */
type Assertion = (value: unknown, work: Work) => boolean

export interface AssertionTools {
  readonly dialect: Dialect
  readonly pattern: (source: string) => Pattern
  readonly formats: Readonly<Record<string, TextFormat>>
  /** Of the making of the schema. */
  readonly budget: Budget
}

type AssertionMaker = (argument: unknown, tools: AssertionTools) => Assertion | null

/** The keywords that look at a value and at no part of it. An argument of a wrong type asserts nothing. */
export const assertions: Readonly<Record<string, AssertionMaker>> = {
  type(argument) {
    const types = [argument].flat()
    const reason = `value must be ${types.join(' or ')}`
    return (value, work) => {
      const type = typeOf(value)
      if (types.includes(type) || (type === 'number' && types.includes('integer') && Number.isInteger(value)))
        return true
      return refuse(work, reason)
    }
  },
  enum(argument, { budget }) {
    if (!Array.isArray(argument)) return null
    const allowed = new Set(argument.map((value) => canonical(value, budget)))
    const simple = argument.every((value) => typeof value !== 'object' || value === null)
    return (value, work) => {
      const possible = !simple || typeof value !== 'object' || value === null
      return (possible && allowed.has(canonical(value, work))) || refuse(work, 'value is not one of the allowed values')
    }
  },
  const(argument, { budget }) {
    const only = canonical(argument, budget)
    return (value, work) =>
      (typeof value === typeof argument && canonical(value, work) === only) ||
      refuse(work, 'value is not the allowed value')
  },
  multipleOf: ofNumber(isMultiple, 'number must be a multiple of'),
  maximum: ofNumber((value, limit) => value <= limit, 'number must be at most'),
  minimum: ofNumber((value, limit) => value >= limit, 'number must be at least'),
  exclusiveMaximum: ofNumber((value, limit) => value < limit, 'number must be less than'),
  exclusiveMinimum: ofNumber((value, limit) => value > limit, 'number must be more than'),
  maxLength: ofLength('string', (length, limit) => length <= limit, 'maximum string length is'),
  minLength: ofLength('string', (length, limit) => length >= limit, 'minimum string length is'),
  maxItems: ofLength('array', (count, limit) => count <= limit, 'maximum number of items is'),
  minItems: ofLength('array', (count, limit) => count >= limit, 'minimum number of items is'),
  maxProperties: ofLength('object', (count, limit) => count <= limit, 'maximum number of properties is'),
  minProperties: ofLength('object', (count, limit) => count >= limit, 'minimum number of properties is'),
  uniqueItems(argument) {
    if (argument !== true) return null
    return (value, work) => {
      if (!Array.isArray(value) || value.length < 2) return true
      const seen = new Set<string>()
      return (
        value.every((item) => seen.size < seen.add(canonical(item, work)).size) || refuse(work, 'duplicate items found')
      )
    }
  },
  required(argument) {
    if (!Array.isArray(argument)) return null
    return (value, work) => !isDocument(value) || hasAll(value, argument as string[], work)
  },
  dependentRequired,
  dependencies: dependentRequired,
  pattern(argument, { pattern }) {
    if (typeof argument !== 'string') return null
    const matches = pattern(argument)
    return (value, work) =>
      typeof value !== 'string' || matches(value, work) || refuse(work, "string doesn't match the pattern")
  },
  format(argument, { dialect, formats }) {
    if (typeof argument !== 'string' || !dialect.assertsFormat) return null
    const ofText = Object.hasOwn(formats, argument) ? formats[argument] : undefined
    const ofNumber = Object.hasOwn(numberFormats, argument) ? numberFormats[argument] : undefined
    if (ofText === undefined && ofNumber === undefined) return null
    return (value, work) => {
      if (typeof value === 'string') spend(work, value.length / 4)
      const fits =
        typeof value === 'string' ? ofText?.(value, work) : typeof value === 'number' ? ofNumber?.(value) : undefined
      return fits !== false || refuse(work, `value doesn't match the format "${argument}"`)
    }
  },
}

/** Of `dependencies` the entries that are lists of names. */
function dependentRequired(argument: unknown): Assertion | null {
  const entries = Object.entries(isDocument(argument) ? argument : {}).filter(([, names]) => Array.isArray(names))
  if (entries.length === 0) return null
  return (value, work) => {
    if (!isDocument(value)) return true
    spend(work, entries.length / 2)
    return every(
      entries,
      work,
      ([name, names]) => !Object.hasOwn(value, name) || hasAll(value, names as string[], work),
    )
  }
}

function ofNumber(holds: (value: number, limit: number, work: Work) => boolean, words: string): AssertionMaker {
  return (limit) => {
    if (typeof limit !== 'number') return null
    return (value, work) => typeof value !== 'number' || holds(value, limit, work) || refuse(work, `${words} ${limit}`)
  }
}

function ofLength(type: string, holds: (length: number, limit: number) => boolean, words: string): AssertionMaker {
  return (limit) => {
    if (typeof limit !== 'number') return null
    return (value, work) =>
      typeOf(value) !== type || holds(lengthOf(value, work), limit) || refuse(work, `${words} ${limit}`)
  }
}

/** Characters of a string, items of an array, properties of an object. */
function lengthOf(value: unknown, work: Work): number {
  if (Array.isArray(value)) return value.length
  if (typeof value !== 'string') return entriesOf(value as object, work).length // `ofLength` looked at the type
  spend(work, value.length / 16)
  return textLength(value)
}

function hasAll(value: object, names: readonly string[], work: Work): boolean {
  spend(work, names.length / 2)
  const missing = names.find((name) => !Object.hasOwn(value, name))
  return missing === undefined || refuse(work, `required property ${JSON.stringify(missing)} is missing`)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** On the decimals as they are written, since 0.3 is no multiple of 0.1 in binary. */
function isMultiple(value: number, divisor: number, work: Work): boolean {
  if (divisor <= 0) return true
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0
  const [digits, exponent] = decimal(value)
  const [divisorDigits, divisorExponent] = decimal(divisor)
  const lowest = Math.min(exponent, divisorExponent)
  spend(work, Math.abs(exponent - divisorExponent) / 4)
  return (digits * 10n ** BigInt(exponent - lowest)) % (divisorDigits * 10n ** BigInt(divisorExponent - lowest)) === 0n
}

function decimal(value: number): readonly [digits: bigint, exponent: number] {
  const [mantissa = '0', power = '0'] = value.toString().split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), Number(power) - fraction.length]
}
