import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { createPosthorn, definePlugin } from '../../adapters/node/index.ts'
import type { Outbound } from '../../src/contracts/request.ts'
import { connectAuth } from '../../src/plugins/connect-auth.ts'
import { providers } from '../../src/plugins/providers.ts'
import { verifyWebhook } from '../../src/verify.ts'
import { guard, mac } from './fixtures.ts'

const shout = definePlugin({
  name: 'shout',
  sides: ['inbound', 'outbound'],
  config: v.object({}),
  prepare: () => ({
    outbound: (request) => ({ ...request, body: request.body?.toUpperCase() ?? null }),
  }),
})

/** An instance whose deliveries are kept instead of sent. */
function instance() {
  const sent: Outbound[] = []
  const posthorn = createPosthorn({
    plugins: [shout],
    http: {
      send: async (request) => {
        sent.push(request)
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true }
      },
    },
  })
  return { posthorn, sent }
}

describe('plugins in an instance', () => {
  test('a delivery is changed, then signed, and its receiver verifies both signatures with the secrets made for it', async () => {
    const { posthorn, sent } = instance()
    const endpoint = await posthorn.endpoints.create('default', {
      request: { url: 'https://example.com/in' },
      events: ['*'],
    })
    const add = (name: 'webhookx-signature' | 'standard-webhooks' | 'shout', config = {}) =>
      posthorn.plugins.create('default', { name, endpoint_id: endpoint.id, config })
    const webhookx = await add('webhookx-signature')
    const standard = await add('standard-webhooks', { envelope: true })
    await add('shout')
    await posthorn.events.create('default', { event_type: 'order.paid', data: { name: 'zoë' } })
    await posthorn.drain()

    const [{ headers, body }] = sent as [Outbound]
    const received = { headers, body: body! }
    const payload = { type: 'order.paid', timestamp: expect.any(String) as string, data: { NAME: 'ZOË' } }
    const { secrets } = standard.config as { secrets: string[] }
    const { signing_secret } = webhookx.config as { signing_secret: string }
    expect(await verifyWebhook(received, secrets)).toEqual(payload)
    expect(await verifyWebhook(received, signing_secret)).toEqual(payload)
  })

  test('a guarded source lets no one in without the secret, and stores nothing of theirs', async () => {
    const { posthorn } = instance()
    const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
    await posthorn.plugins.create('default', {
      name: 'hmac-auth',
      source_id: source.id,
      config: { signature_header: 'x-signature', secret: 'geheim' },
    })
    const body = '{"event_type":"order.paid","data":{"n":1}}'
    const post = (headers: Record<string, string>) =>
      posthorn.gateway.fetch(new Request('http://127.0.0.1/in', { method: 'POST', headers, body }))

    const refused = await post({})
    expect(refused.status).toBe(401)
    expect(await refused.text()).toBe('{"message":"Unauthorized"}')
    expect((await post({ 'x-signature': mac('sha-256', 'other', body).digest('hex') })).status).toBe(401)
    expect((await post({ 'x-signature': mac('sha-256', 'geheim', body).digest('hex') })).status).toBe(200)
    const stored = await posthorn.events.list('default')
    expect(stored.data.map(({ data }) => data)).toEqual([{ n: 1 }])
  })

  test('a config is refused at its places', async () => {
    const { posthorn } = instance()
    const source = await posthorn.sources.create('default', { config: {} })
    const plugin = {
      name: 'connect-auth',
      source_id: source.id,
      config: { provider: 'github', provider_config: { token: 'x' } },
    }
    // @ts-expect-error GitHub is known by a secret
    await expect(posthorn.plugins.create('default', plugin)).rejects.toMatchObject({
      code: 'validation',
      fields: {
        config: { provider_config: { secret: 'required field missing', token: 'property is unsupported' } },
      },
    })
  })
})

test.each(Object.keys(providers))('connect-auth for %s answers 401 to whatever strangers send', async (provider) => {
  const provider_config =
    provider === 'okta'
      ? { authentication_field: 'authorization', authentication_secret: 'geheim' }
      : { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
  const deliver = await guard(connectAuth, { provider, provider_config })
  const names = [
    'authorization',
    'stripe-signature',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
    'x-gitlab-token',
    'x-hub-signature-256',
    'x-okta-verification-challenge',
    'x-shopify-hmac-sha256',
    'x-slack-request-timestamp',
    'x-slack-signature',
    'x-zendesk-webhook-signature',
    'x-zendesk-webhook-signature-timestamp',
  ]
  const part = fc.constantFrom('v1', 'v1a', 'v0', 't', '=', ',', ' ', 'sha256', '1726285679', 'AAAA', '-', '.', 'é', '')
  const value = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))
  const headers = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(headers, fc.uint8Array(), async (given, body) => {
      expect(await deliver({ headers: given, body })).toBe(401)
    }),
  )
})
