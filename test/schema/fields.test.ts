import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import {
  anyObject,
  closedObject,
  dictionary,
  flag,
  integer,
  list,
  object,
  oneOf,
  orNull,
  readOnly,
  text,
  textLength,
  unsupported,
  withDefault,
} from '../../src/schema/fields.ts'
import { check, parse } from '../../src/schema/parse.ts'
import { type FieldError, type FieldErrors, invalid, type PosthornError } from '../../src/errors.ts'

const reasons = (schema: v.GenericSchema, input: unknown) => {
  const result = check(schema, input)
  return result.ok ? null : result.fields
}

describe('a field tells what is wrong in the words of the API', () => {
  test.each<[string, v.GenericSchema, unknown, unknown]>([
    ['missing', text(), undefined, 'required field missing'],
    ['null', integer(), null, 'Value is not nullable'],
    ['a string', text(), 1, 'value must be a string'],
    ['a boolean', flag(), 'true', 'value must be a boolean'],
    ['an integer', integer(), '1', 'value must be an integer'],
    ['a fraction', integer(), 1.5, 'value must be an integer'],
    ['no number', integer(), Number.NaN, 'value must be an integer'],
    ['beyond all integers', integer(), Infinity, 'number must be at most 9007199254740991'],
    ['below all integers', integer(), -Infinity, 'number must be at least -9007199254740991'],
    ['an object', object({}), [], 'value must be an object'],
    ['an array', list(text()), {}, 'value must be an array'],
    ['too short', text({ min: 2 }), '😀', 'minimum string length is 2'],
    ['too long', text({ max: 1 }), '😀😀', 'maximum string length is 1'],
    ['too few', list(text(), { min: 1 }), [], 'minimum number of items is 1'],
    ['too many', list(text(), { max: 1 }), ['a', 'b'], 'maximum number of items is 1'],
    ['twice', list(text(), { unique: true }), ['a', 'a'], 'duplicate items found'],
    ['none of the options', oneOf(['b', 'a']), 'c', 'value is not one of the allowed values ["b","a"]'],
    ['no option at all', oneOf(['a']), 5, 'value is not one of the allowed values ["a"]'],
    ['no option given', oneOf(['a']), undefined, 'required field missing'],
    ['unsupported', object({ a: unsupported() }), { a: 1 }, { a: 'property is unsupported' }],
    ['another key', closedObject({ a: orNull(text()) }), { b: 1 }, { b: 'property is unsupported' }],
    ['U+0000', text(), '\0', 'value must not contain U+0000 or unpaired surrogates'],
    ['half a pair', anyObject(), { a: ['\udc00'] }, 'value must not contain U+0000 or unpaired surrogates'],
    ['a key with half a pair', anyObject(), { '\ud800': 1 }, 'value must not contain U+0000 or unpaired surrogates'],
    ['read-only of another type', object({ a: readOnly() }), { a: 'x' }, { a: 'value must be an integer' }],
  ])('%s', (_, schema, input, reason) => {
    expect(reasons(schema, input)).toEqual(reason)
  })
})

test('a list that is too long is told so and not looked into', () => {
  let looked = 0
  const item = text({ rule: () => (looked++, 'never') })
  expect(reasons(object({ a: list(item, { max: 2 }) }), { a: ['x', 'y', 'z'] })).toEqual({
    a: 'maximum number of items is 2',
  })
  expect(looked).toBe(0)
  expect(reasons(list(text(), { max: 2 }), ['x', 'y'])).toBeNull()
})

