import type { Platform } from '../contracts/platform.ts'
import type { PluginKind, PluginRegistry } from '../contracts/plugin.ts'
import { basicAuth } from './basic-auth.ts'
import { connectAuth } from './connect-auth.ts'
import { hmacAuth } from './hmac-auth.ts'
import { keyAuth } from './key-auth.ts'
import { refused, runOrder } from './run-order.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { webhookxSignature } from './webhookx-signature.ts'

const builtIn: readonly PluginKind[] = [basicAuth, keyAuth, hmacAuth, connectAuth, standardWebhooks, webhookxSignature]

/**
 * The kinds of a process: built-in kinds and kinds of the host.
 *
 * @throws PosthornError `validation` when a name stands twice, `before` or `after` name a kind that does not exist, or
 *   the wishes go in a circle.
 */
export function registry(custom: readonly PluginKind[]): PluginRegistry {
  const kinds = new Map(builtIn.map((kind) => [kind.name, kind]))
  for (const kind of custom) {
    if (!isKind(kind))
      throw refused(
        'plugins holds something that definePlugin() did not make; is a call such as eventValidation() missing?',
      )
    if (kinds.has(kind.name)) throw refused(`plugin '${kind.name}' is registered twice`)
    kinds.set(kind.name, kind)
  }
  const order = runOrder(custom)
  const ranks = new Map(order.map((name, rank) => [name, rank]))
  const loaded = new Set<string>()

  async function load(name: string, platform: Platform): Promise<void> {
    if (loaded.has(name)) return
    await kinds.get(name)?.load?.(platform)
    loaded.add(name)
  }

  return {
    get: (name) => kinds.get(name),
    all: () => [...kinds.values()],
    rank: (name) => ranks.get(name) ?? order.length,
    async ready(platform, names = [...kinds.keys()]) {
      await Promise.all(names.map((name) => load(name, platform)))
    },
  }
}

/** What a host without types passes may be anything, such as a function that was not called. */
function isKind({ name, sides, config, prepare }: Partial<PluginKind>): boolean {
  return typeof name === 'string' && Array.isArray(sides) && config !== undefined && typeof prepare === 'function'
}
