import type { Context, ReadyPlugin } from '../context.ts'
import type { EngineClock } from '../contracts/clock.ts'
import type { Logger } from '../contracts/observer.ts'
import type { OutboundContext } from '../contracts/plugin.ts'
import type { Outbound } from '../contracts/request.ts'
import type { Delivery, NewAttempt } from '../contracts/storage/attempts.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { isOutbound } from '../core/plugin-answer.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import { PluginTime } from './plugin-time.ts'

/** What plugins get to know about a delivery. The signal and the time of the plugins are made when somebody asks for them. */
export class DeliveryContext implements OutboundContext {
  readonly now: number
  readonly log: Logger
  readonly workspaceId: string
  readonly event: StoredEvent
  readonly attempt: NewAttempt
  readonly endpoint: Endpoint
  readonly #clock: EngineClock
  readonly #timeoutMs: number
  readonly #until: Cancellation
  #time: PluginTime | null = null

  constructor(ctx: Context, { workspaceId, attempt }: Delivery, event: StoredEvent, endpoint: Endpoint, means: Means) {
    this.now = ctx.clock.now()
    this.log = ctx.log
    this.workspaceId = workspaceId
    this.event = event
    this.attempt = attempt
    this.endpoint = endpoint
    this.#clock = ctx.clock
    this.#timeoutMs = means.timeoutMs
    this.#until = means.until
  }

  get signal(): AbortSignal {
    return this.#until.signal
  }

  get pause(): () => () => void {
    return this.time.pause
  }

  get time(): PluginTime {
    return (this.#time ??= new PluginTime(this.#clock, this.#timeoutMs))
  }
}

/** `timeoutMs`: how long the plugins of a delivery may take together. `until`: the delivery itself may be canceled. */
interface Means {
  readonly timeoutMs: number
  readonly until: Cancellation
}

/** Runs plugins one after the other; stays synchronous as long as the plugins do. */
export function runOutbound(
  plugins: readonly ReadyPlugin[],
  request: Outbound,
  context: OutboundContext,
): Outbound | Promise<Outbound> {
  let current = request
  for (let i = 0; i < plugins.length; i++) {
    const prepared = plugins[i]!.current()
    if (prepared === undefined) return finishOutbound(plugins, i, current, null, context)
    if (prepared.outbound === undefined) continue
    const result = prepared.outbound(current, context)
    if (result instanceof Promise) return finishOutbound(plugins, i, current, result, context)
    current = answered(plugins[i]!, result)
  }
  return current
}

/** `first`: what the plugin at `from` is to answer; null where the plugin did not run yet. */
async function finishOutbound(
  plugins: readonly ReadyPlugin[],
  from: number,
  request: Outbound,
  first: Promise<Outbound> | null,
  context: OutboundContext,
): Promise<Outbound> {
  let current = first === null ? request : answered(plugins[from]!, await first)
  for (const plugin of plugins.slice(first === null ? from : from + 1)) {
    const prepared = await plugin.prepared()
    if (prepared.outbound !== undefined) current = answered(plugin, await prepared.outbound(current, context))
  }
  return current
}

/** @throws an error that names a plugin of the application which answered something else than a request. */
function answered({ row }: ReadyPlugin, answer: unknown): Outbound {
  if (!isOutbound(answer)) throw new Error(`plugin '${row.name}' answered no request`)
  return answer
}
