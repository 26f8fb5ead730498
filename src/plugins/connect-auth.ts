import * as v from 'valibot'

import { definePlugin } from '../contracts/plugin.ts'
import { anyObject, isPlainObject, object, oneOf } from '../schema/leaf.ts'
import { type Provider, providers } from './providers.ts'
import { unauthorized } from './unauthorized.ts'

interface ConnectAuthConfig {
  readonly provider: string
  readonly provider_config: Readonly<Record<string, unknown>>
}

const names = Object.keys(providers).toSorted()

function providerOf(name: unknown): Provider | undefined {
  return typeof name === 'string' && Object.hasOwn(providers, name) ? providers[name] : undefined
}

// Which keys provider_config has is known once the provider is.
const config = v.lazy((input) => {
  const provider = isPlainObject(input) ? providerOf(input['provider']) : undefined
  return object({ provider: oneOf(names), provider_config: provider?.config ?? anyObject() })
}) as v.GenericSchema<unknown, ConnectAuthConfig> // every provider's config is an object

/** Lets requests pass that carry the signature or secret which the provider documents. */
export const connectAuth = definePlugin({
  name: 'connect-auth',
  sides: ['inbound'],
  config,
  async prepare({ provider, provider_config }, platform) {
    const known = providerOf(provider)
    if (known === undefined) throw new Error(`unknown provider ${provider}`)
    const verify = await known.prepare(provider_config, platform)
    return {
      async inbound(request, { now }) {
        const verdict = await verify(request, now)
        if (verdict instanceof Response) return verdict
        return verdict ? request : unauthorized()
      },
    }
  },
})
