import type { Platform } from '../../contracts/platform.ts'
import { equalText } from '../../core/constant-time.ts'
import { base64UrlOf, bytesOf, bytesOfBase64, hexOf } from '../../core/encoding.ts'
import { idPattern } from '../../schema/shared.ts'

/** What a token of the portal says. */
export interface Session {
  /** The workspace that it opens, and no other. */
  readonly workspace: string
  readonly readOnly: boolean
  /** Unix seconds. */
  readonly issuedAt: number
  /** Unix seconds. */
  readonly expiresAt: number
  /** The revision of the workspace's sessions; raised by `revoke`. */
  readonly revision: number
  /** Where the page leads back to. */
  readonly returnUrl: string | null
}

/** Makes and reads tokens. */
export interface Tokens {
  /** Signs with the first secret. */
  sign(session: Session): Promise<string>
  /** What a token says; null where none of the secrets made it. Neither expiry nor revision is judged. */
  read(token: string): Promise<Session | null>
}

const version = 'ph1'
const tokenPattern = /^ph1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{1,4096})\.([A-Za-z0-9_-]{43})$/

/** Tokens under HMAC-SHA256: `ph1.<key id>.<claims>.<signature>`, where the signature covers all before it. */
export function tokensOf({ hmac }: Pick<Platform, 'hmac'>, secrets: readonly string[]): Tokens {
  const keys = secrets.map(bytesOf)
  // The id tells nothing of the secret: it is a digest under the secret.
  const idOf = async (key: Uint8Array) => hexOf(await hmac('sha-256', key, 'posthorn portal key id')).slice(0, 8)
  const signature = async (key: Uint8Array, text: string) =>
    base64UrlOf(await hmac('sha-256', key, `posthorn portal token ${text}`))

  return {
    async sign({ workspace, readOnly, issuedAt, expiresAt, revision, returnUrl }) {
      const [key] = keys as [Uint8Array] // at least one: portal() asks for it
      const claims = {
        w: workspace,
        o: readOnly ? 1 : 0,
        i: issuedAt,
        e: expiresAt,
        v: revision,
        ...(returnUrl !== null && { r: returnUrl }),
      }
      const text = `${version}.${await idOf(key)}.${base64UrlOf(bytesOf(JSON.stringify(claims)))}`
      return `${text}.${await signature(key, text)}`
    },

    async read(token) {
      const [, id, claims = '', given = ''] = tokenPattern.exec(token) ?? []
      if (id === undefined) return null
      const text = token.slice(0, token.lastIndexOf('.'))
      for (const key of keys) {
        if ((await idOf(key)) === id && equalText(await signature(key, text), given)) return sessionOf(claims)
      }
      return null
    },
  }
}

/** The claims of a token whose signature holds. A version to come may write others. */
function sessionOf(claims: string): Session | null {
  const bytes = bytesOfBase64(claims.replaceAll('-', '+').replaceAll('_', '/'))
  if (bytes === null) return null
  let read: unknown
  try {
    read = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
  const { w, o, i, e, v, r = null } = (read ?? {}) as Readonly<Record<string, unknown>> // checked below
  if (typeof w !== 'string' || !idPattern.test(w)) return null
  if (![i, e, v].every(Number.isSafeInteger)) return null
  if ((o !== 0 && o !== 1) || (r !== null && typeof r !== 'string')) return null
  const [issuedAt, expiresAt, revision] = [i, e, v] as [number, number, number] // checked above
  return { workspace: w, readOnly: o === 1, issuedAt, expiresAt, revision, returnUrl: r }
}
