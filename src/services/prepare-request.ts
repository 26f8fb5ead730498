import type { Context } from '../context.ts'
import type { Outbound } from '../contracts/request.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { identified, outboundRequest, requestProblem } from '../core/request.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Loaded } from './loaded-attempt.ts'
import { DeliveryContext, runOutbound } from './outbound.ts'

/**
 * Makes the request of an attempt, and has the endpoint's plugins change the request. Synchronous as long as the plugins
 * are. Plugins have as much time as the request, `timeoutMs`, beside what they wait for a share: a plugin that never ends
 * may not use a slot for ever.
 * @throws what a plugin throws, or an error that says why the changed request cannot be sent.
 */
export function prepareRequest(
  ctx: Context,
  loaded: Loaded,
  endpoint: Endpoint,
  event: StoredEvent,
  timeoutMs: number,
  until: Cancellation,
): Outbound | Promise<Outbound> {
  const opened = loaded.configuration.opened(endpoint)
  return opened instanceof Promise
    ? opened.then((clear) => withPlugins(ctx, loaded, clear, event, timeoutMs, until))
    : withPlugins(ctx, loaded, opened, event, timeoutMs, until)
}

function withPlugins(
  ctx: Context,
  loaded: Loaded,
  endpoint: Endpoint,
  event: StoredEvent,
  timeoutMs: number,
  until: Cancellation,
): Outbound | Promise<Outbound> {
  const plugins = loaded.configuration.pluginsOf(endpoint.id)
  const { compatible, deliver } = ctx.settings
  const base = outboundRequest(endpoint, event, deliver.userAgent)
  const { attempt } = loaded.delivery
  if (plugins.length === 0) return identified(base, event, attempt, compatible)
  const context = new DeliveryContext(ctx, loaded.delivery, event, endpoint, { timeoutMs, until })
  const changed = runOutbound(plugins, base, context)
  if (!(changed instanceof Promise)) return identified(sendable(changed, base), event, attempt, compatible)
  const late = (): Error => new Error(`plugins did not finish within ${timeoutMs} ms`)
  const inTime = context.time.within(changed, late)
  return inTime.then((request) => identified(sendable(request, base), event, attempt, compatible))
}

/**
 * @throws an error that says why a request cannot be sent as plugins changed it. `before`: the request before plugins
 * changed it.
 */
function sendable(request: Outbound, before: Outbound): Outbound {
  const problem = requestProblem(request, before)
  if (problem !== null) throw new Error(problem)
  return request
}
