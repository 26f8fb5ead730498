import type { ReadyPlugin } from '../context.ts'
import type { Outbound, OutboundContext } from '../contracts/plugin.ts'

/** Runs plugins one after the other; stays synchronous as long as they do. */
export function runOutbound(
  plugins: readonly ReadyPlugin[],
  request: Outbound,
  context: OutboundContext,
): Outbound | Promise<Outbound> {
  let current = request
  for (let i = 0; i < plugins.length; i++) {
    const prepared = plugins[i]!.current()
    const result =
      prepared === undefined
        ? undefined
        : prepared.outbound === undefined
          ? current
          : prepared.outbound(current, context)
    if (result === undefined || result instanceof Promise) return finishOutbound(plugins, i, current, result, context)
    current = result
  }
  return current
}

async function finishOutbound(
  plugins: readonly ReadyPlugin[],
  from: number,
  request: Outbound,
  first: Promise<Outbound> | undefined,
  context: OutboundContext,
): Promise<Outbound> {
  let current = request
  for (let i = from; i < plugins.length; i++) {
    if (i === from && first !== undefined) {
      current = await first
      continue
    }
    const prepared = await plugins[i]!.prepared()
    if (prepared.outbound !== undefined) current = await prepared.outbound(current, context)
  }
  return current
}
