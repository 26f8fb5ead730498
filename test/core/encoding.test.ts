import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  base64Of,
  base64UrlOf,
  bytesOf,
  bytesOfBase64,
  bytesOfHeader,
  hexOf,
  joinBytes,
} from '../../src/core/encoding.ts'

const bytes = fc.uint8Array({ maxLength: 200 })

describe('encoding bytes', () => {
  test('writes what Node writes', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const buffer = Buffer.from(given)
        expect(hexOf(given)).toBe(buffer.toString('hex'))
        expect(base64Of(given)).toBe(buffer.toString('base64'))
        expect(base64UrlOf(given)).toBe(buffer.toString('base64url'))
      }),
    )
  })

  test('reads its own base64 back, padded or not', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const text = base64Of(given)
        expect(bytesOfBase64(text)).toEqual(given)
        expect(bytesOfBase64(text.replace(/=+$/, ''))).toEqual(given)
      }),
    )
  })

  test.each(['A', 'A===', 'AA=', 'AAA==', 'AAAA=', 'A-_A', 'AA AA', 'AA\nAA', '=', 'é'])(
    'reads no base64 in "%s"',
    (text) => {
      expect(bytesOfBase64(text)).toBeNull()
    },
  )

  test('reads a header value as the bytes it had on the wire', () => {
    expect(bytesOfHeader(Buffer.from('schlüssel').toString('latin1'))).toEqual(bytesOf('schlüssel'))
  })

  test('joins bytes', () => {
    expect(joinBytes()).toEqual(new Uint8Array())
    expect(joinBytes(Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3))).toEqual(Uint8Array.of(1, 2, 3))
  })
})
