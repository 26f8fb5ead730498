import { describe, expect, test } from 'vitest'

import { standardWebhooks } from '../../src/plugins/standard-webhooks.ts'
import { webhookxSignature } from '../../src/plugins/webhookx-signature.ts'
import { verifyWebhook, WebhookVerificationError, type VerifyOptions } from '../../src/verify.ts'
import { now, seconds, sent } from './fixtures.ts'

const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const otherWhsec = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const whsk = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
const whpk = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='
const text = 'QGvaZ0uPwA9nYi7jr31JtZn1EKK4pJpK'
const body = '{"name":"Zoë","n":1}'
const payload = { name: 'Zoë', n: 1 }

/** The headers of a delivery that was signed now. */
async function standard(...secrets: string[]) {
  return (await sent(standardWebhooks, { secrets }, body)).headers
}
async function webhookx(signing_secret: string) {
  return (await sent(webhookxSignature, { signing_secret }, body)).headers
}

type Received = Parameters<typeof verifyWebhook>[0]

async function failure(received: Received, secrets: string | readonly string[], options: VerifyOptions = {}) {
  try {
    return await verifyWebhook(received, secrets, { now, ...options }).then(() => 'verified')
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code
    throw error
  }
}

describe('verifyWebhook', () => {
  test('answers the payload of a Request', async () => {
    const request = new Request('https://example.com/in', { method: 'POST', headers: await standard(whsec), body })
    expect(await verifyWebhook(request, whsec, { now })).toEqual(payload)
  })

  test('answers the payload of headers and a body as Node has them', async () => {
    const headers = { ...(await standard(whsec)), accept: undefined, 'set-cookie': ['a=1', 'b=2'] }
    expect(await verifyWebhook({ headers, body: Buffer.from(body) }, whsec, { now })).toEqual(payload)
    expect(await verifyWebhook({ headers: new Headers(await standard(whsec)), body }, whsec, { now })).toEqual(payload)
  })

  test('takes header names in any case', async () => {
    const headers = Object.fromEntries(
      Object.entries(await standard(whsec)).map(([name, value]) => [name.toUpperCase(), value]),
    )
    expect(await verifyWebhook({ headers, body }, whsec, { now })).toEqual(payload)
  })

  test('verifies HMAC and Ed25519 signatures of Standard Webhooks', async () => {
    const headers = await standard(otherWhsec, whsk)
    expect(await verifyWebhook({ headers, body }, otherWhsec, { now })).toEqual(payload)
    expect(await verifyWebhook({ headers, body }, whpk, { now })).toEqual(payload)
    expect(await failure({ headers, body }, whsec)).toBe('mismatch')
  })

  test('verifies the signature of webhookx-signature', async () => {
    expect(await verifyWebhook({ headers: await webhookx(text), body }, text, { now })).toEqual(payload)
    expect(await failure({ headers: await webhookx('another secret of 23 b'), body }, text)).toBe('mismatch')
  })

  test('keys rotate: an old and a new one on either side', async () => {
    expect(await verifyWebhook({ headers: await standard(whsec), body }, [otherWhsec, whsec], { now })).toEqual(payload)
    expect(await verifyWebhook({ headers: await standard(whsec, otherWhsec), body }, otherWhsec, { now })).toEqual(
      payload,
    )
    expect(
      await verifyWebhook({ headers: await webhookx(text), body }, ['a newer secret of 25 byte', text], { now }),
    ).toEqual(payload)
  })

  test('schemes change: with secrets of both, either is taken', async () => {
    const secrets = [text, whsec, whpk]
    for (const headers of [await standard(whsec), await standard(whsk), await webhookx(text)]) {
      expect(await verifyWebhook({ headers, body }, secrets, { now })).toEqual(payload)
    }
  })

  test('a public key is no HMAC secret: nobody signs with it', async () => {
    expect(await failure({ headers: await webhookx(whpk), body }, whpk)).toBe('missing_header')
    expect(await failure({ headers: await webhookx(whpk), body }, [whpk, text])).toBe('mismatch')
    const asHmac = await standard(whpk.replace('whpk_', 'whsec_'))
    expect(await failure({ headers: asHmac, body }, whpk)).toBe('mismatch')
  })

  test('answers undefined for a signed request without a body', async () => {
    const { headers } = await sent(standardWebhooks, { secrets: [whsec] }, null)
    expect(await verifyWebhook({ headers, body: '' }, whsec, { now })).toBeUndefined()
  })

  test('refuses another body', async () => {
    expect(await failure({ headers: await standard(whsec), body: `${body} ` }, whsec)).toBe('mismatch')
    expect(await failure({ headers: await standard(whsk), body: `${body} ` }, whpk)).toBe('mismatch')
    expect(await failure({ headers: await webhookx(text), body: `${body} ` }, text)).toBe('mismatch')
  })

  test('refuses another id or time than was signed', async () => {
    const headers = await standard(whsec)
    expect(await failure({ headers: { ...headers, 'webhook-id': 'evt_2' }, body }, whsec)).toBe('mismatch')
    const later = String(Number(seconds) + 1)
    expect(await failure({ headers: { ...headers, 'webhook-timestamp': later }, body }, whsec)).toBe('mismatch')
  })

  test('refuses what is older or newer than the tolerance of 300 seconds', async () => {
    for (const [headers, secret] of [
      [await standard(whsec), whsec],
      [await webhookx(text), text],
    ] as const) {
      expect(await failure({ headers, body }, secret, { now: now + 300_000 })).toBe('verified')
      expect(await failure({ headers, body }, secret, { now: now + 301_000 })).toBe('stale')
      expect(await failure({ headers, body }, secret, { now: now - 300_000 })).toBe('verified')
      expect(await failure({ headers, body }, secret, { now: now - 301_000 })).toBe('future')
      expect(await failure({ headers, body }, secret, { now: now + 11_000, toleranceSeconds: 10 })).toBe('stale')
      expect(await failure({ headers, body }, secret, { now: now + 1e12, toleranceSeconds: 0 })).toBe('verified')
    }
  })

  test('knows the time by itself', async () => {
    const { headers } = await sent(standardWebhooks, { secrets: [whsec] }, body)
    await expect(verifyWebhook({ headers, body }, whsec)).rejects.toMatchObject({ code: 'stale' })
  })

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('refuses a request without %s', async (name) => {
    const headers = { ...(await standard(whsec)), [name]: undefined }
    expect(await failure({ headers, body }, whsec)).toBe('missing_header')
  })

  test.each(['webhookx-timestamp', 'webhookx-signature'])('refuses a request without %s', async (name) => {
    const headers = { ...(await webhookx(text)), [name]: undefined }
    expect(await failure({ headers, body }, text)).toBe('missing_header')
  })

  test('refuses headers that are not in their form', async () => {
    const headers = await standard(whsec)
    const signature = headers['webhook-signature']!
    for (const change of [
      { 'webhook-signature': '' },
      { 'webhook-signature': signature.slice('v1,'.length) },
      { 'webhook-signature': [signature, signature] },
      { 'webhook-signature': Array(1000).fill(signature).join(' ') },
      { 'webhook-timestamp': 'soon' },
      { 'webhook-timestamp': [seconds, seconds] },
      { 'webhook-id': 'evt 1' },
      { 'webhook-signature': signature.replace('v1,', 'v2,') },
    ]) {
      expect(await failure({ headers: { ...headers, ...change }, body }, whsec)).toBe('malformed_header')
    }
    expect(await failure({ headers: { ...headers, 'webhook-signature': signature.slice(0, -1) }, body }, whsec)).toBe(
      'mismatch',
    )
    expect(await failure({ headers: { ...headers, 'webhook-signature': 'v1a,!!!! v1a,AAAA' }, body }, whpk)).toBe(
      'mismatch',
    )
    const ours = await webhookx(text)
    for (const wrong of ['', 'v1=', 'v1=00', `v2=${'0'.repeat(64)}`, `${ours['webhookx-signature']}0`]) {
      expect(await failure({ headers: { ...ours, 'webhookx-signature': wrong }, body }, text)).toBe('malformed_header')
    }
  })

  test('tells a body that is signed but is not JSON', async () => {
    const { headers } = await sent(standardWebhooks, { secrets: [whsec] }, 'a=b')
    expect(await failure({ headers, body: 'a=b' }, whsec)).toBe('malformed')
  })

  test('answers the bytes of a signed body, whatever they are, when it is not to be parsed', async () => {
    const { headers } = await sent(standardWebhooks, { secrets: [whsec] }, 'a=b')
    const bytes = await verifyWebhook({ headers, body: 'a=b' }, whsec, { now, parse: false })
    expect(new TextDecoder().decode(bytes)).toBe('a=b')
    expect(await failure({ headers, body: 'a=c' }, whsec, { parse: false })).toBe('mismatch')
  })

  test('reads the headers of Svix where those of Standard Webhooks are missing', async () => {
    const signed = Object.entries(await standard(whsec))
    const headers = Object.fromEntries(signed.map(([name, value]) => [name.replace('webhook-', 'svix-'), value]))
    expect(Object.keys(headers)).toContain('svix-signature')
    expect(await verifyWebhook({ headers, body }, whsec, { now })).toEqual(payload)
    expect(await verifyWebhook({ headers, body }, [whsec, text], { now })).toEqual(payload)
    expect(await failure({ headers, body: `${body} ` }, whsec)).toBe('mismatch')
    const both = { ...headers, 'webhook-signature': 'v1,AAAA' }
    expect(await failure({ headers: both, body }, whsec)).toBe('mismatch')
  })

  test('options that would let every signature pass are refused', async () => {
    const headers = await standard(whsec)
    for (const options of [
      { toleranceSeconds: Number.NaN },
      { toleranceSeconds: Infinity },
      { toleranceSeconds: -1 },
      { toleranceSeconds: '300' },
      { toleranceSeconds: null },
      { now: Number.NaN },
      { now: '1' },
      { now: new Date(now) },
      { parse: 'no' },
    ]) {
      expect(await failure({ headers, body }, whsec, options as VerifyOptions), JSON.stringify(options)).toBe(
        'invalid_options',
      )
    }
  })

  test('the key of a secret has at least 16 bytes', async () => {
    const hmacKey = (length: number) => `whsec_${Buffer.alloc(length, 7).toString('base64')}`
    const headers = await standard(whsec)
    expect(await failure({ headers, body }, [hmacKey(16), whsec])).toBe('verified')
    expect(await failure({ headers, body }, [hmacKey(15), whsec])).toBe('invalid_secret')
    expect(await failure({ headers: await webhookx('x'.repeat(16)), body }, 'x'.repeat(16))).toBe('verified')
    expect(await failure({ headers: await webhookx('x'.repeat(15)), body }, 'x'.repeat(15))).toBe('invalid_secret')
    expect(await failure({ headers: await webhookx('ö'.repeat(8)), body }, 'ö'.repeat(8))).toBe('verified')
  })

  test('an unpadded secret is taken, padded or not', async () => {
    const padded = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    expect(padded).toMatch(/=$/)
    expect(await verifyWebhook({ headers: await standard(padded), body }, padded.replace(/=+$/, ''), { now })).toEqual(
      payload,
    )
  })

  test.each([
    [[]],
    [''],
    ['whsec_!'],
    ['whpk_AAAA'],
    [whsk],
    [undefined as unknown as string],
    [[undefined as unknown as string]],
    [` ${whsec}`],
    [`${whsec}\n`],
    [`${text} `],
  ])('tells a mistake of the receiver: the secret %j', async (secrets) => {
    expect(await failure({ headers: await standard(whsec), body }, secrets)).toBe('invalid_secret')
  })

  test('refuses a body that was parsed before', async () => {
    const received = { headers: await standard(whsec), body: payload } as unknown as Received
    await expect(verifyWebhook(received, whsec, { now })).rejects.toThrow(TypeError)
  })
})
