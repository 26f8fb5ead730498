import { verifyWebhook, WebhookVerificationError } from 'posthorn/verify'

import { spanText } from './clock-text.ts'
import type { RecordedRequest } from './recorded-request.ts'

export interface SignatureCheck {
  readonly holds: boolean
  /** What is wrong: of the request, of the clock, of the key or body, or of what the command was given. */
  readonly reason: 'ok' | 'clock' | 'body' | 'mismatch' | 'header' | 'secret'
  readonly message: string
}

interface Given {
  readonly secrets: readonly string[]
  readonly toleranceSeconds: number
  readonly now: number
}

/** Whether the signature of a recorded request holds, and if not, why. */
export async function checkSignature(request: RecordedRequest, given: Given): Promise<SignatureCheck> {
  const code = await failure(request, given)
  if (code === null) return { holds: true, reason: 'ok', message: 'The signature holds.' }
  if (code.code === 'stale' || code.code === 'future') return await clock(request, given)
  if (code.code === 'mismatch') return await changed(request, given)
  const isSecret = code.code === 'invalid_secret' || code.code === 'invalid_options'
  return { holds: false, reason: isSecret ? 'secret' : 'header', message: sentence(code.message) }
}

async function failure(
  request: RecordedRequest,
  { secrets, ...options }: Given,
): Promise<WebhookVerificationError | null> {
  try {
    await verifyWebhook(request, secrets, { ...options, parse: false })
    return null
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error
    throw error
  }
}

/** The time of the signature is judged before the signature itself, which may hold or not. */
async function clock(request: RecordedRequest, given: Given): Promise<SignatureCheck> {
  const { headers } = request
  const text = headers['webhook-timestamp'] ?? headers['svix-timestamp'] ?? headers['webhookx-timestamp']
  const ageMs = given.now - Number(text) * 1000
  const age = ageMs < 0 ? `${spanText(-ageMs)} ahead of this clock` : `${spanText(ageMs)} ago`
  const rest = await checkSignature(request, { ...given, toleranceSeconds: 0 })
  const about = rest.holds ? 'apart from that the signature holds' : `and ${lower(rest.message)}`
  return {
    holds: false,
    reason: rest.holds ? 'clock' : rest.reason,
    message: sentence(`it was signed ${age}, beyond the tolerance of ${given.toleranceSeconds} s; ${about}`),
  }
}

/** Ways in which a body often changes before somebody verifies it. */
const changes: readonly { readonly what: string; undo(body: string): string }[] = [
  { what: 'a line end was added to the body', undo: (body) => body.replace(/\r?\n$/, '') },
  { what: 'the line end of the body was removed', undo: (body) => `${body}\n` },
  { what: 'line ends of the body were changed to CRLF', undo: (body) => body.replaceAll('\r\n', '\n') },
  { what: 'the body was parsed and written anew', undo: (body) => JSON.stringify(JSON.parse(body)) },
  { what: 'the body was parsed and written anew', undo: (body) => JSON.stringify(JSON.parse(body), null, 2) },
]

async function changed(request: RecordedRequest, given: Given): Promise<SignatureCheck> {
  const body = new TextDecoder().decode(request.body)
  for (const { what, undo } of changes) {
    const before = attempt(() => undo(body))
    if (before === null || before === body) continue
    if ((await failure({ ...request, body: new TextEncoder().encode(before) }, given)) !== null) continue
    return {
      holds: false,
      reason: 'body',
      message: `${sentence(what)} The key is right: verify the bytes as they came, before anything reads them.`,
    }
  }
  return {
    holds: false,
    reason: 'mismatch',
    message: 'No signature matches: the secret is that of another endpoint, or the body was changed on its way.',
  }
}

function attempt(make: () => string): string | null {
  try {
    return make()
  } catch {
    return null // not JSON
  }
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
const lower = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
