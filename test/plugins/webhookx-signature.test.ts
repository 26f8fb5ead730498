import { describe, expect, test } from 'vitest'

import { webhookxSignature } from '../../src/plugins/webhookx-signature.ts'
import { mac, refusal, seconds, sent, written } from './fixtures.ts'

const signing_secret = 'QGvaZ0uPwA9nYi7jr31JtZn1EKK4pJpK'

describe('webhookx-signature', () => {
  test('signs "<timestamp>.<body>" as WebhookX does', async () => {
    const { headers, body } = await sent(webhookxSignature, { signing_secret }, 'foo')
    expect(headers).toEqual({
      'content-type': 'application/json',
      'webhookx-event-id': 'evt_1',
      'webhookx-delivery-id': 'att_1',
      'webhookx-timestamp': '1726285679',
      'webhookx-signature': 'v1=e2af2618d5ffd700eb369904b7237ec4ac7d37873cfe6654265af2e53b44da6b',
    })
    expect(body).toBe('foo')
  })

  test('signs the UTF-8 bytes of the body', async () => {
    const { headers } = await sent(webhookxSignature, { signing_secret }, '{"name":"Zoë 🐎"}')
    const expected = mac('sha-256', signing_secret, `${seconds}.{"name":"Zoë 🐎"}`).digest('hex')
    expect(headers['webhookx-signature']).toBe(`v1=${expected}`)
  })

  test('signs the empty body of a delivery that has none, and sends none', async () => {
    const { headers, body } = await sent(webhookxSignature, { signing_secret }, null)
    expect(headers['webhookx-signature']).toBe(`v1=${mac('sha-256', signing_secret, `${seconds}.`).digest('hex')}`)
    expect(body).toBeNull()
  })

  test('makes a secret of 32 letters and digits when none is given, another each time', async () => {
    const one = (await written(webhookxSignature)) as { signing_secret: string }
    const other = (await written(webhookxSignature, { signing_secret: null })) as { signing_secret: string }
    expect(one.signing_secret).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(other.signing_secret).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(one.signing_secret).not.toBe(other.signing_secret)
  })

  test('keeps the secret that is given', async () => {
    expect(await written(webhookxSignature, { signing_secret: 'mine' })).toEqual({ signing_secret: 'mine' })
  })

  test('refuses what is no secret', async () => {
    expect(await refusal(webhookxSignature, { signing_secret: '' })).toEqual({
      signing_secret: 'minimum string length is 1',
    })
    expect(await refusal(webhookxSignature, { signing_secret: 7 })).toEqual({
      signing_secret: 'value must be a string',
    })
  })
})
