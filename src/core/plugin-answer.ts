import type { Inbound, Outbound } from '../contracts/request.ts'

/** Whether a plugin of the application answered a request that can be sent. */
export function isOutbound(answer: unknown): answer is Outbound {
  if (typeof answer !== 'object' || answer === null) return false
  const { method, url, headers, body } = answer as Readonly<Record<string, unknown>>
  if (typeof method !== 'string' || typeof url !== 'string') return false
  return (body === null || typeof body === 'string') && holdsTexts(headers)
}

/** Whether a plugin of the application answered a request that reached a source. */
export function isInbound(answer: unknown): answer is Inbound {
  if (typeof answer !== 'object' || answer === null) return false
  const { method, url, path, headers, body } = answer as Readonly<Record<string, unknown>>
  if (typeof method !== 'string' || !(url instanceof URL) || typeof path !== 'string') return false
  return isHeaders(headers) && body instanceof Uint8Array
}

/** Of whatever library. */
function isHeaders(headers: unknown): boolean {
  return typeof headers === 'object' && headers !== null && 'get' in headers && typeof headers.get === 'function'
}

/** Whether all values of an object are texts. */
export function holdsTexts(object: unknown): object is Readonly<Record<string, string>> {
  if (typeof object !== 'object' || object === null) return false
  for (const name in object) if (typeof (object as Readonly<Record<string, unknown>>)[name] !== 'string') return false
  return true
}
