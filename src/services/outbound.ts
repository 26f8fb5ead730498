import type { ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { OutboundContext } from '../contracts/plugin.ts'
import type { Outbound } from '../contracts/request.ts'
import type { Cancellation } from '../core/cancellation.ts'

/** What plugins get to know about a delivery. The signal is made when a plugin reads it. */
export class DeliveryContext implements OutboundContext {
  readonly now: number
  readonly log: Logger
  readonly workspaceId: string
  readonly event: OutboundContext['event']
  readonly attempt: OutboundContext['attempt']
  readonly endpoint: OutboundContext['endpoint']
  readonly pause: () => () => void
  readonly #until: Cancellation

  constructor(values: Required<Omit<OutboundContext, 'signal'>>, until: Cancellation) {
    this.now = values.now
    this.log = values.log
    this.workspaceId = values.workspaceId
    this.event = values.event
    this.attempt = values.attempt
    this.endpoint = values.endpoint
    this.pause = values.pause
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
