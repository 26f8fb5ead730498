import { expect, test } from 'vitest'

import { merge } from '../../src/core/merge.ts'

test('an absent key keeps its value, a present one replaces the whole value', () => {
  const row = { name: 'a', request: { url: 'x', timeout: 5 }, events: ['a'] }
  expect(merge(row, { request: { url: 'y' }, events: [] })).toEqual({ name: 'a', request: { url: 'y' }, events: [] })
  expect(row.request).toEqual({ url: 'x', timeout: 5 })
})

test('undefined counts as absent, null as present', () => {
  expect(merge({ a: 1, b: 2 }, { a: undefined, b: null })).toEqual({ a: 1, b: null })
})

test('keys that JavaScript knows are data', () => {
  const merged = merge({ a: 1 }, JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')) as object
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
  expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"polluted":true},"constructor":1}')
})

test.each([[null], [[]], [5], ['x'], [undefined]])('%j is left to the schema', (input) => {
  expect(merge({ a: 1 }, input)).toBe(input)
})
