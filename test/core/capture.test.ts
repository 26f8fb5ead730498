import { describe, expect, test } from 'vitest'

import { recordBytes, recordFields, recordHeaders, recordText } from '../../src/core/capture.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('recorded bodies', () => {
  test('text within the bound is itself', () => {
    expect(recordBytes(bytes('{"é":"😀"}'), 100)).toBe('{"é":"😀"}')
    expect(recordBytes(bytes('exact'), 5)).toBe('exact')
    expect(recordBytes(new Uint8Array(), 0)).toBe('')
  })

  test.each([
    ['aé', 2, 'a'],
    ['a€', 3, 'a'],
    ['a😀', 4, 'a'],
    ['a😀', 5, 'a😀'],
    ['😀', 3, ''],
    ['abc', 0, ''],
  ])('a cut of %j at %i bytes never splits a code point', (text, maxBytes, kept) => {
    expect(recordBytes(bytes(`${text}…`), maxBytes)).toBe(kept)
    expect(recordText(`${text}…`, maxBytes)).toBe(kept)
  })

  test('what is not UTF-8, and U+0000, becomes U+FFFD', () => {
    expect(recordBytes(Uint8Array.of(0x61, 0xff, 0x62, 0x00, 0xc3), 100)).toBe('a\uFFFDb\uFFFD\uFFFD')
  })

  test('a byte order mark is kept', () => {
    expect(recordBytes(bytes('\uFEFFx'), 100)).toBe('\uFEFFx')
  })

  test('replacements never make the text longer than the bound', () => {
    const text = recordBytes(new Uint8Array(1000), 100)
    expect(text).toBe('\uFFFD'.repeat(33))
    expect(recordText('\0'.repeat(1000), 100)).toBe(text)
  })

  test('one record leaves nothing behind in the next', () => {
    recordBytes(bytes('a€'), 2)
    expect(recordBytes(bytes('b'), 100)).toBe('b')
  })
})

describe('recorded text', () => {
  test('halves of surrogate pairs become U+FFFD, pairs stay', () => {
    expect(recordText('a\uD83Db\uDE00c😀', 100)).toBe('a\uFFFDb\uFFFDc😀')
  })

  test('long text is cut by bytes, not by units', () => {
    expect(recordText('é'.repeat(100), 9)).toBe('éééé')
  })
})

describe('recorded headers', () => {
  test('names are lower-case, repeated ones are joined', () => {
    const headers = ['X-Many', 'a', 'Content-Type', 'text/plain', 'x-many', 'b']
    expect({ ...recordHeaders(headers, { maxBytes: 1000 }) }).toEqual({
      'x-many': 'a, b',
      'content-type': 'text/plain',
    })
  })

  test('a redacted value is *** whole, whether it comes once or twice', () => {
    const headers = ['Authorization', 'Bearer 1', 'authorization', 'Bearer 2', 'x-id', '1']
    const redact = new Set(['authorization'])
    expect({ ...recordHeaders(headers, { maxBytes: 1000, redact }) }).toEqual({ authorization: '***', 'x-id': '1' })
    expect({ ...recordHeaders(headers, { maxBytes: 15, redact }) }).toEqual({})
  })

  test('the block is bounded: the value at the bound is cut, the rest is left out', () => {
    const headers = ['a', '12345', 'b', '1234567890', 'c', 'x']
    expect({ ...recordHeaders(headers, { maxBytes: 10 }) }).toEqual({ a: '12345', b: '123' })
    expect({ ...recordHeaders(headers, { maxBytes: 0 }) }).toEqual({})
  })

  test('values hold what any engine can store', () => {
    expect({ ...recordHeaders(['x', 'a\0\uD800'], { maxBytes: 100 }) }).toEqual({ x: 'a\uFFFD\uFFFD' })
  })

  test.each<[string, Record<string, string>]>([
    ['a name in upper case', { 'X-Id': '1', 'x-other': '2' }],
    ['a redacted value', { 'x-id': '1', authorization: 'Bearer 1' }],
    ['too many bytes', { 'x-id': '1', 'x-long': 'x'.repeat(50), 'x-more': '2' }],
    ['what cannot be stored', { 'x-id': 'a\0b' }],
    ['more than one byte a character', { 'x-id': 'é'.repeat(20) }],
  ])('by name they are recorded alike: %s', (_what, headers) => {
    const bounds = { maxBytes: 40, redact: new Set(['authorization']) }
    const recorded = recordFields(headers, bounds)
    expect(recorded).toEqual(recordHeaders(Object.entries(headers).flat(), bounds))
    expect(recorded).not.toEqual(headers)
  })

  test('by name, and fit as they are, they are not copied', () => {
    const headers = { 'x-id': '1', 'content-type': 'text/plain' }
    expect(recordFields(headers, { maxBytes: 40 })).toBe(headers)
    expect(recordFields({}, { maxBytes: 0 })).toEqual({})
  })

  test('a header named like a property of objects is only a header', () => {
    expect(Object.entries(recordHeaders(['__proto__', 'x', 'constructor', 'y'], { maxBytes: 100 }))).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})

test('headers beyond the bound are not looked at, and those before it are as in a list of names and values', () => {
  const read: string[] = []
  const headers: Record<string, string> = {}
  for (let i = 0; i < 50; i++) {
    const get = () => {
      read.push(`x-${i}`)
      return `é${'v'.repeat(i)}`
    }
    Object.defineProperty(headers, `x-${i}`, { enumerable: true, get })
  }
  const bounds = { maxBytes: 60, redact: new Set(['x-2']) }
  const recorded = recordFields(headers, bounds)
  expect([...new Set(read)].at(-1)).toBe('x-8')
  const list = Array.from({ length: 50 }, (_, i) => [`x-${i}`, `é${'v'.repeat(i)}`]).flat()
  expect({ ...recorded }).toEqual({ ...recordHeaders(list, bounds) })
})
