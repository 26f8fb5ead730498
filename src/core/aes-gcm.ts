import type { Cipher } from '../contracts/platform.ts'
import { type Bytes, joinBytes } from './encoding.ts'

const nonceBytes = 12

/** AES-256-GCM by WebCrypto (NIST SP 800-38D), a fresh random nonce of 96 bits before each ciphertext. */
export async function aesGcm(key: Uint8Array, randomBytes: (length: number) => Uint8Array): Promise<Cipher> {
  const cryptoKey = await crypto.subtle.importKey('raw', joinBytes(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
  const options = (iv: Bytes, bound: Uint8Array) => ({ name: 'AES-GCM', iv, additionalData: joinBytes(bound) })
  return {
    async encrypt(data, bound) {
      const nonce = joinBytes(randomBytes(nonceBytes))
      const box = await crypto.subtle.encrypt(options(nonce, bound), cryptoKey, joinBytes(data))
      return joinBytes(nonce, new Uint8Array(box))
    },
    async decrypt(box, bound) {
      const nonce = joinBytes(box.subarray(0, nonceBytes))
      try {
        const rest = joinBytes(box.subarray(nonceBytes))
        return new Uint8Array(await crypto.subtle.decrypt(options(nonce, bound), cryptoKey, rest))
      } catch {
        return null // the web's cryptography does not tell why
      }
    },
  }
}
