import type { ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { Outbound, OutboundContext } from '../contracts/plugin.ts'
import type { Cancellation } from '../core/cancellation.ts'

/** What plugins are told of a delivery. Its signal is made for those that read it. */
export class DeliveryContext implements OutboundContext {
  readonly now: number
  readonly log: Logger
  readonly workspaceId: string
  readonly event: OutboundContext['event']
  readonly attempt: OutboundContext['attempt']
  readonly endpoint: OutboundContext['endpoint']
  readonly #until: Cancellation

  constructor(told: Omit<OutboundContext, 'signal'>, until: Cancellation) {
    this.now = told.now
    this.log = told.log
    this.workspaceId = told.workspaceId
    this.event = told.event
    this.attempt = told.attempt
    this.endpoint = told.endpoint
    this.#until = until
  }

  get signal(): AbortSignal {
    return this.#until.signal
  }
}

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
