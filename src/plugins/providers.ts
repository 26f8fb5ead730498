import * as v from 'valibot'

import { paddedKey, standardKey } from '../core/standard-keys.ts'
import { closedObject, integer, text, withDefault } from '../schema/fields.ts'
import { headerName } from './header-name.ts'

const secret = text({ min: 1 })

/** Seconds that a signature stays valid, and may be ahead; 0 takes any age. */
const tolerance_window = withDefault(integer({ min: 0 }), 300)

const signed = closedObject({ secret })
const signedInTime = closedObject({ secret, tolerance_window })
const standardWebhooks = closedObject({
  secret: v.pipe(
    text({
      min: 1,
      rule: (value) => (standardKey(value)?.kind === 'hmac' ? null : 'value must be whsec_ followed by base64'),
    }),
    v.transform(paddedKey),
  ),
  tolerance_window,
})

/** The senders of webhooks whose signatures are known, with the settings that each needs. */
export const providers = {
  github: signed,
  gitlab: signed,
  okta: closedObject({ authentication_field: headerName, authentication_secret: secret }),
  openai: standardWebhooks,
  shopify: signed,
  slack: signedInTime,
  'standard-webhooks': standardWebhooks,
  stripe: signedInTime,
  zendesk: signedInTime,
}

export type ProviderConfigs = typeof providers
export type ProviderName = keyof ProviderConfigs
