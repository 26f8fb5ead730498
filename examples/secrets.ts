import { createPosthorn } from 'posthorn'
import { memory } from 'posthorn/memory'

// Secrets sealed at rest, shown as masks, and the key that seals them exchanged while the service runs.

const key = (id: string) => ({ id, key: btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))) })
const [old, next] = [key('2026-11'), key('2026-12')] // yours come from the environment: openssl rand -base64 32
const storage = memory()

const before = createPosthorn({ storage, secrets: { keys: [old] }, deliver: { sign: 'standard-webhooks' } })
const { id } = await before.endpoints.create('default', {
  request: { url: 'https://shop.example/hooks', headers: { authorization: 'Bearer a-token-of-the-receiver' } },
  events: ['order.*'],
})
const { request } = await before.endpoints.get('default', id)
console.log(request.headers?.['authorization'])

// The receiver gets a new secret. For a day deliveries carry the signatures of both.
const { secrets } = await before.endpoints.rotateSecret('default', id, { overlap_seconds: 86_400 })
console.log(`${secrets.length} secrets sign`)

// A new key: first it opens in all processes, then it seals, then everything is sealed with it.
const after = createPosthorn({ storage, secrets: { keys: [next, old] } })
const { resealed } = await after.secrets.reseal()
const { keys, clear } = await after.secrets.status()
console.log(`${resealed} resealed, ${clear} in clear, keys in use: ${keys.map((each) => each.id).join(', ')}`)
