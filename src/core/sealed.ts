import { base64UrlOf, type Bytes, bytesOf, bytesOfBase64, joinBytes } from './encoding.ts'

// A sealed value is a text: `sealed:v1:<key id>:<base64url>`. The bytes are the length of the wrapped data key (two
// bytes, big-endian), the wrapped data key, and what AES-256-GCM made of the value: nonce, ciphertext, tag.

const start = 'sealed:v1:'
const form = /^sealed:v1:([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9_-]+)$/
const nonceAndTag = 28

export interface Sealed {
  /** The id of the key that wraps the data key. */
  readonly keyId: string
  readonly wrapped: Bytes
  /** The value under the data key. */
  readonly box: Bytes
}

export function isSealed(text: string): boolean {
  return text.startsWith(start) && readSealed(text) !== null
}

/** Reads a sealed value; null when the text is none. */
export function readSealed(text: string): Sealed | null {
  const [, keyId, digits] = (text.startsWith(start) ? form.exec(text) : null) ?? []
  if (keyId === undefined || digits === undefined) return null
  const bytes = bytesOfBase64(digits.replaceAll('-', '+').replaceAll('_', '/'))
  if (bytes === null || bytes.length < 2) return null
  const length = bytes[0]! * 256 + bytes[1]! // at least two bytes, checked above
  if (length === 0 || bytes.length < 2 + length + nonceAndTag) return null
  return { keyId, wrapped: bytes.slice(2, 2 + length), box: bytes.slice(2 + length) }
}

export function sealedText({ keyId, wrapped, box }: { keyId: string; wrapped: Uint8Array; box: Uint8Array }): string {
  const length = Uint8Array.of(wrapped.length >> 8, wrapped.length & 255)
  return `${start}${keyId}:${base64UrlOf(joinBytes(length, wrapped, box))}`
}

/**
 * What a sealed value is bound to: the value opens at this place alone. `field` names the place in the row, without
 * positions.
 */
export function boundTo(place: {
  readonly workspaceId: string
  readonly noun: string
  readonly rowId: string
  readonly field: string
}): Bytes {
  return bytesOf(JSON.stringify([place.workspaceId, place.noun, place.rowId, place.field]))
}
