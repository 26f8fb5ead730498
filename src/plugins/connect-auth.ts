import * as v from 'valibot'

import { definePlugin } from '../contracts/plugin.ts'
import { lazy } from '../runtime/lazy.ts'
import { anyObject, isPlainObject, object, oneOf } from '../schema/fields.ts'
import { type ProviderName, providers } from './providers.ts'
import { unauthorized } from './unauthorized.ts'

/** Few instances receive from providers. */
const providerChecks = lazy(() => import('./provider-checks.ts'))

interface ConnectAuthConfig {
  readonly provider: ProviderName
  readonly provider_config: Readonly<Record<string, unknown>>
}

const names = Object.keys(providers).toSorted()

function isProvider(name: unknown): name is ProviderName {
  return typeof name === 'string' && Object.hasOwn(providers, name)
}

// Which keys provider_config has is known once the provider is.
const config = v.lazy((input) => {
  const name = isPlainObject(input) ? input['provider'] : undefined
  return object({ provider: oneOf(names), provider_config: isProvider(name) ? providers[name] : anyObject() })
}) as v.GenericSchema<unknown, ConnectAuthConfig> // every provider's config is an object

/** Lets requests pass that carry the signature or secret which the provider documents. */
export const connectAuth = definePlugin({
  name: 'connect-auth',
  sides: ['inbound'],
  secrets: ['provider_config.secret', 'provider_config.authentication_secret'],
  config,
  async prepare({ provider, provider_config }, platform) {
    const { checkOf } = await providerChecks()
    const verify = await checkOf(provider, provider_config, platform)
    return {
      async inbound(request, { now }) {
        const verdict = await verify(request, now)
        if (verdict instanceof Response) return verdict
        return verdict ? request : unauthorized()
      },
    }
  },
})
