/** Bytes that WebCrypto takes: never a view of shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
/** Bytes that become arguments of a single call. */
const maxAtOnce = 4096

/** The UTF-8 bytes of a text. */
export function bytesOf(text: string): Bytes {
  return encoder.encode(text)
}

/** The bytes of a header value as they were on the wire: `Headers` shows each as one character (Fetch, "isomorphic decode"). */
export function bytesOfHeader(value: string): Bytes {
  return Uint8Array.from(value, (character) => character.charCodeAt(0))
}

/** The parts as one array, in order. */
export function joinBytes(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** Base64 with padding (RFC 4648 section 4). */
export function base64Of(bytes: Uint8Array): string {
  if (bytes.length <= maxAtOnce) return btoa(binaryOf(bytes))
  let binary = ''
  for (let at = 0; at < bytes.length; at += maxAtOnce) binary += binaryOf(bytes.subarray(at, at + maxAtOnce))
  return btoa(binary)
}

/** A character for each byte, in one go: a text made by adding characters is a chain of texts until it is read. */
function binaryOf(bytes: Uint8Array): string {
  return String.fromCharCode.apply(null, bytes as unknown as number[]) // any list of numbers does
}

/** Base64 for URLs, without padding (RFC 4648 section 5). */
export function base64UrlOf(bytes: Uint8Array): string {
  return base64Of(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The bytes of base64 text, padded or not; null when it is none. */
export function bytesOfBase64(text: string): Bytes | null {
  const digits = text.replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) return null
  if (digits.length < text.length && text.length % 4 !== 0) return null
  return Uint8Array.from(atob(digits), (character) => character.charCodeAt(0))
}
