import type { Source } from '../schema/source.ts'
import { refusing } from './respond.ts'

/** The answer to a request that became an event. `eventId`: null where the id of the event is not known yet. */
export function accepted(source: Source, eventIdNames: readonly string[], eventId: string | null): Response {
  const headers: Record<string, string> = {}
  if (eventId !== null) for (const name of eventIdNames) headers[name] = eventId
  const { response } = source.config.http
  if (response === null) {
    return new Response('{"message": "OK"}', { headers: { 'content-type': 'application/json', ...headers } })
  }
  const bodiless = response.code === 204 || response.code === 205 || response.code === 304
  return new Response(bodiless ? null : response.body, {
    status: response.code,
    headers: bodiless ? headers : { 'content-type': response.content_type, ...headers },
  })
}

export function tooLarge(): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  const text = 'Request Entity Too Large'
  return refusing(new Response(text, { status: 413, headers }), text)
}

const inertHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
}

/**
 * An answer that tenants made for a source comes from the host's origin: when a browser shows the answer, nothing in it
 * may run in that origin.
 */
export function inert(response: Response): Response {
  try {
    for (const [name, value] of Object.entries(inertHeaders)) response.headers.set(name, value)
    return response
  } catch {
    return withHeaders(response, inertHeaders) // the headers of what a plugin fetched cannot be changed
  }
}

/** The same answer with more headers. */
export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const all = new Headers(response.headers)
  for (const [name, value] of Object.entries(headers)) all.set(name, value)
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: all })
}
