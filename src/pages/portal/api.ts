import type { Context } from '../../context.ts'
import { portalRevision } from '../../core/kept-metadata.ts'
import { PosthornError } from '../../errors.ts'
import { readBody } from '../../http/read.ts'
import { json, secondsOf } from '../../http/respond.ts'
import { lazy } from '../../runtime/lazy.ts'
import type { Services } from '../../services/use-cases.ts'
import type { EventTypeService } from '../../surface/event-types.ts'
import { defaultWorkspace, resolveWorkspace } from '../../services/resolve-workspace.ts'
import { tellChange } from '../../services/tell-change.ts'
import { portalEndpoints } from './endpoints.ts'
import { find, type Offered } from './offered.ts'
import type { PortalSettings } from './options.ts'
import type { Session, Tokens } from './token.ts'

/** Requests that a token may make: a burst of 20, then 20 a second. */
const rate = { quota: 20, period: 1 }
/** An endpoint with all that a customer may write takes about half. */
const maxBodyBytes = 256 * 1024
/** A body counts as one request more for each of these: to parse it holds the event loop, which all tenants share. */
const bytesOfRequest = 16 * 1024

const portalDocument = lazy(() => import('./document.ts'))

/** The API of the portal. `path` is what stands behind `<basePath>/api/v1`. */
export type PortalApi = (request: Request, path: string) => Promise<Response>

export function portalApi(ctx: Context, given: Services, settings: PortalSettings, tokens: Tokens): PortalApi {
  const services = offeredServices(ctx, given, settings)

  /** The session of a request and its body, or the refusal of the request. */
  async function admitted(request: Request): Promise<Response | Entered> {
    const token = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    const session = token === undefined ? null : await tokens.read(token)
    if (token === undefined || session === null) return unauthorized('the token is missing or wrong')
    await ctx.clock.ready()
    const now = ctx.clock.now()
    if (session.expiresAt * 1000 <= now) return unauthorized('the session has ended')
    const body = await readBody(request, maxBodyBytes)
    if (body === 'too large') return json(413, { message: 'request entity too large' })
    const want = 1 + Math.floor(body.length / bytesOfRequest)
    // The signature names the token, and is nothing that could open a session.
    const key = `portal:${token.slice(token.lastIndexOf('.') + 1)}`
    const [grant] = await ctx.limiter.take([{ key, limit: rate, want }], now)
    if (grant !== undefined && grant.granted < want) {
      return json(429, { message: 'too many requests' }, { 'retry-after': secondsOf(grant.retryAfterMs) })
    }
    const workspace = await workspaceOf(ctx, session)
    if (workspace === null || portalRevision(workspace.metadata) !== session.revision) {
      return unauthorized('the session was revoked')
    }
    return { session, name: workspace.name, body }
  }

  return async (request, path) => {
    if (path === '/openapi.json' && request.method === 'GET') {
      return json(200, (await portalDocument()).portalDocument(`${settings.basePath}/api/v1`))
    }
    const entered = await admitted(request)
    if (entered instanceof Response) return entered
    const method = request.method === 'HEAD' ? 'GET' : request.method
    if (path === '/session' && method === 'GET') return json(200, shownSession(entered, settings))
    const found = find(method, path)
    if (found.kind === 'unknown') return json(404, { message: 'not found' })
    if (found.kind === 'wrong method') return json(405, { message: 'method not allowed' }, { allow: found.allow })
    const { offered, params } = found
    const refused = refusalOf(offered, entered.session, settings)
    if (refused !== null) return json(403, { message: refused })
    const { workspace } = entered.session
    return await offered.route.handle({
      services,
      clock: ctx.clock,
      parsing: ctx.parsing,
      reading: ctx.reading,
      request: withBody(request, entered.body),
      url: new URL(request.url),
      workspace,
      params,
      maxBodyBytes,
      tell: (change) => tellChange(ctx, { actor: 'portal', ...change }),
      about: {},
    })
  }
}

interface Entered {
  readonly session: Session
  /** Of the workspace. */
  readonly name: string | null
  /** Of the request. */
  readonly body: Uint8Array
}

/** The request with its body, which was read. */
function withBody(request: Request, body: Uint8Array): Request {
  if (request.body === null) return request
  const { url, method, headers, signal } = request
  return new Request(url, { method, headers, signal, body: body as Uint8Array<ArrayBuffer> }) // no bytes are shared
}

function refusalOf({ right }: Offered, { readOnly }: Session, { allow }: PortalSettings): string | null {
  if (right === 'read') return null
  if (!allow[right]) return 'this is not offered here'
  return readOnly ? 'the session is read-only' : null
}

/**
 * The workspace of a session; null where it is gone. A workspace that was made anew under the same id is another
 * workspace.
 */
async function workspaceOf(ctx: Context, { workspace, issuedAt }: Session) {
  try {
    const found = await resolveWorkspace(ctx, workspace)
    if (found.id !== workspace) return null
    return workspace === defaultWorkspace || found.created_at < (issuedAt + 1) * 1000 ? found : null
  } catch (cause) {
    if (cause instanceof PosthornError && cause.code === 'unknown_workspace') return null
    throw cause
  }
}

function shownSession({ session, name }: Entered, { allow, maxEndpoints }: PortalSettings): object {
  const { readOnly, expiresAt, returnUrl } = session
  return {
    workspace: { name },
    read_only: readOnly,
    expires_at: expiresAt * 1000,
    allow: readOnly
      ? Object.fromEntries(Object.keys(allow).map((name) => [name, name === 'headers' && allow.headers]))
      : allow,
    limits: { endpoints: maxEndpoints },
    return_url: returnUrl,
  }
}

/** The use cases as customers are offered them. */
function offeredServices(ctx: Context, services: Services, settings: PortalSettings): Services {
  const list: EventTypeService['list'] = (workspace) => services.eventTypes.list(workspace, { hidden: false })
  return {
    ...services,
    eventTypes: { list },
    // Rows and inputs of another form: the routes pass on what they are given.
    endpoints: { ...services.endpoints, ...portalEndpoints(ctx, settings) },
  }
}

function unauthorized(message: string): Response {
  return json(401, { message }, { 'www-authenticate': 'Bearer' })
}
