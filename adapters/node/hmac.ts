import { type KeyObject, createHmac, createSecretKey } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import type { HashName } from '../../src/contracts/platform.ts'

const digests: Readonly<Record<HashName, string>> = {
  md5: 'md5',
  'sha-1': 'sha1',
  'sha-256': 'sha256',
  'sha-512': 'sha512',
}

// Some versions of Node take six times as long with raw bytes as with a key object that was made once.
const keys = new LRUCache<string, KeyObject>({ max: 1000 })

export function hmac(hash: HashName, key: Uint8Array, data: Uint8Array | string): Uint8Array {
  // Node takes longer to make the buffer of a digest than to tell the same bytes as a text of latin1.
  const digest = createHmac(digests[hash], keyObject(key)).update(data).digest('binary')
  const bytes = new Uint8Array(digest.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = digest.charCodeAt(i)
  return bytes
}

function keyObject(key: Uint8Array): KeyObject {
  const id = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
  let known = keys.get(id)
  if (known === undefined) keys.set(id, (known = createSecretKey(key)))
  return known
}
