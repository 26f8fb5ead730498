import { base64UrlOf } from '../../core/encoding.ts'

/** Of any text 22 characters: enough that no two texts share them. */
export async function digest(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return base64UrlOf(new Uint8Array(hash)).slice(0, 22)
}
