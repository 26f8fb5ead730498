import { describe, expect, test } from 'vitest'

import type { HashName } from '../../src/contracts/platform.ts'
import { connectAuth } from '../../src/plugins/connect-auth.ts'
import { guard, inboundContext, inboundRequest, mac, now, platform, refusal, seconds, written } from './fixtures.ts'

type Headers = Record<string, string>

const body = '{"event_type":"a","data":{"n":1.0}}'
const secret = 'geheim'
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const sha256: HashName = 'sha-256'

function at(offset: number): string {
  return String(Number(seconds) + offset)
}

function standard(timestamp: string, key = whsec): Headers {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64')
  const signature = mac(sha256, bytes, `msg_1.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** What each provider sends with `body`: by its secret, and for those that sign the time, at some second. */
const senders: Record<string, { header: string; config: object; send: (timestamp: string, key?: string) => Headers }> =
  {
    github: {
      header: 'x-hub-signature-256',
      config: { secret },
      send: (_, key = secret) => ({ 'x-hub-signature-256': `sha256=${mac(sha256, key, body).digest('hex')}` }),
    },
    gitlab: { header: 'x-gitlab-token', config: { secret }, send: (_, key = secret) => ({ 'x-gitlab-token': key }) },
    okta: {
      header: 'authorization',
      config: { authentication_field: 'Authorization', authentication_secret: secret },
      send: (_, key = secret) => ({ authorization: key }),
    },
    openai: { header: 'webhook-signature', config: { secret: whsec }, send: standard },
    shopify: {
      header: 'x-shopify-hmac-sha256',
      config: { secret },
      send: (_, key = secret) => ({ 'x-shopify-hmac-sha256': mac(sha256, key, body).digest('base64') }),
    },
    slack: {
      header: 'x-slack-signature',
      config: { secret },
      send: (timestamp, key = secret) => ({
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${mac(sha256, key, `v0:${timestamp}:${body}`).digest('hex')}`,
      }),
    },
    'standard-webhooks': { header: 'webhook-signature', config: { secret: whsec }, send: standard },
    stripe: {
      header: 'stripe-signature',
      config: { secret },
      send: (timestamp, key = secret) => ({
        'stripe-signature': `t=${timestamp},v1=${mac(sha256, key, `${timestamp}.${body}`).digest('hex')}`,
      }),
    },
    zendesk: {
      header: 'x-zendesk-webhook-signature',
      config: { secret },
      send: (timestamp, key = secret) => ({
        'x-zendesk-webhook-signature-timestamp': timestamp,
        'x-zendesk-webhook-signature': mac(sha256, key, timestamp + body).digest('base64'),
      }),
    },
  }
const signTheTime = ['openai', 'slack', 'standard-webhooks', 'stripe', 'zendesk']
const signTheBody = [...signTheTime, 'github', 'shopify']

function guardOf(provider: string, config: object = {}, context = inboundContext()) {
  const provider_config = { ...senders[provider]!.config, ...config }
  return guard(connectAuth, { provider, provider_config }, context)
}

describe.each(Object.keys(senders))('connect-auth for %s', (provider) => {
  const { header, send } = senders[provider]!
  const signed = send(seconds)

  test('lets a request pass that the provider made', async () => {
    const deliver = await guardOf(provider)
    expect(await deliver({ headers: signed, body })).toBe(200)
  })

  const given = signed[header]!
  test.each([
    ['nothing', { [header]: undefined }],
    ['an empty value', { [header]: '' }],
    ['a value cut short', { [header]: given.slice(0, -1) }],
    ['a value and more', { [header]: `${given}A` }],
    ['a huge value', { [header]: given.repeat(3000) }],
    ['foreign characters', { [header]: 'é'.repeat(given.length) }],
    ['what another secret makes', send(seconds, provider.startsWith('o') ? `${whsec.slice(0, -1)}x` : 'other')],
  ])('answers 401 to %s', async (_, change) => {
    const headers = Object.entries({ ...signed, ...change }).filter(([, value]) => value !== undefined)
    const deliver = await guardOf(provider)
    expect(await deliver({ headers: headers as [string, string][], body })).toBe(401)
  })

  test('answers 401 to a header that stands twice', async () => {
    const deliver = await guardOf(provider)
    for (const name of Object.keys(signed)) {
      const headers = [...Object.entries(signed), [name, signed[name]!] as const]
      expect(await deliver({ headers, body })).toBe(401)
    }
  })
})

