import { describe, expect, test } from 'vitest'

import { hmacAuth } from '../../src/plugins/hmac-auth.ts'
import { guard, mac, refusal } from './fixtures.ts'

const config = { signature_header: 'X-Signature', secret: 'geheim' }
const body = '{"event_type":"a","data":{"n":1.0}}'

describe('hmac-auth', () => {
  test('takes the hex HMAC-SHA256 of the raw body, in digits of either case', async () => {
    const send = await guard(hmacAuth, config)
    const signature = mac('sha-256', 'geheim', body).digest('hex')
    expect(await send({ headers: { 'x-signature': signature }, body })).toBe(200)
    expect(await send({ headers: { 'x-signature': signature.toUpperCase() }, body })).toBe(200)
  })

  test('signs bytes, not text', async () => {
    const send = await guard(hmacAuth, config)
    const bytes = Uint8Array.of(0xff, 0x00, 0xfe)
    const signature = mac('sha-256', 'geheim', bytes).digest('hex')
    expect(await send({ headers: { 'x-signature': signature }, body: bytes })).toBe(200)
  })

  for (const hash of ['md5', 'sha-1', 'sha-256', 'sha-512'] as const) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      test(`takes ${hash} in ${encoding}`, async () => {
        const send = await guard(hmacAuth, { ...config, hash, encoding })
        const signature = mac(hash, 'geheim', body).digest(encoding)
        expect(await send({ headers: { 'x-signature': signature }, body })).toBe(200)
        expect(await send({ headers: { 'x-signature': signature }, body: `${body} ` })).toBe(401)
      })
    }
  }

  const signature = mac('sha-256', 'geheim', body).digest('hex')
  test.each([
    ['no signature', {}],
    ['an empty signature', { 'x-signature': '' }],
    ['a signature by another secret', { 'x-signature': mac('sha-256', 'other', body).digest('hex') }],
    ['a signature of another body', { 'x-signature': mac('sha-256', 'geheim', '{}').digest('hex') }],
    ['a signature cut short', { 'x-signature': signature.slice(0, -1) }],
    ['a signature and more', { 'x-signature': `${signature}00` }],
    ['a signature in another encoding', { 'x-signature': mac('sha-256', 'geheim', body).digest('base64') }],
    ['a huge signature', { 'x-signature': 'a'.repeat(100_000) }],
    ['a signature with foreign characters', { 'x-signature': 'é'.repeat(64) }],
  ])('answers 401 to %s', async (_, headers) => {
    const send = await guard(hmacAuth, config)
    expect(await send({ headers, body })).toBe(401)
  })

  test('answers 401 to the header twice', async () => {
    const send = await guard(hmacAuth, config)
    expect(
      await send({
        headers: [
          ['x-signature', signature],
          ['x-signature', signature],
        ],
        body,
      }),
    ).toBe(401)
  })

  test('answers 401 to padded base64url, and to base64 where case was changed', async () => {
    const padded = `${mac('sha-256', 'geheim', body).digest('base64url')}=`
    const send = await guard(hmacAuth, { ...config, encoding: 'base64url' })
    expect(await send({ headers: { 'x-signature': padded }, body })).toBe(401)
    const base64 = await guard(hmacAuth, { ...config, encoding: 'base64' })
    const lower = mac('sha-256', 'geheim', body).digest('base64').toLowerCase()
    expect(await base64({ headers: { 'x-signature': lower }, body })).toBe(401)
  })

  test('refuses a config with unknown names', async () => {
    expect(await refusal(hmacAuth, { ...config, hash: 'sha256', encoding: 'base32' })).toEqual({
      hash: 'value is not one of the allowed values ["md5","sha-1","sha-256","sha-512"]',
      encoding: 'value is not one of the allowed values ["hex","base64","base64url"]',
    })
    expect(await refusal(hmacAuth, { signature_header: 'X Signature' })).toEqual({
      signature_header: 'invalid header name',
      secret: 'required field missing',
    })
  })
})
