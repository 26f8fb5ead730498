import * as v from 'valibot'

import { closedObject, list, text, withDefault } from './fields.ts'

/** The form of the id of a key. */
const keyIdPattern = /^[A-Za-z0-9_.-]{1,64}$/
/** The id of a provider's key unless the provider names another one. */
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
  readonly secret: string
  /** All that sign, the newest first. `expires_at`: unix milliseconds; null for one that stays. */
  readonly secrets: readonly { readonly secret: string; readonly expires_at: number | null }[]
}

/** How secrets are shown in a dump. */
export const shownAs = ['clear', 'masked', 'sealed'] as const
export type ShownAs = (typeof shownAs)[number]

/** How many values are sealed with which key, of all workspaces. */
export interface SecretsStatus {
  /** The id of the key that seals; null without the option `secrets`. */
  readonly seals_with: string | null
  /** `known`: whether this process has the key. */
  readonly keys: readonly { readonly id: string; readonly values: number; readonly known: boolean }[]
  /** Values that are secret and stored in clear. */
  readonly clear: number
}

/** What a call of `reseal` did. */
export interface ResealReport {
  readonly workspaces: number
  /** Values that were sealed anew. */
  readonly resealed: number
  /** Values that could not be opened, and stay as they are, with the reasons. */
  readonly left: number
  readonly problems: readonly string[]
}
