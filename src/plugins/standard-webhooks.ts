import * as v from 'valibot'

import type { Awaitable } from '../contracts/awaitable.ts'
import { definePlugin, type OutboundContext } from '../contracts/plugin.ts'
import type { Outbound } from '../contracts/request.ts'
import type { Platform } from '../contracts/platform.ts'
import { allOf, goOn } from '../core/awaitable.ts'
import { signEd25519, signingKey, verifyEd25519 } from '../core/ed25519.ts'
import { base64Of, bytesOf } from '../core/encoding.ts'
import { withHeaders } from '../core/request.ts'
import { standardContent } from '../core/signed-content.ts'
import { paddedKey, type StandardKey, standardKey } from '../core/standard-keys.ts'
import { secretsOf } from '../core/expiring-secrets.ts'
import { flag, integer, isPlainObject, list, object, orNull, text, withDefault } from '../schema/fields.ts'

const secretRule = 'value must be whsec_ or whsk_ followed by base64'

/** Why a text is no signing secret, or null. An HMAC key has 24 to 64 bytes, as the specification wants it. */
function secretProblem(value: string): string | null {
  const key = standardKey(value)
  if (key === null || key.kind === 'public') return secretRule
  return key.kind === 'hmac' && (key.key.length < 24 || key.key.length > 64) ? secretRule : null
}

const signing = v.pipe(text({ rule: secretProblem }), v.transform(paddedKey))
const ending = object({ secret: signing, expires_at: orNull(integer({ min: 0 })) })

/** A secret that stays is written as a text. */
const item = v.pipe(
  v.lazy((input) => (isPlainObject(input) ? ending : signing)),
  v.transform((given) => (typeof given === 'string' || given.expires_at !== null ? given : given.secret)),
) as v.GenericSchema<unknown, string | { readonly secret: string; readonly expires_at: number }> // as just made

/** At least one secret must have no end, or a day would come on which nothing signs. */
const secrets = v.pipe(
  list(item, { min: 1, max: 5 }),
  v.check(
    (given) => given.length === 0 || given.some((each) => typeof each === 'string'),
    'one secret must have no expires_at',
  ),
)

/**
 * Signs deliveries as https://www.standardwebhooks.com defines: `webhook-id`, `webhook-timestamp`, and in
 * `webhook-signature` one signature for each secret, so that keys rotate without downtime. A `whsec_` secret makes `v1`
 * signatures (HMAC-SHA256) and is stored with its padding; a `whsk_` secret makes `v1a` signatures (Ed25519). An HMAC
 * secret is made when no secret is given. A secret that is written as `{ secret, expires_at }` signs until that time,
 * unix milliseconds. With `envelope` the body is `{"type","timestamp","data"}`, the same on every try.
 */
export const standardWebhooks = definePlugin({
  name: 'standard-webhooks',
  sides: ['outbound'],
  secrets: ['secrets[]'],
  config: object({
    secrets,
    envelope: withDefault(flag(), false),
  }),
  fill: (config, platform) => ({
    ...config,
    secrets: config['secrets'] ?? [`whsec_${base64Of(platform.randomBytes(32))}`],
  }),
  async verify(config) {
    const reasons = await Promise.all(
      config.secrets.map(async (given) => {
        if (typeof given === 'string') return (await isPair(given)) ? null : secretRule
        return (await isPair(given.secret)) ? null : { secret: secretRule }
      }),
    )
    const last = reasons.findLastIndex((reason) => reason !== null)
    return last === -1 ? null : { secrets: reasons.slice(0, last + 1) }
  },
  async prepare({ envelope, ...config }, platform) {
    const given = secretsOf(config)
    const signers = await Promise.all(given.map(({ secret }) => signer(secret, platform)))
    const ends = given.some(({ expires_at }) => expires_at !== null)
    const aliveAt = (now: number) => signers.filter((_, i) => (given[i]!.expires_at ?? Infinity) > now) // as many
    return {
      outbound(request, context) {
        const { event } = context
        const body = envelope ? enveloped(request, context) : request.body
        const timestamp = String(Math.floor(context.now / 1000))
        const content = standardContent(event.id, timestamp, body ?? '')
        const unsigned = body === request.body ? request : { ...request, body }
        return goOn(allOf((ends ? aliveAt(context.now) : signers).map((sign) => sign(content))), (signatures) =>
          withHeaders(unsigned, {
            'webhook-id': event.id,
            'webhook-timestamp': timestamp,
            'webhook-signature': signatures.join(' '),
          }),
        )
      },
    }
  },
})

async function signer(secret: string, platform: Platform): Promise<(content: string) => Awaitable<string>> {
  const key = signingSecret(secret)
  if (key.kind === 'hmac') {
    return (content) => goOn(platform.hmac('sha-256', key.key, content), (mac) => `v1,${base64Of(mac)}`)
  }
  const cryptoKey = await signingKey(key.seed)
  return async (content) => `v1a,${base64Of(await signEd25519(cryptoKey, bytesOf(content)))}`
}

function signingSecret(secret: string): Exclude<StandardKey, { kind: 'public' }> {
  const key = standardKey(secret)
  if (key === null || key.kind === 'public') throw new Error(secretRule)
  return key
}

/** Whether the public key that a `whsk_` secret carries, if any, verifies what the seed of the secret signs. */
async function isPair(secret: string): Promise<boolean> {
  const key = signingSecret(secret)
  if (key.kind === 'hmac' || key.publicKey === null) return true
  const sample = bytesOf('pair')
  return verifyEd25519(key.publicKey, await signEd25519(await signingKey(key.seed), sample), sample)
}

/** The body put into an envelope, as it stands: what a plugin masked before stays masked. */
function enveloped({ body }: Outbound, { event }: OutboundContext): string | null {
  if (body === null) return null
  if (body !== event.data && !isJson(body)) throw new Error('a body that is not JSON cannot be put into an envelope')
  const timestamp = new Date(event.ingested_at).toISOString()
  return `{"type":${JSON.stringify(event.event_type)},"timestamp":"${timestamp}","data":${body}}`
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