test.each(signTheBody)('connect-auth for %s answers 401 to another body', async (provider) => {
  const deliver = await guardOf(provider)
  expect(await deliver({ headers: senders[provider]!.send(seconds), body: `${body} ` })).toBe(401)
  expect(await deliver({ headers: senders[provider]!.send(seconds), body: '' })).toBe(401)
})

describe.each(signTheTime)('connect-auth for %s, which signs the time', (provider) => {
  const { send } = senders[provider]!

  test('takes signatures of 300 seconds before and after', async () => {
    const deliver = await guardOf(provider)
    expect(await deliver({ headers: send(at(-300)), body })).toBe(200)
    expect(await deliver({ headers: send(at(300)), body })).toBe(200)
    expect(await deliver({ headers: send(at(-301)), body })).toBe(401)
    expect(await deliver({ headers: send(at(301)), body })).toBe(401)
  })

  test('takes another window, or none', async () => {
    const narrow = await guardOf(provider, { tolerance_window: 5 })
    expect(await narrow({ headers: send(at(-5)), body })).toBe(200)
    expect(await narrow({ headers: send(at(-6)), body })).toBe(401)
    const open = await guardOf(provider, { tolerance_window: 0 })
    expect(await open({ headers: send('1'), body })).toBe(200)
    expect(await open({ headers: send(at(1_000_000)), body })).toBe(200)
  })

  test.each(['', 'soon', '1e3', '-1', '0x10', ' ', 'NaN', '9'.repeat(40)])(
    'answers 401 to the timestamp "%s", even where no window is set',
    async (timestamp) => {
      const deliver = await guardOf(provider, { tolerance_window: 0 })
      expect(await deliver({ headers: send(timestamp), body })).toBe(401)
    },
  )

  test('answers 401 to a signature of another time', async () => {
    const deliver = await guardOf(provider)
    const [earlier, later] = [send(at(-1)), send(seconds)]
    const mixed = Object.fromEntries(
      Object.keys(later).map((name) => [name, name.endsWith('timestamp') ? earlier[name]! : later[name]!]),
    )
    if (provider === 'stripe') mixed['stripe-signature'] = later['stripe-signature']!.replace(seconds, at(-1))
    expect(await deliver({ headers: mixed, body })).toBe(401)
  })
})

describe('connect-auth takes what the providers document', () => {
  async function passes(
    provider: string,
    config: object,
    headers: Headers,
    sent: string,
    when = now,
  ): Promise<boolean> {
    const deliver = await guard(connectAuth, { provider, provider_config: config }, inboundContext(when))
    return (await deliver({ headers, body: sent })) === 200
  }

  test('github: the example of its documentation', async () => {
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    }
    expect(await passes('github', { secret: "It's a Secret to Everybody" }, headers, 'Hello, World!')).toBe(true)
  })

  test('slack: the example of its documentation', async () => {
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    }
    const form =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
      '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const config = { secret: '8f742231b10e8888abcd99yyyzzz85a5' }
    expect(await passes('slack', config, headers, form, 1_531_420_618_000)).toBe(true)
  })

  test('zendesk: its timestamps are ISO 8601, and stale when they are old', async () => {
    const timestamp = '2021-07-25T10:00:00Z'
    const headers = {
      'x-zendesk-webhook-signature-timestamp': timestamp,
      'x-zendesk-webhook-signature': mac(sha256, secret, timestamp + body).digest('base64'),
    }
    const then = Date.parse(timestamp)
    expect(await passes('zendesk', { secret }, headers, body, then)).toBe(true)
    expect(await passes('zendesk', { secret }, headers, body, then + 301_000)).toBe(false)
    expect(await passes('zendesk', { secret }, headers, body, then - 301_000)).toBe(false)
  })

  test('standard-webhooks: the example that its libraries test', async () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    for (const provider of ['standard-webhooks', 'openai']) {
      expect(await passes(provider, { secret: whsec }, headers, '{"test": 2432232314}', 1_614_265_330_000)).toBe(true)
    }
  })

  test('standard-webhooks: the header names of Svix are read where the own ones are missing', async () => {
    const headers = Object.fromEntries(
      Object.entries(standard(seconds)).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
    )
    for (const provider of ['standard-webhooks', 'openai']) {
      expect(await passes(provider, { secret: whsec }, headers, body)).toBe(true)
      expect(await passes(provider, { secret: whsec }, headers, `${body} `)).toBe(false)
    }
  })

  test('standard-webhooks: a whsec_ secret is stored with its padding', async () => {
    const padded = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const unpadded = { provider: 'openai', provider_config: { secret: padded.replace(/=+$/, '') } }
    expect(await written(connectAuth, unpadded)).toMatchObject({ provider_config: { secret: padded } })
  })

  test('standard-webhooks: any of several signatures, whatever versions stand beside', async () => {
    const headers = standard(seconds)
    const signatures = ['v1a,AAAA', `v1,${'A'.repeat(43)}=`, headers['webhook-signature'], 'v2,anything']
    expect(
      await passes('openai', { secret: whsec }, { ...headers, 'webhook-signature': signatures.join(' ') }, body),
    ).toBe(true)
  })

  test('standard-webhooks: a signature of version v1a is none of HMAC', async () => {
    const headers = standard(seconds)
    const relabelled = headers['webhook-signature']!.replace('v1,', 'v1a,')
    expect(await passes('openai', { secret: whsec }, { ...headers, 'webhook-signature': relabelled }, body)).toBe(false)
  })

  test('stripe: any of several v1 signatures counts, other schemes do not', async () => {
    const signature = mac(sha256, secret, `${seconds}.${body}`).digest('hex')
    const rolled = `t=${seconds},v1=${'0'.repeat(64)},v1=${signature},v0=${'1'.repeat(64)}`
    expect(await passes('stripe', { secret }, { 'stripe-signature': rolled }, body)).toBe(true)
    expect(await passes('stripe', { secret }, { 'stripe-signature': `t=${seconds},v0=${signature}` }, body)).toBe(false)
    expect(await passes('stripe', { secret }, { 'stripe-signature': `v1=${signature}` }, body)).toBe(false)
    expect(await passes('stripe', { secret }, { 'stripe-signature': `t=${seconds}` }, body)).toBe(false)
  })

  test('okta: a GET with a challenge is answered with it and goes no further', async () => {
    const config = await written(connectAuth, { provider: 'okta', provider_config: senders['okta']!.config })
    const plugin = await connectAuth.prepare(config as never, platform)
    const challenge = inboundRequest({ method: 'GET', headers: { 'X-Okta-Verification-Challenge': 'Me_rShK8"' } })
    const answer = (await plugin.inbound!(challenge, inboundContext())) as Response
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await answer.text()).toBe('{"verification":"Me_rShK8\\""}')
  })

  test('okta: a challenge on any other method lets nobody in', async () => {
    const deliver = await guardOf('okta')
    expect(await deliver({ headers: { 'x-okta-verification-challenge': 'a' }, body })).toBe(401)
    expect(await deliver({ method: 'GET' })).toBe(401)
  })
})

