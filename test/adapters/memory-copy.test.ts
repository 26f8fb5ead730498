import { expect, test } from 'vitest'

import { copyOf } from '../../adapters/memory/copy.ts'

test('a copy of a row is equal and shares nothing, whatever its keys are called', () => {
  const row = JSON.parse('{"id":"a","events":["x",["y"]],"metadata":{"__proto__":"p","constructor":"c"},"name":null}')
  const copy = copyOf(row)
  expect(copy).toEqual(row)
  expect(Object.keys(copy.metadata)).toEqual(['__proto__', 'constructor'])
  copy.events[1].push('z')
  copy.metadata.constructor = 'd'
  expect(row.events[1]).toEqual(['y'])
  expect(row.metadata.constructor).toBe('c')
})
