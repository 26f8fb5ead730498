import { isPlainObject } from '../schema/fields.ts'

// The list `secrets` of a config: texts, or `{ secret, expires_at }` for a secret that signs until that time.

/** A signing secret. `expires_at`: unix milliseconds; null for a secret that stays. */
export interface SigningSecret {
  readonly secret: string
  readonly expires_at: number | null
}

/** The kind of plugin whose secrets may end. */
export const expiringKind = 'standard-webhooks'

type Config = Readonly<Record<string, unknown>>

/** The secrets of a config, of any kind of plugin; none where the config has another form. */
export function secretsOf(config: Config): readonly SigningSecret[] {
  const list: unknown = config['secrets']
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown): SigningSecret[] => {
    if (typeof item === 'string') return [{ secret: item, expires_at: null }]
    if (!isPlainObject(item) || typeof item['secret'] !== 'string') return []
    return [{ secret: item['secret'], expires_at: typeof item['expires_at'] === 'number' ? item['expires_at'] : null }]
  })
}

/** Secrets as they stand in a config. */
export function configOfSecrets(secrets: readonly SigningSecret[]): readonly unknown[] {
  return secrets.map(({ secret, expires_at }) => (expires_at === null ? secret : { secret, expires_at }))
}

export function alive(secrets: readonly SigningSecret[], now: number): readonly SigningSecret[] {
  return secrets.filter(({ expires_at }) => expires_at === null || expires_at > now)
}

/** The time at which the first secret of a config ends; Infinity where none does. */
export function firstExpiry(config: Config): number {
  return secretsOf(config).reduce((first, { expires_at }) => Math.min(first, expires_at ?? Infinity), Infinity)
}

/**
 * The secrets after a rotation: the new secret first, then those that are alive. An old secret ends with the overlap,
 * or at its own end where that comes earlier.
 */
export function rotated(
  secrets: readonly SigningSecret[],
  secret: string,
  now: number,
  overlapMs: number,
): readonly SigningSecret[] {
  const end = now + overlapMs
  const others = secrets.filter((old) => old.secret !== secret)
  const ending = others.map((old) => ({ secret: old.secret, expires_at: Math.min(old.expires_at ?? end, end) }))
  return [{ secret, expires_at: null }, ...alive(ending, now)]
}
