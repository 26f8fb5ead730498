import type { CompiledConfiguration, Context, ReadyPlugin } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import type { Inbound, InboundContext } from '../contracts/plugin.ts'
import type { Route } from '../contracts/storage/configuration.ts'
import { recordText } from '../core/capture.ts'
import { parseJson, sliceProperty } from '../core/json-slice.ts'
import { oneLine } from '../core/one-line.ts'
import { type Tenant, tenantShares } from '../core/tenants.ts'
import { PosthornError } from '../errors.ts'
import { gatewayInput } from '../schema/event.ts'
import { parse } from '../schema/parse.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import { withDeadline } from '../runtime/deadline.ts'
import type { Incoming, Ingest } from '../services/ingest.ts'
import type { RouteTable } from '../services/routes.ts'
import type { Handler } from '../surface/handler.ts'
import { takeIn } from './intake.ts'
import { errorResponse, internalError, json } from './respond.ts'

/** Answers with which the gateway itself refuses, as the status report counts them. */
const failures = new Set([400, 404, 408, 413, 429, 500, 503])
const mostTries = 5
const pluginDeadlineMs = 30_000
/** Bytes of bodies from the first one that came until the request is answered: the most memory that requests take. */
const mostPendingBytes = 128 * 1024 * 1024

type Found = { readonly configuration: CompiledConfiguration; readonly source: Source; readonly path: string }

/** Turns inbound requests into events. */
export function gatewayHandler(ctx: Context, routes: RouteTable, ingest: Ingest): Handler {
  const { basePath, maxBodyBytes, maxPending, bodyTimeoutMs } = ctx.settings.gateway
  let looking = 0
  const pending = tenantShares(maxPending)
  const pendingBytes = tenantShares(mostPendingBytes)
  const eventIdNames = ['webhook-event-id', ...(ctx.settings.compatible === 'webhookx' ? ['x-webhookx-event-id'] : [])]

  function overloaded(): PosthornError {
    ctx.emit('overloaded', { what: 'gateway' })
    return new PosthornError('overloaded', 'service unavailable')
  }

  /** Looks for the source of a request, whose tenant is not known yet. Too much of it at once is refused. */
  async function looked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (looking >= maxPending) throw overloaded()
    looking++
    try {
      return await work()
    } finally {
      looking--
    }
  }

  /** Does work that may wait for an engine. More of it than the tenant's share is refused, so that a stalled engine fills no memory. */
  async function bounded<Answer>(tenant: Tenant, work: () => Promise<Answer>): Promise<Answer> {
    if (!pending.take(tenant, 1)) throw overloaded()
    try {
      return await work()
    } finally {
      pending.give(tenant, 1)
    }
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const path = mountedPath(url.pathname, basePath)
    const found = path === null ? undefined : await looked(() => find(path, request.method))
    if (!found) return failed(json(404, { message: 'not found' }))

    const grant = await bounded(tenantOf(found), () => limit(found.source))
    if (grant === null) return await accept(request, url, found)
    const headers = limitHeaders(found.source, grant)
    if (grant.granted === 0) {
      const retryAfter = String(Math.max(1, Math.ceil(grant.retryAfterMs / 1000)))
      return failed(json(429, { message: 'rate limit exceeded' }, { ...headers, 'retry-after': retryAfter }))
    }
    const response = await accept(request, url, found).catch((cause: unknown) => failed(errorResponse(ctx, cause)))
    return withHeaders(response, headers)
  }

  async function find(path: string, method: string): Promise<Found | undefined> {
    const route = await routes.find(path, method)
    return route && (await sourceOf(route, path, method))
  }

  /** The source as it is configured now. Of the route and the configuration kept here, either may be the older one. */
  async function sourceOf(route: Route, path: string, method: string): Promise<Found | undefined> {
    for (const read of [ctx.configuration.get, ctx.configuration.fresh]) {
      const configuration = await read(route.workspaceId)
      const found = configuration && servedBy(configuration, route.sourceId, path, method)
      if (found) return found
    }
    routes.forget()
    return undefined
  }

  async function limit(source: Source): Promise<Grant | null> {
    if (source.rate_limit === null) return null
    await ctx.clock.ready?.()
    const now = ctx.clock.now()
    try {
      const [grant] = await ctx.limiter.take([{ key: `source:${source.id}`, limit: source.rate_limit, want: 1 }], now)
      return grant ?? null
    } catch (cause) {
      ctx.repeating.error('the limiter does not answer: requests pass unlimited', { cause })
      return null
    }
  }

  async function accept(request: Request, url: URL, found: Found): Promise<Response> {
    const tenant = tenantOf(found)
    let bytes = 0
    const take = (more: number): boolean => {
      const taken = pendingBytes.take(tenant, more)
      if (taken) bytes += more
      return taken
    }
    try {
      const intake = { maxBytes: maxBodyBytes, clock: ctx.clock, timeoutMs: bodyTimeoutMs, take }
      const body = await takeIn(request, intake)
      if (body === 'too large') return failed(tooLarge())
      if (body === 'too late') return failed(json(408, { message: 'request timeout' }, { connection: 'close' }))
      if (body === 'no room') throw overloaded()
      const inbound = { method: request.method, url, path: found.path, headers: request.headers, body }
      return await bounded(tenant, () => publish(inbound, found, request.signal))
    } finally {
      if (bytes > 0) pendingBytes.give(tenant, bytes)
    }
  }

  /** Runs the plugins and stores what is left; again from the plugins on when the configuration moved meanwhile, since they may be others now. */
  async function publish(request: Inbound, first: Found, signal: AbortSignal): Promise<Response> {
    let found = first
    for (let tries = 0; tries < mostTries; tries++) {
      const passed = await runPlugins(request, found, signal)
      if (passed instanceof Response) return passed
      const incoming = eventOf(passed.body)
      await ctx.catalogue.check(incoming.event_type, incoming.data)
      if (found.source.async) return await putAside(incoming, found)
      const stored = await ingest.under(found.configuration, incoming)
      if (stored !== 'stale') return accepted(found.source, eventIdNames, stored.event.id)
      const configuration = await ctx.configuration.fresh(found.configuration.workspace.id)
      const now = configuration && servedBy(configuration, found.source.id, found.path, request.method)
      if (!now) return failed(json(404, { message: 'not found' }))
      found = now
    }
    throw new PosthornError('unavailable', 'the configuration changes too fast to match the event')
  }

  async function putAside(incoming: Incoming, { configuration, source }: Found): Promise<Response> {
    const id = ctx.newId()
    const trace = ctx.telemetry?.current()
    const [answer] = await ctx.inbox.put([
      {
        ...incoming,
        id,
        workspaceId: configuration.workspace.id,
        received_at: ctx.clock.now(),
        ...(trace && { trace }),
      },
    ])
    if (answer?.kind === 'rejected') {
      throw new PosthornError('internal', 'the inbox refused the event', { cause: answer.cause })
    }
    // The id of an event with a unique_id is known only when it is stored: it may have been seen before.
    return accepted(source, eventIdNames, incoming.unique_id === null ? id : null)
  }

  async function runPlugins(
    request: Inbound,
    { configuration, source }: Found,
    signal: AbortSignal,
  ): Promise<Inbound | Response> {
    const plugins = configuration.pluginsOf(source.id)
    if (plugins.length === 0) return request
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
      // Why it cannot run was told once.
      if (prepared === null) return failed(internalError())
      if (prepared.inbound === undefined) continue
      try {
        const result = prepared.inbound(current, context)
        const answer =
          result instanceof Promise
            ? await withDeadline(ctx.clock, pluginDeadlineMs, result, () => stalled(plugin))
            : result
        if (answer instanceof Response) return answer
        current = answer
      } catch (cause) {
        return failed(pluginFailed(plugin.row, cause))
      }
    }
    return current
  }

  /** One line in the log, without a stack: the code may be a tenant's, and fail on every request. */
  function pluginFailed({ id, name }: Plugin, cause: unknown): Response {
    if (cause instanceof PosthornError && cause.code !== 'internal') return errorResponse(ctx, cause)
    const message = oneLine(String(cause instanceof Error ? cause.message : cause))
    ctx.log.error(`plugin ${id} (${name}) failed: ${recordText(message, 512)}`)
    ctx.log.debug(`plugin ${id} (${name}) failed`, { cause })
    return internalError()
  }

  function failed(response: Response): Response {
    if (failures.has(response.status)) ctx.counters.inboundFailed++
    return response
  }

  return {
    async fetch(request) {
      ctx.counters.inbound++
      try {
        return inert(await answer(request))
      } catch (cause) {
        return inert(failed(errorResponse(ctx, cause)))
      }
    },
  }
}

