import type { NewAttempt } from '../contracts/storage/attempts.ts'
import type { FieldError, FieldErrors } from '../errors.ts'
import { isPlainObject } from '../schema/fields.ts'
import type { Source } from '../schema/source.ts'

// What `compatible: 'webhookx'` changes, as WebhookX 1.2.0 does it. docs/moving-from-webhookx.md lists all of it.

/** The option `compatible`, where it is given. */
export type Compatible = 'webhookx'

/** The headers of a delivery that receivers of WebhookX read, beside ours. */
export function webhookxHeaders(eventId: string, attempt: NewAttempt): Readonly<Record<string, string>> {
  return { 'webhookx-event-id': eventId, 'webhookx-delivery-id': attempt.id }
}

/** Headers with lower-case names as Go writes them: `Content-Type` for `content-type`. */
export function canonicalHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const canonical = (name: string) => name.replace(/(^|-)[a-z]/g, (first) => first.toUpperCase())
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [canonical(name), value]))
}

/** A document in which a kind that is absent lists nothing, so that a sync removes all of it. */
export function wholeDocument<Document extends { endpoints?: unknown; sources?: unknown }>(document: Document) {
  return { ...document, endpoints: document.endpoints ?? [], sources: document.sources ?? [] }
}

/** The input of an update of a source in which a `response` that is absent is that of the row. */
export function withResponseKept(input: unknown, { config: { http: stored } }: Source): unknown {
  if (!isPlainObject(input) || !isPlainObject(input['config'])) return input
  const http = input['config']['http'] ?? {}
  if (!isPlainObject(http) || http['response'] !== undefined) return input
  return { ...input, config: { ...input['config'], http: { ...http, response: stored.response } } }
}

/** Reasons with the members of every object in the order of their names. */
export function inAlphabeticalOrder(fields: FieldErrors): FieldErrors {
  return ordered(fields) as FieldErrors // an object stays an object
}

function ordered(error: FieldError): FieldError {
  if (Array.isArray(error)) return error.map((item: FieldError) => ordered(item))
  if (error === null || typeof error === 'string') return error
  const entries = Object.entries(error as FieldErrors).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Any name is only data: `__proto__` too becomes a key of the object.
  return Object.fromEntries(entries.map(([name, item]) => [name, ordered(item)]))
}

/** A url without the parameters whose value is empty. */
export function withoutEmptyValues(url: URL): URL {
  const given = [...url.searchParams]
  const kept = given.filter(([, value]) => value !== '')
  if (kept.length === given.length) return url
  const without = new URL(url)
  without.search = new URLSearchParams(kept).toString()
  return without
}
