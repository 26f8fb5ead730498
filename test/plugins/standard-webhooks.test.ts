import { describe, expect, test } from 'vitest'

import { standardWebhooks } from '../../src/plugins/standard-webhooks.ts'
import { mac, outboundContext, platform, refusal, seconds, sent, written } from './fixtures.ts'

const rule = 'value must be whsec_ or whsk_ followed by base64'

// The key pair that the Svix server's own test uses; with it the example signature of the specification was made.
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const whsk = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
const whskSeed = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc='

/** Signs the published example: `{"test": 2432232314}` at 1614265330. */
async function signExample(secrets: readonly string[]): Promise<string | undefined> {
  const plugin = await standardWebhooks.prepare({ secrets: [...secrets], envelope: false }, platform)
  const data = '{"test": 2432232314}'
  const context = { ...outboundContext({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', data }), now: 1_614_265_330_000 }
  const request = { method: 'POST', url: 'https://example.com/', headers: {}, body: data }
  return (await plugin.outbound!(request, context)).headers['webhook-signature']
}

function hmacSecret(length: number): string {
  return `whsec_${Buffer.alloc(length, 7).toString('base64')}`
}

describe('standard-webhooks', () => {
  test('signs with HMAC as the published example', async () => {
    expect(await signExample([whsec])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('signs with Ed25519 as the published example, from a seed with or without its public key', async () => {
    const expected = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=='
    expect(await signExample([whsk])).toBe(expected)
    expect(await signExample([whskSeed])).toBe(expected)
  })

  test('signs with every secret, in their order, so that keys rotate without downtime', async () => {
    const signatures = (await signExample([hmacSecret(32), whsec, whsk]))?.split(' ')
    expect(signatures).toHaveLength(3)
    expect(signatures?.[1]).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(signatures?.[2]).toMatch(/^v1a,/)
  })

  test('names the event and the second of the try, and signs both with the body', async () => {
    const { headers, body } = await sent(standardWebhooks, { secrets: [whsec] }, '{"n":1.0}')
    const content = `evt_1.${seconds}.{"n":1.0}`
    const key = Buffer.from(whsec.slice('whsec_'.length), 'base64')
    expect(headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${mac('sha-256', key, content).digest('base64')}`,
    })
    expect(body).toBe('{"n":1.0}')
  })

  test('signs the empty body of a delivery that has none, with or without an envelope', async () => {
    const key = Buffer.from(whsec.slice('whsec_'.length), 'base64')
    const expected = `v1,${mac('sha-256', key, `evt_1.${seconds}.`).digest('base64')}`
    for (const envelope of [false, true]) {
      const { headers, body } = await sent(standardWebhooks, { secrets: [whsec], envelope }, null)
      expect(headers['webhook-signature']).toBe(expected)
      expect(body).toBeNull()
    }
  })

  test('puts the very text of the data into an envelope with the type and the time of the event, and signs that', async () => {
    const data = '{"big":12345678901234567890,  "n":1.0}'
    const context = outboundContext({ data, event_type: 'say "hi"' })
    const { headers, body } = await sent(standardWebhooks, { secrets: [whsec], envelope: true }, data, context)
    expect(body).toBe(`{"type":"say \\"hi\\"","timestamp":"2023-11-14T22:13:20.123Z","data":${data}}`)
    const key = Buffer.from(whsec.slice('whsec_'.length), 'base64')
    const expected = mac('sha-256', key, `evt_1.${seconds}.${body}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  })

  test('an envelope holds what the plugins before it made of the data, if that is JSON', async () => {
    const context = outboundContext({ data: '{"card":"4242"}' })
    const config = { secrets: [whsec], envelope: true }
    const { body } = await sent(standardWebhooks, config, '{"card":"***"}', context)
    expect(body).toContain('"data":{"card":"***"}}')
    await expect(sent(standardWebhooks, config, 'card=***', context)).rejects.toThrow('not JSON')
  })

  test('makes one HMAC secret of 32 bytes when none is given, another each time', async () => {
    const one = (await written(standardWebhooks)) as { secrets: string[]; envelope: boolean }
    const other = (await written(standardWebhooks, { secrets: null })) as { secrets: string[] }
    expect(one.envelope).toBe(false)
    expect(one.secrets).toHaveLength(1)
    expect(one.secrets[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(other.secrets).not.toEqual(one.secrets)
  })

  test('takes 1 to 5 secrets', async () => {
    expect(await refusal(standardWebhooks, { secrets: [] })).toEqual({ secrets: 'minimum number of items is 1' })
    expect(await refusal(standardWebhooks, { secrets: Array(6).fill(whsec) })).toEqual({
      secrets: 'maximum number of items is 5',
    })
    expect(await refusal(standardWebhooks, { secrets: [whsec, whsk, whskSeed, whsec, whsec] })).toBeNull()
  })

  test.each([
    ['no prefix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['not base64', 'whsec_!!!!'],
    ['empty', 'whsec_'],
    ['23 bytes', hmacSecret(23)],
    ['65 bytes', hmacSecret(65)],
    ['a public key', 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='],
    ['a seed cut short', 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMQ=='],
  ])('refuses a secret at its place: %s', async (_, secret) => {
    expect(await refusal(standardWebhooks, { secrets: [whsec, secret] })).toEqual({ secrets: [null, rule] })
  })

  test('takes HMAC secrets of 24 to 64 bytes', async () => {
    expect(await refusal(standardWebhooks, { secrets: [hmacSecret(24), hmacSecret(64)] })).toBeNull()
  })

  test('stores an unpadded HMAC secret with its padding, which libraries of other languages need', async () => {
    for (const length of [24, 25, 26, 32]) {
      const padded = hmacSecret(length)
      expect(await written(standardWebhooks, { secrets: [padded.replace(/=+$/, ''), padded, whsk] })).toMatchObject({
        secrets: [padded, padded, whsk],
      })
    }
  })

  test('refuses a seed whose public key is another, for no receiver could verify its signatures', async () => {
    const seed = Buffer.from(whsk.slice('whsk_'.length), 'base64').subarray(0, 32)
    const wrong = `whsk_${Buffer.concat([seed, seed]).toString('base64')}`
    expect(await refusal(standardWebhooks, { secrets: [whsec, wrong, whsec] })).toEqual({ secrets: [null, rule] })
  })
})
