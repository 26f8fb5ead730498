import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseJson, sliceProperty } from '../../src/core/json-slice.ts'

describe('sliceProperty', () => {
  test.each([
    ['{"data":{"n":12345678901234567890,"a":1e3}}', '{"n":12345678901234567890,"a":1e3}'],
    ['{ "x" : 1 , "data" :  [ 1, 2 ]  }', '[ 1, 2 ]'],
    ['{"data":1,"data":2}', '2'],
    ['{"data":1,"d\\u0061ta":"two"}', '"two"'],
    ['{"a":{"data":1},"data":true}', 'true'],
    ['{"a":"\\"data\\":1","data":null}', 'null'],
    ['{"a":"\\\\","data":-1.5e-3}', '-1.5e-3'],
    ['{"data":"}{][,\\""}', '"}{][,\\""'],
    ['{"datum":1}', null],
    ['{}', null],
    ['[1]', null],
    ['"data"', null],
  ])('of %s is %s', (text, expected) => {
    expect(sliceProperty(text, 'data')).toBe(expected)
  })

  test('agrees with JSON.parse on any object, however it is written', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t ')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('data', 'type', '', 'a"b'), fc.jsonValue())),
        spaces,
        (pairs, space) => {
          const text = `{${pairs.map(([key, value]) => `${space}${JSON.stringify(key)}${space}:${space}${JSON.stringify(value, null, 1)}${space}`).join(',')}}`
          const slice = sliceProperty(text, 'data')
          const whole = JSON.parse(text) as { data?: unknown }
          expect(slice === null ? undefined : JSON.parse(slice)).toEqual(whole.data)
        },
      ),
    )
  })
})

describe('parseJson', () => {
  test('takes 500 levels and refuses one more, wherever the brackets are', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(() => parseJson(nested(500))).not.toThrow()
    expect(() => parseJson(nested(501))).toThrow('JSON is nested deeper than 500 levels')
    expect(() => parseJson('['.repeat(100_000))).toThrow('JSON is nested deeper than 500 levels')
    expect(parseJson(JSON.stringify('['.repeat(1000)))).toHaveLength(1000)
  })

  test.each(['', ' ', '{', '{"a":}', 'nul', '"\u0001"', '{"a":1}x'])('refuses %j with a sentence', (text) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'validation', message: expect.stringMatching(/JSON/) }),
    )
  })
})
