import type { Platform } from '../contracts/platform.ts'
import type { PluginKind, PluginRegistry } from '../contracts/plugin.ts'
import { PosthornError } from '../errors.ts'
import { basicAuth } from './basic-auth.ts'
import { connectAuth } from './connect-auth.ts'
import { hmacAuth } from './hmac-auth.ts'
import { keyAuth } from './key-auth.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { webhookxSignature } from './webhookx-signature.ts'

const builtIn: readonly PluginKind[] = [basicAuth, keyAuth, hmacAuth, connectAuth, standardWebhooks, webhookxSignature]

/**
 * The run order. event-validation and function stand in it whether or not they are registered. Signatures come last,
 * for nothing may change what was signed; of the two that of Standard Webhooks comes first, as its envelope is a new body.
 */
const fixedOrder: readonly string[] = [
  'basic-auth',
  'key-auth',
  'hmac-auth',
  'connect-auth',
  'event-validation',
  'function',
  'standard-webhooks',
  'webhookx-signature',
]

/** Where a kind of the host runs unless `before` and `after` say otherwise: after function, and still to be signed. */
const customPlace = fixedOrder.indexOf('function') + 0.5

/**
 * The kinds of a process: the built-in ones and those of the host.
 *
 * @throws PosthornError `validation` when a name stands twice, `before` or `after` name a kind that is not there, or
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

/** All names, each after those that it must follow; where that leaves a choice, the fixed order and then that of `custom`. */
function runOrder(custom: readonly PluginKind[]): readonly string[] {
  const waiting = new Map(
    fixedOrder.map((name, place) => [name, { place, after: new Set(fixedOrder.slice(0, place)) }]),
  )
  for (const { name } of custom) {
    if (!waiting.has(name)) waiting.set(name, { place: customPlace, after: new Set() })
  }
  const node = (name: string, kind: PluginKind) => {
    const found = waiting.get(name)
    if (found === undefined) throw refused(`plugin '${kind.name}' names its place by unknown plugin '${name}'`)
    return found
  }
  for (const kind of custom) {
    for (const name of kind.after ?? []) {
      node(name, kind)
      node(kind.name, kind).after.add(name)
    }
    for (const name of kind.before ?? []) node(name, kind).after.add(kind.name)
  }

  const order: string[] = []
  while (waiting.size > 0) {
    const free = [...waiting].filter(([, { after }]) => ![...after].some((name) => waiting.has(name)))
    // The first of the smallest place: sort is stable, and names stand in the order they were given.
    const next = free.toSorted(([, one], [, other]) => one.place - other.place)[0]
    if (next === undefined)
      throw refused(`plugins ${[...waiting.keys()].join(', ')} cannot be ordered: their places go in a circle`)
    order.push(next[0])
    waiting.delete(next[0])
  }
  return order
}

/** What a host without types passes may be anything, such as a function that was not called. */
function isKind({ name, sides, config, prepare }: Partial<PluginKind>): boolean {
  return typeof name === 'string' && Array.isArray(sides) && config !== undefined && typeof prepare === 'function'
}

function refused(reason: string): PosthornError {
  return new PosthornError('validation', `createPosthorn: ${reason}`)
}
