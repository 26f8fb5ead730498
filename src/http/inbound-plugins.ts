import type { Context, ReadyPlugin } from '../context.ts'
import type { InboundContext } from '../contracts/plugin.ts'
import type { Inbound } from '../contracts/request.ts'
import { recordText } from '../core/capture.ts'
import { oneLine } from '../core/one-line.ts'
import { isInbound } from '../core/plugin-answer.ts'
import { PosthornError } from '../errors.ts'
import { withDeadline } from '../runtime/deadline.ts'
import type { Plugin } from '../schema/plugin.ts'
import { errorResponse, internalError } from './respond.ts'
import type { Found } from './source-lookup.ts'

const pluginDeadlineMs = 30_000

/** What the plugins of a source made of a request: the request, changed or not; an answer; or an answer that reports a failure. */
export type Passed =
  | { readonly kind: 'request'; readonly request: Inbound }
  | { readonly kind: 'answered'; readonly response: Response }
  | { readonly kind: 'failed'; readonly response: Response }

/** Runs the plugins of a source, in their order. */
export async function runInboundPlugins(
  ctx: Context,
  request: Inbound,
  { configuration, source }: Found,
  signal: AbortSignal,
): Promise<Passed> {
  const plugins = configuration.pluginsOf(source.id)
  if (plugins.length === 0) return { kind: 'request', request }
  const context: InboundContext = {
    now: ctx.clock.now(),
    signal,
    log: ctx.log,
    workspaceId: configuration.workspace.id,
    source,
  }
  let current = request
  for (const plugin of plugins) {
    const prepared = plugin.current() ?? (await plugin.prepared().catch(() => null))
    // The log has said once why the plugin cannot run.
    if (prepared === null) return { kind: 'failed', response: internalError() }
    if (prepared.inbound === undefined) continue
    try {
      const result = prepared.inbound(current, context)
      const answer =
        result instanceof Promise
          ? await withDeadline(ctx.clock, pluginDeadlineMs, result, () => stalled(plugin))
          : result
      if (answer instanceof Response) return { kind: 'answered', response: answer }
      if (!isInbound(answer)) throw new Error('it answered neither a request nor a Response')
      current = answer
    } catch (cause) {
      return { kind: 'failed', response: pluginFailed(ctx, plugin.row, cause) }
    }
  }
  return { kind: 'request', request: current }
}

/** A single line in the log, without a stack: the code may be a tenant's, and fail on every request. */
function pluginFailed(ctx: Context, { id, name }: Plugin, cause: unknown): Response {
  if (cause instanceof PosthornError && cause.code !== 'internal') return errorResponse(ctx, cause)
  const message = oneLine(String(cause instanceof Error ? cause.message : cause))
  ctx.log.error(`plugin ${id} (${name}) failed: ${recordText(message, 512)}`)
  ctx.log.debug(`plugin ${id} (${name}) failed`, { cause })
  return internalError()
}

function stalled({ row }: ReadyPlugin): Error {
  return new Error(`plugin '${row.name}' did not answer within ${pluginDeadlineMs} ms`)
}
