import { bytesOf, type Bytes, joinBytes } from './encoding.ts'

/** What webhookx-signature signs: `<unix seconds>.<body>`. Stripe signs the same. */
export function webhookxContent(timestamp: string, body: string): string
export function webhookxContent(timestamp: string, body: Uint8Array): Bytes
export function webhookxContent(timestamp: string, body: Uint8Array | string): Bytes | string {
  return content(`${timestamp}.`, body)
}

/** What Standard Webhooks signs: `<id>.<unix seconds>.<body>`. */
export function standardContent(id: string, timestamp: string, body: string): string
export function standardContent(id: string, timestamp: string, body: Uint8Array): Bytes
export function standardContent(id: string, timestamp: string, body: Uint8Array | string): Bytes | string {
  return content(`${id}.${timestamp}.`, body)
}

function content(before: string, body: Uint8Array | string): Bytes | string {
  return typeof body === 'string' ? before + body : joinBytes(bytesOf(before), body)
}
