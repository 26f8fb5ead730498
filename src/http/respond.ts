import type { Context } from '../context.ts'
import { inAlphabeticalOrder } from '../core/webhookx.ts'
import { type ErrorBody, PosthornError, statusOfCode } from '../errors.ts'

const contentType = 'application/json; charset=utf-8'

/** A JSON response. A string and bytes are JSON already. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const headed = { status, headers: { 'content-type': contentType, ...headers } }
  const response = new Response(text as string | Uint8Array<ArrayBuffer>, headed) // no bytes are shared
  return status >= 400 && typeof text === 'string' ? refusing(response, text) : response
}

const refusals = new WeakMap<Response, string>()

/** Remembers the text of a refusal of ours: a copy of a response costs as much as the rest of a small request. */
export function refusing(response: Response, text: string): Response {
  refusals.set(response, text)
  return response
}

/** The text of a refusal of ours. */
export function refusalText(response: Response): string | undefined {
  return refusals.get(response)
}

/**
 * The answer to a failure. What was not foreseen goes to the log, and the client sees nothing of it. Refusals are logged once a
 * minute.
 */
export function errorResponse(
  { log, repeating, settings }: Pick<Context, 'log' | 'repeating' | 'settings'>,
  cause: unknown,
): Response {
  if (!(cause instanceof PosthornError) || cause.code === 'internal') {
    log.error('a request failed', { cause })
    return internalError()
  }
  const status = statusOfCode[cause.code]
  if (status === 503) {
    repeating.warn('a request was refused', { cause })
    return json(503, { message: 'service unavailable' }, { 'retry-after': '1' })
  }
  const { body } = cause
  if (cause.retryAfterMs !== undefined) return json(status, body, { 'retry-after': secondsOf(cause.retryAfterMs) })
  if (body.error === undefined || settings.compatible !== 'webhookx') return json(status, body)
  return json(status, { ...body, error: { ...body.error, fields: inAlphabeticalOrder(body.error.fields) } })
}

/** Status and body that tell a client of an error among other answers, as the response to it alone would. */
export function refusalOf({ code, body }: PosthornError): { readonly status: number; readonly body: ErrorBody } {
  const status = statusOfCode[code]
  if (status === 500) return { status, body: { message: 'internal error' } }
  return { status, body: status === 503 ? { message: 'service unavailable' } : body }
}

/** What a client sees of a failure that the log tells. */
export function internalError(): Response {
  return json(500, { message: 'internal error' })
}

/** Milliseconds as `Retry-After` tells them: whole seconds, rounded up, at least 1. */
export function secondsOf(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
