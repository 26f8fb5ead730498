import { createHmac } from 'node:crypto'

import { sign as signAsGitHub } from '@octokit/webhooks-methods'
import { isValidSlackRequest } from '@slack/bolt'
// oxlint-disable-next-line import/no-unassigned-import -- tells the library on which runtime it is
import '@shopify/shopify-api/adapters/web-api'
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api'
import OpenAI from 'openai'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'

import { connectAuth } from '../../src/plugins/connect-auth.ts'
import { standardWebhooks } from '../../src/plugins/standard-webhooks.ts'
import { webhookxSignature } from '../../src/plugins/webhookx-signature.ts'
import { verifyWebhook } from '../../src/verify.ts'
import { guard, inboundContext, outboundContext, sent } from '../plugins/fixtures.ts'

// The published libraries keep the time themselves, so these tests are signed now.
const now = Date.now()
const seconds = Math.floor(now / 1000)
const secret = 'a secret of the provider'
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const otherWhsec = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

const bodies = [
  ['a number that a round trip changes', '{"n":1.0}'],
  ['text beyond ASCII', '{"name":"Zoë 🐎"}'],
  ['spaces', ' { "spaces" : "kept"\n}'],
  ['100 KB', `{"long":"${'x'.repeat(100_000)}"}`],
] as const

type Headers = Record<string, string>

async function status(provider: string, config: object, headers: Headers, body: string): Promise<number> {
  const deliver = await guard(connectAuth, { provider, provider_config: config }, inboundContext(now))
  return deliver({ headers, body })
}

/** The headers of a delivery made now. */
async function delivery(kind: Parameters<typeof sent>[0], config: Headers | { secrets: string[] }, body: string) {
  return (await sent(kind, config, body, { ...outboundContext({ data: body }), now })).headers
}

describe.each(bodies)('theirs pass our connect-auth: %s', (_name, body) => {
  test('github, signed by @octokit/webhooks-methods', async () => {
    const headers = { 'x-hub-signature-256': await signAsGitHub(secret, body) }
    expect(await status('github', { secret }, headers, body)).toBe(200)
    expect(await status('github', { secret: 'other' }, headers, body)).toBe(401)
  })

  test('stripe, signed by stripe', async () => {
    const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds })
    expect(await status('stripe', { secret }, { 'stripe-signature': header }, body)).toBe(200)
    const stale = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds - 301 })
    expect(await status('stripe', { secret }, { 'stripe-signature': stale }, body)).toBe(401)
  })

  test.each([
    ['svix', SvixWebhook],
    ['standardwebhooks', StandardWebhook],
  ])('standard-webhooks and openai, signed by %s', async (_, Library) => {
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(seconds),
      'webhook-signature': new Library(whsec).sign('msg_1', new Date(seconds * 1000), body),
    }
    for (const provider of ['standard-webhooks', 'openai']) {
      expect(await status(provider, { secret: whsec }, headers, body)).toBe(200)
      expect(await status(provider, { secret: otherWhsec }, headers, body)).toBe(401)
    }
    expect(await verifyWebhook({ headers, body }, whsec)).toEqual(JSON.parse(body))
  })

  test('slack, where @slack/bolt takes the same requests and no others', async () => {
    const signature = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')
    for (const [given, expected] of [
      [`v0=${signature}`, true],
      [`v0=${signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}`, false],
    ] as const) {
      const headers = { 'x-slack-signature': given, 'x-slack-request-timestamp': String(seconds) }
      const theirs = { 'x-slack-signature': given, 'x-slack-request-timestamp': seconds }
      expect(isValidSlackRequest({ signingSecret: secret, body, headers: theirs })).toBe(expected)
      expect(await status('slack', { secret }, headers, body)).toBe(expected ? 200 : 401)
    }
  })

  test('shopify, where @shopify/shopify-api takes the same requests and no others', async () => {
    const { webhooks } = shopifyApi({
      apiKey: 'key',
      apiSecretKey: secret,
      apiVersion: Object.values(ApiVersion).at(-1)!,
      hostName: 'example.com',
      isEmbeddedApp: false,
      logger: { level: LogSeverity.Error },
    })
    const digest = createHmac('sha256', secret).update(body).digest('base64')
    for (const [given, expected] of [
      [digest, true],
      [createHmac('sha256', 'other').update(body).digest('base64'), false],
    ] as const) {
      const headers = {
        'x-shopify-hmac-sha256': given,
        'x-shopify-topic': 'orders/create',
        'x-shopify-shop-domain': 'example.myshopify.com',
        'x-shopify-api-version': '2026-01',
        'x-shopify-webhook-id': 'w1',
      }
      const rawRequest = new Request('https://example.com/in', { method: 'POST', headers, body })
      const { valid } = await webhooks.validate({ rawBody: body, rawRequest })
      expect(valid).toBe(expected)
      expect(await status('shopify', { secret }, headers, body)).toBe(expected ? 200 : 401)
    }
  })
})

describe.each(bodies)('ours verify with theirs: %s', (_name, body) => {
  test.each([
    ['svix', SvixWebhook],
    ['standardwebhooks', StandardWebhook],
  ])('standard-webhooks with %s, also while keys rotate', async (_, Library) => {
    const headers = await delivery(standardWebhooks, { secrets: [otherWhsec, whsec] }, body)
    expect(new Library(whsec).verify(body, headers)).toEqual(JSON.parse(body))
    expect(new Library(otherWhsec).verify(body, headers)).toEqual(JSON.parse(body))
    const strange = new Library(`whsec_${Buffer.alloc(32, 1).toString('base64')}`)
    expect(() => strange.verify(body, headers)).toThrow('No matching signature found')
  })

  test('standard-webhooks with openai', async () => {
    const { webhooks } = new OpenAI({ apiKey: 'unused' })
    const headers = await delivery(standardWebhooks, { secrets: [whsec] }, body)
    await expect(webhooks.verifySignature(body, headers, whsec)).resolves.toBeUndefined()
    await expect(webhooks.verifySignature(`${body} `, headers, whsec)).rejects.toThrow('does not match')
  })

  test('webhookx-signature with stripe, which signs the same content', async () => {
    const headers = await delivery(webhookxSignature, { signing_secret: secret }, body)
    const header = `t=${headers['webhookx-timestamp']},${headers['webhookx-signature']}`
    expect(Stripe.webhooks.signature?.verifyHeader(body, header, secret, 300)).toBe(true)
  })
})
