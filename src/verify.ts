import { systemClock } from './clock.ts'
import { equalText } from './core/constant-time.ts'
import { verifyEd25519 } from './core/ed25519.ts'
import { base64Of, bytesOf, bytesOfBase64, type Bytes, hexOf } from './core/encoding.ts'
import { freshness, unixSeconds } from './core/freshness.ts'
import { standardContent, webhookxContent } from './core/signed-content.ts'
import { standardKey, standardSignatures } from './core/standard-keys.ts'

// For receivers of webhooks: a function that needs web standards only, and nothing else of Posthorn.

/** Why a request is not taken for a webhook of the sender. */
export type VerificationCode =
  /** No signature header of a scheme for which a secret is given, or no id or timestamp beside the signature. */
  | 'missing_header'
  /** A header exists, but its form is wrong; or no signature in the header is of a known version. */
  | 'malformed_header'
  /** The body is signed, but it is not JSON. `parse: false` takes such a body. */
  | 'malformed'
  /** Signed longer ago than the tolerance. */
  | 'stale'
  /** Signed further ahead than the tolerance. */
  | 'future'
  /** No signature was made with any of the secrets over this body. */
  | 'mismatch'
  /** A secret given to `verifyWebhook` cannot be meant: a mistake of the receiver, not of the sender. */
  | 'invalid_secret'
  /** `toleranceSeconds`, `now` or `parse` has a value that cannot be meant: a mistake of the receiver too. */
  | 'invalid_options'

/** Why `verifyWebhook` takes a request for no webhook of the sender. */
export class WebhookVerificationError extends Error {
  /** The reason, for a program to switch on. */
  readonly code: VerificationCode

  constructor(code: VerificationCode, message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.code = code
  }
}

/**
 * What was received, for hosts without a `Request`: the headers as Node has them will do, the body must be as it came.
 */
export interface ReceivedWebhook {
  /** Headers, whatever the case of their names. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as it came, not what was parsed of it. */
  readonly body: string | Uint8Array
}

export interface VerifyOptions {
  /** How old a signature may be, and how far ahead, in seconds: a finite number from 0. 0 takes any age. Default 300. */
  readonly toleranceSeconds?: number
  /** Unix milliseconds, a finite number. Default: the system's time. */
  readonly now?: number
  /** Whether the body is parsed as JSON. False answers the bytes of the body, whatever they are. Default true. */
  readonly parse?: boolean
}

/**
 * Answers the payload of a webhook that was signed with one of the secrets; `undefined` when it has no body.
 *
 * A secret is `whsec_...` (Standard Webhooks, HMAC), `whpk_...` (Standard Webhooks, the public key of Ed25519), or any
 * other text, which counts as a secret of webhookx-signature. The key of a secret has at least 16 bytes, and no blanks
 * stand around the secret. While a key is exchanged, give the old key and the new key. A `Request` is read to its end:
 * pass `request.clone()` to keep it. Requests may come twice: `webhook-id` is the same then. Where a `webhook-` header
 * is missing, the header of Svix is read: `svix-id`, `svix-timestamp`, `svix-signature`.
 *
 * @throws WebhookVerificationError whose `code` tells why; answer the sender 401.
 * @example const invoice = await verifyWebhook(request, process.env.WEBHOOK_SECRET)
 */
export async function verifyWebhook(
  received: Request | ReceivedWebhook,
  secrets: string | readonly string[],
  options: VerifyOptions & { readonly parse: false },
): Promise<Uint8Array>
export async function verifyWebhook<Payload = unknown>(
  received: Request | ReceivedWebhook,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): Promise<Payload>
export async function verifyWebhook(
  received: Request | ReceivedWebhook,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = systemClock().now(), parse = true }: VerifyOptions = {},
): Promise<unknown> {
  checkOptions({ toleranceSeconds, now, parse })
  const keys = keysOf(typeof secrets === 'string' ? [secrets] : secrets)
  const header = headerReader(received.headers)
  const body = await bodyOf(received)
  // Where both signatures are sent, the signature of Standard Webhooks counts if a key for it is given.
  const standard =
    keys.standard.length > 0 && (standardHeader(header, 'signature') !== null || keys.webhookx.length === 0)
  const claim = standard ? readStandard(header) : readWebhookx(header)

  const age = freshness(claim.seconds, now, toleranceSeconds)
  if (age === 'stale') throw new WebhookVerificationError('stale', 'the signature is too old')
  if (age === 'future') throw new WebhookVerificationError('future', 'the signature is from the future')

  for (const key of standard ? keys.standard : keys.webhookx) {
    if (await claim.isSignedBy(key, body)) return parse ? payloadOf(body) : body
  }
  throw new WebhookVerificationError('mismatch', 'no signature matches')
}

/** Refuses options that would let every signature pass, such as the number of an environment variable that is missing. */
function checkOptions({ toleranceSeconds, now, parse }: Required<VerifyOptions>): void {
  const refuse = (rule: string) => new WebhookVerificationError('invalid_options', rule)
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw refuse('toleranceSeconds must be a finite number of at least 0')
  }
  if (!Number.isFinite(now)) throw refuse('now must be a finite number of milliseconds')
  if (typeof parse !== 'boolean') throw refuse('parse must be true or false')
}

type Key = { readonly kind: 'hmac' | 'public'; readonly key: Bytes }