describe('the config of connect-auth', () => {
  const names = Object.keys(senders).toSorted()

  test('names the providers there are', async () => {
    const reason = `value is not one of the allowed values ${JSON.stringify(names)}`
    expect(await refusal(connectAuth, { provider: 'x', provider_config: {} })).toEqual({ provider: reason })
    expect(await refusal(connectAuth, { provider: 'constructor', provider_config: {} })).toEqual({ provider: reason })
    expect(await refusal(connectAuth, {})).toEqual({
      provider: 'required field missing',
      provider_config: 'required field missing',
    })
  })

  test('has the keys of the provider and no others', async () => {
    expect(await refusal(connectAuth, { provider: 'github', provider_config: { tolerance_window: 1 } })).toEqual({
      provider_config: { secret: 'required field missing', tolerance_window: 'property is unsupported' },
    })
    expect(await refusal(connectAuth, { provider: 'okta', provider_config: { secret } })).toEqual({
      provider_config: {
        authentication_field: 'required field missing',
        authentication_secret: 'required field missing',
        secret: 'property is unsupported',
      },
    })
    expect(
      await refusal(connectAuth, { provider: 'stripe', provider_config: { secret: '', tolerance_window: -1 } }),
    ).toEqual({
      provider_config: { secret: 'minimum string length is 1', tolerance_window: 'number must be at least 0' },
    })
    expect(await refusal(connectAuth, { provider: 'gitlab', provider_config: 'secret' })).toEqual({
      provider_config: 'value must be an object',
    })
  })

  test.each(['openai', 'standard-webhooks'])('of %s has a whsec_ secret', async (provider) => {
    for (const wrong of ['geheim', 'whsec_', 'whsec_!', whsec.replace('whsec_', 'whpk_')]) {
      expect(await refusal(connectAuth, { provider, provider_config: { secret: wrong } })).toEqual({
        provider_config: { secret: 'value must be whsec_ followed by base64' },
      })
    }
  })

  test('has a tolerance of 300 seconds', async () => {
    expect(await written(connectAuth, { provider: 'slack', provider_config: { secret } })).toEqual({
      provider: 'slack',
      provider_config: { secret, tolerance_window: 300 },
    })
  })
})
