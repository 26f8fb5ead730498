import { bytesOf, type Bytes, joinBytes } from './encoding.ts'

const empty = new Uint8Array()

/** The bytes of a delivery's body; a delivery without one signs the empty body. */
export function bodyBytes(body: string | null): Uint8Array {
  return body === null ? empty : bytesOf(body)
}

/** What webhookx-signature signs: `<unix seconds>.<body>`. Stripe signs the same. */
export function webhookxContent(timestamp: string, body: Uint8Array): Bytes {
  return joinBytes(bytesOf(`${timestamp}.`), body)
}

/** What Standard Webhooks signs: `<id>.<unix seconds>.<body>`. */
export function standardContent(id: string, timestamp: string, body: Uint8Array): Bytes {
  return joinBytes(bytesOf(`${id}.${timestamp}.`), body)
}