/** What the headers of a request say of its signature. */
interface Claim {
  readonly seconds: number
  isSignedBy(key: Key, body: Uint8Array): Promise<boolean>
}

/** A shorter key could be guessed, or is not the key that is meant. */
const minKeyBytes = 16

function invalidSecret(rule: string): WebhookVerificationError {
  return new WebhookVerificationError('invalid_secret', rule)
}

/**
 * Keys by scheme. A key of one scheme is never tried in the other scheme: a public key must not be taken for an HMAC
 * secret.
 */
function keysOf(secrets: readonly string[]): { readonly standard: readonly Key[]; readonly webhookx: readonly Key[] } {
  const standard: Key[] = []
  const webhookx: Key[] = []
  if (!Array.isArray(secrets) || secrets.length === 0) throw invalidSecret('there is no secret')
  for (const secret of secrets) {
    const key = keyOf(secret)
    if (/^wh(sec|pk)_/.test(secret)) standard.push(key)
    else webhookx.push(key)
  }
  return { standard, webhookx }
}

function keyOf(secret: string): Key {
  if (typeof secret !== 'string') throw invalidSecret('a secret must be a text')
  if (secret.trim() !== secret) throw invalidSecret('a secret must have no blanks around it')
  const key: Key | null = /^wh(sec|pk|sk)_/.test(secret) ? verifyingKey(secret) : { kind: 'hmac', key: bytesOf(secret) }
  if (key === null) throw invalidSecret('a secret must be whsec_ or whpk_ followed by base64')
  if (key.key.length < minKeyBytes) throw invalidSecret(`the key of a secret must have at least ${minKeyBytes} bytes`)
  return key
}

function verifyingKey(secret: string): Key | null {
  const key = standardKey(secret)
  return key === null || key.kind === 'signing' ? null : key
}

type HeaderReader = (name: string) => string | null

/** Reads headers whatever the case of their names; a header that stands twice is joined, as `Headers` does. */
function headerReader(headers: ReceivedWebhook['headers']): HeaderReader {
  if (isHeaders(headers)) return (name) => headers.get(name)
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return (name) => {
    const values = entries.flatMap(([key, value]) => (key === name && value !== undefined ? value : []))
    return values.length === 0 ? null : values.join(', ')
  }
}

// By shape, not by class: frameworks and test environments bring Request and Headers of their own.
function isHeaders(headers: ReceivedWebhook['headers']): headers is Headers {
  return 'get' in headers && typeof headers.get === 'function'
}

async function bodyOf(received: Request | ReceivedWebhook): Promise<Uint8Array> {
  if ('arrayBuffer' in received) return new Uint8Array(await received.arrayBuffer())
  if (typeof received.body === 'string') return bytesOf(received.body)
  if (received.body instanceof Uint8Array) return received.body
  throw new TypeError('body must be the text or bytes as received, not what was parsed of them')
}

/** A header of Standard Webhooks, under the name that Svix gives it where the standard's own is missing. */
function standardHeader(header: HeaderReader, name: string): string | null {
  return header(`webhook-${name}`) ?? header(`svix-${name}`)
}

function required(header: HeaderReader, name: string): string {
  const value = header(name)
  if (value === null) throw new WebhookVerificationError('missing_header', `header ${name} is missing`)
  return value
}

function timestampOf(header: HeaderReader, name: string): { readonly text: string; readonly seconds: number } {
  const text = required(header, name)
  const seconds = unixSeconds(text)
  if (seconds === null) throw malformed(name)
  return { text, seconds }
}

function malformed(name: string): WebhookVerificationError {
  return new WebhookVerificationError('malformed_header', `header ${name} is malformed`)
}

function readStandard(given: HeaderReader): Claim {
  const header: HeaderReader = (name) => standardHeader(given, name.slice('webhook-'.length))
  const signatures = standardSignatures(required(header, 'webhook-signature'))
  const id = required(header, 'webhook-id')
  const { text, seconds } = timestampOf(header, 'webhook-timestamp')
  if (signatures === null) throw malformed('webhook-signature')
  if (!/^[\x21-\x7e]+$/.test(id)) throw malformed('webhook-id')
  return {
    seconds,
    async isSignedBy({ kind, key }, body) {
      const content = standardContent(id, text, body)
      if (kind === 'hmac') {
        const expected = base64Of(await hmac(key, content))
        return signatures.v1.some((signature) => equalText(expected, signature))
      }
      for (const signature of signatures.v1a) {
        const bytes = bytesOfBase64(signature)
        if (bytes?.length === 64 && (await verifyEd25519(key, bytes, content))) return true
      }
      return false
    },
  }
}

function readWebhookx(header: HeaderReader): Claim {
  const given = /^v1=([0-9a-f]{64})$/i.exec(required(header, 'webhookx-signature'))?.[1]?.toLowerCase()
  const { text, seconds } = timestampOf(header, 'webhookx-timestamp')
  if (given === undefined) throw malformed('webhookx-signature')
  return {
    seconds,
    isSignedBy: async ({ key }, body) => equalText(hexOf(await hmac(key, webhookxContent(text, body))), given),
  }
}

async function hmac(key: Bytes, content: Bytes): Promise<Uint8Array> {
  const cryptoKey = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', cryptoKey, content))
}

function payloadOf(body: Uint8Array): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new WebhookVerificationError('malformed', 'the body is signed but is not JSON')
  }
}
