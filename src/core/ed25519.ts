import { joinBytes, type Bytes } from './encoding.ts'

// The frame that makes a PKCS#8 key of an Ed25519 seed (RFC 8410 section 7): WebCrypto imports private keys in no simpler form.
const pkcs8Head = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20)

/** The key that signs, from its seed of 32 bytes. */
export function signingKey(seed: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', joinBytes(pkcs8Head, seed), 'Ed25519', false, ['sign'])
}

/** The key that verifies, from its 32 bytes. Rejects when they are no point of the curve. */
export function publicKey(bytes: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify'])
}

export async function signEd25519(key: CryptoKey, data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('Ed25519', key, data))
}

export function verifyEd25519(key: CryptoKey, signature: Bytes, data: Bytes): Promise<boolean> {
  return crypto.subtle.verify('Ed25519', key, signature, data)
}
