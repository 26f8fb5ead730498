import { bytesOfBase64, joinBytes, type Bytes } from './encoding.ts'

// The frame that makes a PKCS#8 key of an Ed25519 seed (RFC 8410 section 7): WebCrypto imports private keys in no simpler form.
const pkcs8Head = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20)

/** The signing key of a seed of 32 bytes. */
export function signingKey(seed: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', joinBytes(pkcs8Head, seed), 'Ed25519', false, ['sign'])
}

export async function signEd25519(key: CryptoKey, data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('Ed25519', key, data))
}

/** Whether the holder of the key pair with this public key (32 bytes) signed `data`. */
export async function verifyEd25519(publicKey: Bytes, signature: Bytes, data: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signature, data)
}

/** A fresh key pair of a random seed: the seed and the public key after it, as a `whsk_` secret holds them. */
export async function generateSigningKey(seed: Uint8Array): Promise<Bytes> {
  const key = await crypto.subtle.importKey('pkcs8', joinBytes(pkcs8Head, seed), 'Ed25519', true, ['sign'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', key) // the public key in base64url (RFC 8037 section 2)
  return joinBytes(seed, bytesOfBase64(x.replaceAll('-', '+').replaceAll('_', '/')) ?? new Uint8Array(0))
}
