import type { Context } from '../context.ts'
import type { Inbound } from '../contracts/request.ts'
import { recordBytes } from '../core/capture.ts'
import { PosthornError } from '../errors.ts'
import type { Ingest } from '../services/ingest.ts'
import type { RouteTable } from '../services/routes.ts'
import type { Handler } from '../surface/handler.ts'
import { reasonOf } from './answer-reason.ts'
import { eventOf, putAside } from './inbound-event.ts'
import { runInboundPlugins } from './inbound-plugins.ts'
import { InboundShares } from './inbound-shares.ts'
import { takeIn } from './intake.ts'
import { errorResponse, json, secondsOf } from './respond.ts'
import { accepted, inert, tooLarge, withHeaders } from './source-answer.ts'
import { askSourceLimit, limitHeaders } from './source-limit.ts'
import { findSource, type Found, servedBy, tenantOf } from './source-lookup.ts'

/** Answers with which the gateway itself refuses, as the status report counts them. */
const failures = new Set([400, 404, 408, 413, 429, 500, 503])
const maxTries = 5

/** Turns inbound requests into events. */
export function gatewayHandler(ctx: Context, routes: RouteTable, ingest: Ingest): Handler {
  const gateway = new Gateway(ctx, routes, ingest)
  return { fetch: (request) => gateway.fetch(request) }
}

/** What is recorded of a request for `sources.requests`, which shows the last requests. */
interface Seen {
  body: string | null
}

interface Asked {
  readonly request: Request
  readonly url: URL
  readonly seen: Seen
}

class Gateway {
  readonly #ctx: Context
  readonly #routes: RouteTable
  readonly #ingest: Ingest
  readonly #shares: InboundShares
  readonly #eventIdNames: readonly string[]

  constructor(ctx: Context, routes: RouteTable, ingest: Ingest) {
    this.#ctx = ctx
    this.#routes = routes
    this.#ingest = ingest
    this.#shares = new InboundShares(ctx)
    const older = ctx.settings.compatible === 'webhookx' ? ['x-webhookx-event-id'] : []
    this.#eventIdNames = ['webhook-event-id', ...older]
  }

  async fetch(request: Request): Promise<Response> {
    this.#ctx.counters.inbound++
    try {
      return inert(await this.#answer(request))
    } catch (cause) {
      return inert(this.#failed(errorResponse(this.#ctx, cause)))
    }
  }

  async #answer(request: Request): Promise<Response> {
    const ctx = this.#ctx
    const url = new URL(request.url)
    const path = mountedPath(url.pathname, ctx.settings.gateway.basePath)
    const find = async () => (path === null ? undefined : findSource(ctx, this.#routes, path, request.method))
    const found = await this.#shares.looking(find)
    if (!found) return this.#failed(json(404, { message: 'not found' }))
    const since = ctx.clock.elapsed()
    const seen: Seen = { body: null }
    const response = await this.#serve({ request, url, seen }, found).catch((cause: unknown) =>
      this.#failed(errorResponse(ctx, cause)),
    )
    const taken = {
      at: ctx.clock.now(),
      method: request.method,
      status: response.status,
      latency: Math.round(ctx.clock.elapsed() - since),
      event_id: response.headers.get('webhook-event-id'),
      reason: null as string | null,
      body: seen.body,
    }
    ctx.requests.add({ workspaceId: found.configuration.workspace.id, sourceId: found.source.id }, taken)
    if (response.status >= 400) void reasonOf(response).then((reason) => (taken.reason = reason))
    return response
  }

  async #serve(asked: Asked, found: Found): Promise<Response> {
    const ctx = this.#ctx
    const grant = await this.#shares.waiting(tenantOf(found), () => askSourceLimit(ctx, found.source))
    if (grant === null) return await this.#accept(asked, found)
    const headers = limitHeaders(found.source, grant)
    if (grant.granted === 0) {
      const refusal = { ...headers, 'retry-after': secondsOf(grant.retryAfterMs) }
      return this.#failed(json(429, { message: 'rate limit exceeded' }, refusal))
    }
    const response = await this.#accept(asked, found).catch((cause: unknown) => this.#failed(errorResponse(ctx, cause)))
    return withHeaders(response, headers)
  }

  /** Reads the body and publishes what the plugins make of it. */
  async #accept({ request, url, seen }: Asked, found: Found): Promise<Response> {
    const { clock, settings } = this.#ctx
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs, captureBytes } = settings.gateway
    const tenant = tenantOf(found)
    return await this.#shares.reading(tenant, async (take) => {
      const body = await takeIn(request, { maxBytes, clock, timeoutMs, take })
      if (body === 'too large') return this.#failed(tooLarge())
      if (body === 'too late') return this.#failed(json(408, { message: 'request timeout' }, { connection: 'close' }))
      if (body === 'no room') throw this.#shares.overloaded()
      if (captureBytes > 0) seen.body = recordBytes(body, captureBytes)
      const inbound = { method: request.method, url, path: found.path, headers: request.headers, body }
      return await this.#shares.waiting(tenant, () => this.#publish(inbound, found, request.signal))
    })
  }

  /**
   * Runs the plugins and stores what they leave. When the configuration changed meanwhile, it runs the plugins again,
   * since they may be others now.
   */
  async #publish(request: Inbound, first: Found, signal: AbortSignal): Promise<Response> {
    const ctx = this.#ctx
    let found = first
    for (let tries = 0; tries < maxTries; tries++) {
      const passed = await runInboundPlugins(ctx, request, found, signal)
      if (passed.kind === 'answered') return passed.response
      if (passed.kind === 'failed') return this.#failed(passed.response)
      const { body } = passed.request
      const incoming = await ctx.parsing.run(first.configuration.workspace.id, body.length, () => eventOf(body))
      await ctx.catalogue.check(incoming.event_type, incoming.data)
      if (tries === 0) await this.#ingest.admit(found.configuration.workspace)
      if (found.source.async) {
        return accepted(found.source, this.#eventIdNames, await putAside(ctx, this.#ingest, incoming, found))
      }
      const stored = await this.#ingest.under(found.configuration, incoming)
      if (stored !== 'stale') return accepted(found.source, this.#eventIdNames, stored.event.id)
      const configuration = await ctx.configuration.fresh(found.configuration.workspace.id)
      const now = configuration && servedBy(configuration, found.source.id, found.path, request.method)
      if (!now) return this.#failed(json(404, { message: 'not found' }))
      found = now
    }
    throw new PosthornError('unavailable', 'the configuration changes too fast to match the event')
  }

  #failed(response: Response): Response {
    if (failures.has(response.status)) this.#ctx.counters.inboundFailed++
    return response
  }
}

/** The decoded path behind the mount prefix; null when it lies outside or is malformed. */
function mountedPath(pathname: string, basePath: string): string | null {
  if (basePath !== '' && pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return null
  try {
    return decodeURIComponent(pathname.slice(basePath.length)) || '/'
  } catch {
    return null
  }
}
