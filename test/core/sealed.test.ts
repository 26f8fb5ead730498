import { describe, expect, test } from 'vitest'

import { isMask, maskOf, maskOfSealed } from '../../src/core/mask.ts'
import { isSealed, readSealed, sealedText } from '../../src/core/sealed.ts'
import { configSecrets, headerSecrets, withTexts } from '../../src/core/secret-places.ts'

const sealed = sealedText({ keyId: '2026-11', wrapped: new Uint8Array(60).fill(1), box: new Uint8Array(40).fill(2) })

describe('a sealed value', () => {
  test('is a text that names its key, and reads back', () => {
    expect(sealed).toMatch(/^sealed:v1:2026-11:[A-Za-z0-9_-]+$/)
    const { keyId, wrapped, box } = readSealed(sealed)!
    expect([keyId, wrapped.length, box.length, wrapped[59], box[39]]).toEqual(['2026-11', 60, 40, 1, 2])
  })

  test.each([
    '',
    'sealed:v1:',
    'sealed:v1:k:',
    'sealed:v1:k:AAAA',
    'sealed:v2:k:AAAA',
    `x${sealed}`,
    `${sealed} `,
    `sealed:v1:a b:${'A'.repeat(99)}`,
  ])('%j is none', (text) => {
    expect(isSealed(text)).toBe(false)
    expect(readSealed(text)).toBeNull()
  })
})

describe('a mask', () => {
  test.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_…LaSw'],
    [`whsec_${Buffer.alloc(32, 7).toString('base64')}`, 'whsec_…HBwc'],
    ['Bearer abcdefghijklmnop', 'Bearer …mnop'],
    ['Basic dXNlcjpwYXNzd29yZDEyMzQ=', 'Basic …'],
    ['a long secret of the shop', '…shop'],
    ['short', '…'],
    ['fifteen letters', '…'],
    ['', '…'],
    ['𝒳'.repeat(20), `…${'𝒳'.repeat(4)}`],
  ])('of %j is %j', (secret, mask) => {
    expect(maskOf(secret)).toBe(mask)
    expect(isMask(mask)).toBe(true)
    expect(isMask(secret)).toBe(false)
  })

  test('of a value that cannot be opened names the key', () => {
    expect(maskOfSealed(sealed)).toBe('sealed:v1:2026-11:…')
    expect(isMask(maskOfSealed(sealed))).toBe(true)
  })

  test.each(['… and more', 'to be continued…x', 'a…', sealed])('%j is none', (text) => {
    expect(isMask(text)).toBe(false)
  })
})

describe('the secrets of a row', () => {
  test('are the texts of named fields and below them, in lists too, and sealed texts anywhere', () => {
    const config = {
      user: 'a',
      password: 'b',
      deep: { token: 'c', other: 'd' },
      keys: ['e', { secret: 'f', until: 5 }],
      group: { one: 'g', two: ['h'] },
      note: sealed,
      password2: 'i',
    }
    const places = configSecrets(config, ['password', 'deep.token', 'keys[]', 'group'])
    expect(places.map(({ field, text, named }) => [field, named ? text : 'sealed'])).toEqual([
      ['config.password', 'b'],
      ['config.deep.token', 'c'],
      ['config.keys[]', 'e'],
      ['config.keys[].secret', 'f'],
      ['config.group.one', 'g'],
      ['config.group.two[]', 'h'],
      ['config.note', 'sealed'],
    ])
    const changed = withTexts(
      { config },
      places.map(({ path }) => ({ path, text: 'x' })),
    ).config
    expect(changed).toEqual({
      user: 'a',
      password: 'x',
      deep: { token: 'x', other: 'd' },
      keys: ['x', { secret: 'x', until: 5 }],
      group: { one: 'x', two: ['x'] },
      note: 'x',
      password2: 'i',
    })
    expect(config.keys[0]).toBe('e')
  })

  test('are headers of secret names, whatever their case', () => {
    const headers = { Authorization: 'a', 'X-Id': 'b', other: sealed }
    const places = headerSecrets({ headers }, new Set(['authorization']))
    expect(places.map(({ field, path }) => [field, path.at(-1)])).toEqual([
      ['request.headers.authorization', 'Authorization'],
      ['request.headers.other', 'other'],
    ])
    for (const request of [null, {}, { headers: null }, { headers: [] }, { headers: { authorization: 5 } }, 'x']) {
      expect(headerSecrets(request, new Set(['authorization']))).toEqual([])
    }
  })

  test('a field named __proto__ stays data', () => {
    const config = JSON.parse('{"__proto__":{"key":"a"},"constructor":"b"}') as object
    const places = configSecrets(config, ['__proto__.key', 'constructor'])
    const changed = withTexts(
      { config },
      places.map(({ path }) => ({ path, text: 'x' })),
    )
    expect(JSON.stringify(changed.config)).toBe('{"__proto__":{"key":"x"},"constructor":"x"}')
  })
})
