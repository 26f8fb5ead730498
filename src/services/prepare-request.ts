import type { Context } from '../context.ts'
import type { Outbound } from '../contracts/request.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { identified, outboundRequest, requestProblem } from '../core/request.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Loaded } from './loaded-attempt.ts'
import { DeliveryContext, runOutbound } from './outbound.ts'
import { PluginTime } from './plugin-time.ts'

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
  const { workspaceId, attempt } = loaded.delivery
  if (plugins.length === 0) return identified(base, event, attempt, compatible)
  const values = { now: ctx.clock.now(), log: ctx.log, workspaceId, event, attempt, endpoint }
  const time = new PluginTime(ctx.clock, timeoutMs)
  const changed = runOutbound(plugins, base, new DeliveryContext({ ...values, pause: time.pause }, until))
  const finish = (request: Outbound): Outbound => {
    const problem = requestProblem(request, base)
    if (problem !== null) throw new Error(problem)
    return identified(request, event, attempt, compatible)
  }
  const late = () => new Error(`plugins did not finish within ${timeoutMs} ms`)
  return changed instanceof Promise ? time.within(changed, late).then(finish) : finish(changed)
}