describe('an error tells a hundred reasons, and how many others there are', () => {
  const refused = (schema: v.GenericSchema, input: unknown) => {
    try {
      parse(schema, input)
    } catch (error) {
      return error as PosthornError
    }
    throw new Error('it was taken')
  }
  const counted = ({ fields, more }: PosthornError) => {
    const count = (error: FieldError | undefined): number =>
      typeof error === 'string' ? 1 : Object.values(error ?? {}).reduce<number>((sum, item) => sum + count(item), 0)
    return [count(fields), more]
  }
  const many = (length: number) => Array.from({ length }, (_, i) => (i === 0 ? 1 : 'x'))
  const deep = object({ a: list(object({ b: list(integer()) })), c: integer() })

  test('of a list', () => {
    const schema = object({ a: list(integer()) })
    expect(counted(refused(schema, { a: many(101) }))).toEqual([100, undefined])
    expect(counted(refused(schema, { a: many(102) }))).toEqual([100, 1])
    expect(counted(refused(schema, { a: many(200_001) }))).toEqual([100, 199_900])
    expect(refused(schema, { a: many(1000) }).fields).toEqual({
      a: [null, ...Array.from({ length: 100 }, () => 'value must be an integer')],
    })
  })

  test('of lists in lists, in the order of the document', () => {
    const error = refused(deep, { a: [{ b: many(61) }, { b: many(1) }, { b: many(1001) }, { b: many(3) }], c: 'x' })
    expect(counted(error)).toEqual([100, 963])
    expect(error.fields).toMatchObject({ a: [expect.anything(), null, { b: { length: 41 } }] })
    expect(error.fields).not.toHaveProperty('c')
  })

  test('of objects with keys of any kind', () => {
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]))
    expect(counted(refused(closedObject({}), keys))).toEqual([100, 4900])
    expect(counted(refused(object({ a: dictionary(() => null) }), { a: keys }))).toEqual([100, 4900])
  })

  test('of bodies that were checked in parts', () => {
    const part = check(object({ a: list(integer()) }), { a: many(91) })
    const fields = part.ok ? {} : (part.fields as FieldErrors)
    expect(counted(invalid({ x: fields, y: fields }))).toEqual([100, 80])
    const whole = check(object({ a: list(integer()) }), { a: many(301) })
    expect(counted(invalid({ x: whole.ok ? {} : (whole.fields as FieldErrors), y: fields }))).toEqual([100, 290])
  })
})

test('a dictionary has as many entries and characters as it may', () => {
  const bounded = dictionary(() => null, { max: 2, maxLength: 8 })
  expect(reasons(bounded, { ab: 'cd', e: 'fgh' })).toBeNull()
  expect(reasons(bounded, { a: '', b: '', c: '' })).toBe('maximum number of properties is 2')
  expect(reasons(bounded, { ab: 'cd', e: 'fghi' })).toBe('maximum length of all names and values is 8')
})

test('the reasons of an array stand at their places, with null for what is good', () => {
  expect(reasons(object({ a: list(integer()) }), { a: [1, 'x', 2, null, 3] })).toEqual({
    a: [null, 'value must be an integer', null, 'Value is not nullable'],
  })
  expect(reasons(list(object({ a: text() })), [{ a: 'x' }, { a: 1 }, 5])).toEqual([
    null,
    { a: 'value must be a string' },
    'value must be an object',
  ])
})

test('code points are counted, not UTF-16 units', () => {
  expect([textLength('aä😀'), textLength('😀'.repeat(512)), textLength('\ud800x\udc00')]).toEqual([3, 512, 3])
  expect(reasons(text({ max: 512 }), '😀'.repeat(512))).toBeNull()
})

test('keys that JavaScript knows are data in a dictionary, reasons included', () => {
  const schema = dictionary((_, value) => (value === 'bad' ? 'refused' : null))
  const input: unknown = JSON.parse('{"__proto__":"a","constructor":"b"}')
  expect(JSON.stringify(parse(schema, input))).toBe('{"__proto__":"a","constructor":"b"}')
  const refused = reasons(schema, JSON.parse('{"__proto__":"bad","constructor":5,"a":"ok"}'))
  expect(JSON.stringify(refused)).toBe('{"__proto__":"refused","constructor":"value must be a string"}')
})

test('null and missing take the default, which is checked like any value', () => {
  const schema = object({ a: withDefault(object({ b: withDefault(integer(), 5) }), {}), c: orNull(text()) })
  expect(parse(schema, {})).toEqual({ a: { b: 5 }, c: null })
  expect(parse(schema, { a: null })).toEqual({ a: { b: 5 }, c: null })
  expect(parse(schema, { a: { b: null } })).toEqual({ a: { b: 5 }, c: null })
})
