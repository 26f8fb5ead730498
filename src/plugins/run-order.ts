import type { PluginKind } from '../contracts/plugin.ts'
import { PosthornError } from '../errors.ts'

/**
 * The run order. It lists event-validation and function whether or not they are registered. Signatures come last, for
 * nothing may change what was signed. Of the two signatures Standard Webhooks comes first, because its envelope makes a
 * new body.
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

/** All names, each after those that it must follow; where that leaves a choice, the fixed order and then that of `custom`. */
export function runOrder(custom: readonly PluginKind[]): readonly string[] {
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

/** The error of a plugin that an instance cannot be made with. */
export function refused(reason: string): PosthornError {
  return new PosthornError('validation', `createPosthorn: ${reason}`)
}
