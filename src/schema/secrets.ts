import * as v from 'valibot'

import { closedObject, list, text, withDefault } from './fields.ts'

/** The form of the id of a key. */
const keyIdPattern = /^[A-Za-z0-9_.-]{1,64}$/
/** The id of a provider's key unless the provider names another id. */
export const providerId = 'provider'

const keyId = text({ rule: (value) => (keyIdPattern.test(value) ? null : 'value must match [A-Za-z0-9_.-]{1,64}') })
const key = text({
  rule: (value) => (/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/.test(value) ? null : 'value must be 32 bytes in base64'),
})
const provider = v.looseObject({ id: v.optional(keyId), wrap: v.function(), unwrap: v.function() })

/** The option `secrets`. */
export const secretsOptions = v.pipe(
  closedObject({ keys: withDefault(list(closedObject({ id: keyId, key })), []), provider: v.optional(provider) }),
  v.check(
    ({ keys, provider: given }) => (keys ?? []).length > 0 || given !== undefined,
    'keys or provider is required',
  ),
  v.check(({ keys, provider: given }) => {
    const ids = [...(keys ?? []).map(({ id }) => id), ...(given === undefined ? [] : [given.id ?? providerId])]
    return new Set(ids).size === ids.length
  }, 'ids of keys must differ'),
)

/** The secret that signs an endpoint's deliveries, with those that still sign beside it. */
export interface EndpointSecret {
  /** The newest secret, in clear. */
  readonly secret: string
  /** All that sign, the newest first. */
  readonly secrets: readonly SigningSecret[]
}

/** A secret that signs. */
export interface SigningSecret {
  /** The secret, in clear. */
  readonly secret: string
  /** When the secret ceases to sign, unix milliseconds; null for a secret that stays. */
  readonly expires_at: number | null
}

/** How secrets are shown in a dump. */
export const shownAs = ['clear', 'masked', 'sealed'] as const
/** How secrets are shown in a dump: in clear, as masks, or sealed as they are stored. */
export type ShownAs = (typeof shownAs)[number]

/** How many values are sealed with which key, of all workspaces. */
export interface SecretsStatus {
  /** The id of the key that seals; null without the option `secrets`. */
  readonly seals_with: string | null
  /** The keys that seal values. */
  readonly keys: readonly KeyUse[]
  /** Values that are secret and stored in clear. */
  readonly clear: number
}

/** A key and what is sealed with it. */
export interface KeyUse {
  /** Id of the key. */
  readonly id: string
  /** Values that are sealed with the key. */
  readonly values: number
  /** Whether this process has the key. */
  readonly known: boolean
}

/** What a call of `reseal` did. */
export interface ResealReport {
  /** Workspaces that were looked at. */
  readonly workspaces: number
  /** Values that were sealed anew. */
  readonly resealed: number
  /** Values that could not be opened, and stay as they are, with the reasons. */
  readonly left: number
  /** Why values were left, the first hundred reasons. */
  readonly problems: readonly string[]
}
