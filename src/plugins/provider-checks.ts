import type * as v from 'valibot'

import type { Awaitable } from '../contracts/awaitable.ts'
import type { Inbound } from '../contracts/request.ts'
import type { Platform } from '../contracts/platform.ts'
import { equalText } from '../core/constant-time.ts'
import { base64Of, bytesOf, hexOf, joinBytes } from '../core/encoding.ts'
import { freshness, unixSeconds } from '../core/freshness.ts'
import { standardContent, webhookxContent } from '../core/signed-content.ts'
import { standardKey, standardSignatures } from '../core/standard-keys.ts'
import type { ProviderConfigs, ProviderName } from './providers.ts'
import { headerSecretCheck } from './secret.ts'

/** Whether a request comes from the provider; a Response answers it without ingest. `now` is in milliseconds. */
type Verify = (request: Inbound, now: number) => Awaitable<boolean | Response>

/** How requests of a provider are checked under a config of it. */
type Check<Name extends ProviderName> = (
  config: v.InferOutput<ProviderConfigs[Name]>,
  platform: Platform,
) => Awaitable<Verify>

type Mac = (content: Uint8Array) => Awaitable<Uint8Array>

function macBy(secret: string, platform: Platform): Mac {
  const key = bytesOf(secret)
  return (content) => platform.hmac('sha-256', key, content)
}

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const github: Check<'github'> = (config, platform) => {
  const mac = macBy(config.secret, platform)
  return async ({ headers, body }) => {
    const given = headers.get('x-hub-signature-256')
    return given !== null && equalText(`sha256=${hexOf(await mac(body))}`, given.toLowerCase())
  }
}

/** https://docs.gitlab.com/user/project/integrations/webhooks/#create-a-webhook: the token is sent as it is. */
const gitlab: Check<'gitlab'> = async (config, platform) => {
  const matches = await headerSecretCheck(config.secret, platform)
  return ({ headers }) => matches(headers.get('x-gitlab-token'))
}

/** https://shopify.dev/docs/apps/build/webhooks/subscribe/https#step-2-validate-the-origin-of-your-webhook */
const shopify: Check<'shopify'> = (config, platform) => {
  const mac = macBy(config.secret, platform)
  return async ({ headers, body }) => {
    const given = headers.get('x-shopify-hmac-sha256')
    return given !== null && equalText(base64Of(await mac(body)), given)
  }
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const slack: Check<'slack'> = (config, platform) => {
  const mac = macBy(config.secret, platform)
  return async ({ headers, body }, now) => {
    const given = headers.get('x-slack-signature')
    const timestamp = headers.get('x-slack-request-timestamp')
    if (given === null || timestamp === null) return false
    if (!isRecent(unixSeconds(timestamp), now, config.tolerance_window)) return false
    const content = joinBytes(bytesOf(`v0:${timestamp}:`), body)
    return equalText(`v0=${hexOf(await mac(content))}`, given.toLowerCase())
  }
}

/** https://docs.stripe.com/webhooks#verify-manually */
const stripe: Check<'stripe'> = (config, platform) => {
  const mac = macBy(config.secret, platform)
  return async ({ headers, body }, now) => {
    const given = stripeSignature(headers.get('stripe-signature') ?? '')
    if (given === null || !isRecent(unixSeconds(given.timestamp), now, config.tolerance_window)) return false
    const expected = hexOf(await mac(webhookxContent(given.timestamp, body)))
    return given.v1.some((signature) => equalText(expected, signature.toLowerCase()))
  }
}

/** Reads `t=..,v1=..[,v1=..]`, other schemes aside; null when it is something else, such as two joined headers. */
function stripeSignature(header: string): { readonly timestamp: string; readonly v1: readonly string[] } | null {
  const items = header.split(',')
  if (!items.every((item) => /^\w+=\w+$/.test(item))) return null
  const of = (key: string) => items.filter((item) => item.startsWith(key)).map((item) => item.slice(key.length))
  const [timestamp, second] = of('t=')
  return timestamp === undefined || second !== undefined ? null : { timestamp, v1: of('v1=') }
}

/**
 * https://developer.zendesk.com/documentation/webhooks/verifying/: the timestamp is ISO 8601; unix seconds pass too.
 */
const zendesk: Check<'zendesk'> = (config, platform) => {
  const mac = macBy(config.secret, platform)
  return async ({ headers, body }, now) => {
    const given = headers.get('x-zendesk-webhook-signature')
    const timestamp = headers.get('x-zendesk-webhook-signature-timestamp')
    if (given === null || timestamp === null) return false
    if (!isRecent(unixSeconds(timestamp) ?? isoSeconds(timestamp), now, config.tolerance_window)) return false
    return equalText(base64Of(await mac(joinBytes(bytesOf(timestamp), body))), given)
  }
}

function isoSeconds(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text)) return null
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? null : Math.floor(millis / 1000)
}

/** https://www.standardwebhooks.com and, the same, https://platform.openai.com/docs/guides/webhooks */
const standardWebhooks: Check<'openai'> & Check<'standard-webhooks'> = (config, platform) => {
  const key = standardKey(config.secret)
  if (key?.kind !== 'hmac') throw new Error('not a whsec_ secret')
  return async ({ headers, body }, now) => {
    // Senders that began with Svix send only the header names of Svix.
    const header = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`)
    const id = header('id')
    const timestamp = header('timestamp')
    const given = standardSignatures(header('signature') ?? '')
    if (id === null || timestamp === null || given === null) return false
    if (!isRecent(unixSeconds(timestamp), now, config.tolerance_window)) return false
    const mac = await platform.hmac('sha-256', key.key, standardContent(id, timestamp, body))
    const expected = base64Of(mac)
    return given.v1.some((signature) => equalText(expected, signature))
  }
}

/**
 * https://developer.okta.com/docs/concepts/event-hooks/: a GET with a challenge proves to Okta that the address is ours;
 * events carry the shared secret in a header.
 */
const okta: Check<'okta'> = async ({ authentication_field, authentication_secret }, platform) => {
  const matches = await headerSecretCheck(authentication_secret, platform)
  return ({ method, headers }) => {
    const verification = headers.get('x-okta-verification-challenge')
    if (method === 'GET' && verification !== null) {
      const type = { 'content-type': 'application/json; charset=utf-8' }
      return new Response(JSON.stringify({ verification }), { headers: type })
    }
    return matches(headers.get(authentication_field))
  }
}

function isRecent(seconds: number | null, now: number, toleranceSeconds: number): boolean {
  return seconds !== null && freshness(seconds, now, toleranceSeconds) === 'fresh'
}

const checks: { readonly [Name in ProviderName]: Check<Name> } = {
  github,
  gitlab,
  okta,
  openai: standardWebhooks,
  shopify,
  slack,
  'standard-webhooks': standardWebhooks,
  stripe,
  zendesk,
}

/** The check of a provider under a config that has passed the provider's schema. */
export async function checkOf(provider: ProviderName, config: unknown, platform: Platform): Promise<Verify> {
  const check = checks[provider] as (config: unknown, platform: Platform) => Awaitable<Verify> // the schema paired them
  return await check(config, platform)
}