function tenantOf({ configuration, source }: Found): Tenant {
  return { workspace: configuration.workspace.id, owner: source.id }
}

function tooLarge(): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return new Response('Request Entity Too Large', { status: 413, headers })
}

const inertHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
}

/** What tenants let a source answer comes from the host's origin: nothing in it may run there when a browser shows it. */
function inert(response: Response): Response {
  try {
    for (const [name, value] of Object.entries(inertHeaders)) response.headers.set(name, value)
    return response
  } catch {
    return withHeaders(response, inertHeaders) // the headers of what a plugin fetched cannot be changed
  }
}

function stalled({ row }: ReadyPlugin): Error {
  return new Error(`plugin '${row.name}' did not answer within ${pluginDeadlineMs} ms`)
}

function servedBy(
  configuration: CompiledConfiguration,
  sourceId: string,
  path: string,
  method: string,
): Found | undefined {
  const source = configuration.sources.get(sourceId)
  if (source === undefined || !source.enabled) return undefined
  const { http } = source.config
  const serves = http.path === path && http.methods.some((one) => one === method)
  return serves ? { configuration, source, path } : undefined
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

/** The event that a body describes; `data` as its very text. @throws PosthornError `validation` that tells what is wrong. */
function eventOf(body: Uint8Array): Incoming {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new PosthornError('validation', 'the body is not UTF-8', { cause })
  }
  const { event_type, unique_id } = parse(gatewayInput, parseJson(text))
  return { id: null, event_type, data: sliceProperty(text, 'data')!, unique_id } // the schema saw that it is there
}

function accepted(source: Source, eventIdNames: readonly string[], eventId: string | null): Response {
  const headers: Record<string, string> = {}
  if (eventId !== null) for (const name of eventIdNames) headers[name] = eventId
  const { response } = source.config.http
  if (response === null) {
    return new Response('{"message": "OK"}', { headers: { 'content-type': 'application/json', ...headers } })
  }
  const bodiless = response.code === 204 || response.code === 205 || response.code === 304
  return new Response(bodiless ? null : response.body, {
    status: response.code,
    headers: bodiless ? headers : { 'content-type': response.content_type, ...headers },
  })
}

function limitHeaders({ rate_limit }: Source, grant: Grant): Record<string, string> {
  return {
    'x-ratelimit-limit': String(rate_limit!.quota), // only limited sources come here
    'x-ratelimit-remaining': String(grant.remaining),
    'x-ratelimit-reset': String(Math.max(1, Math.ceil(grant.resetMs / 1000))),
  }
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const all = new Headers(response.headers)
  for (const [name, value] of Object.entries(headers)) all.set(name, value)
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: all })
}
