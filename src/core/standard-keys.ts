import { bytesOfBase64, type Bytes } from './encoding.ts'

// Keys and signature lists as https://www.standardwebhooks.com defines them (specification 1.0.0, "Signature scheme").

/** A key in its written form: `whsec_` holds an HMAC key, `whsk_` an Ed25519 seed, `whpk_` an Ed25519 public key. */
export type StandardKey =
  | { readonly kind: 'hmac'; readonly key: Bytes }
  | { readonly kind: 'signing'; readonly seed: Bytes; readonly publicKey: Bytes | null }
  | { readonly kind: 'public'; readonly key: Bytes }

/** Reads a written key; null when it is none. `whsk_` is a seed of 32 bytes, alone or with the public key after it. */
export function standardKey(text: string): StandardKey | null {
  const at = text.indexOf('_') + 1
  const bytes = bytesOfBase64(text.slice(at))
  if (bytes === null || bytes.length === 0) return null
  switch (text.slice(0, at)) {
    case 'whsec_':
      return { kind: 'hmac', key: bytes }
    case 'whsk_':
      if (bytes.length === 32) return { kind: 'signing', seed: bytes, publicKey: null }
      return bytes.length === 64 ? { kind: 'signing', seed: bytes.slice(0, 32), publicKey: bytes.slice(32) } : null
    case 'whpk_':
      return bytes.length === 32 ? { kind: 'public', key: bytes } : null
    default:
      return null
  }
}

/** A written key with base64 padding: libraries of other languages refuse a `whsec_` key without padding. */
export function paddedKey(text: string): string {
  const digits = text.length - (text.indexOf('_') + 1)
  return text.startsWith('whsec_') ? text + '='.repeat((4 - (digits % 4)) % 4) : text
}

/** Far more than any rotation needs; beyond it a header is an attempt to make the receiver work. */
const maxSignatures = 20

/**
 * The signatures of a `webhook-signature` header by version, in base64: `v1` of HMAC, `v1a` of Ed25519. Other versions are
 * left out, as the specification grows by them. Null when the header is not such a list, as two joined headers are not, or
 * when no signature in it is of a known version.
 */
export function standardSignatures(
  header: string,
): { readonly v1: readonly string[]; readonly v1a: readonly string[] } | null {
  const entries = header.split(' ')
  if (entries.length > maxSignatures || !entries.every((entry) => /^[^,]+,[^,]+$/.test(entry))) return null
  const of = (version: string) =>
    entries.filter((entry) => entry.startsWith(version)).map((entry) => entry.slice(version.length))
  const known = { v1: of('v1,'), v1a: of('v1a,') }
  return known.v1.length + known.v1a.length === 0 ? null : known
}
