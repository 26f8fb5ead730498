import { base64UrlOf } from '../../core/encoding.ts'

/** 22 characters for any text: enough that no two texts share them. */
export async function digest(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return base64UrlOf(new Uint8Array(hash)).slice(0, 22)
}
