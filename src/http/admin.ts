import { Router } from 'itty-router'

import type { Context } from '../context.ts'
import { withoutEmptyValues } from '../core/webhookx.ts'
import { PosthornError } from '../errors.ts'
import type { Method } from '../operations/operation.ts'
import type { Services } from '../services/use-cases.ts'
import { resolveWorkspace } from '../services/resolve-workspace.ts'
import { tellChange } from '../services/tell-change.ts'
import { isForeign } from './browser.ts'
import type { Handler } from '../surface/handler.ts'
import { errorResponse, json } from './respond.ts'
import type { Call, Route } from './route.ts'
import { routes } from './routes.ts'

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

type Params = Readonly<Record<string, string>>
type Match = { readonly route: Route; readonly params: Params }
/** The workspace of a path, or the error that the path deserves once the caller may hear it. */
type Place = { readonly workspace: { id: string; name: string | null } | null; readonly refusal: PosthornError | null }

const forbidden = () => json(403, { message: 'forbidden' })

/**
 * The administrative API. Checks go from the cheapest to the dearest and tell a caller who is not authorized nothing:
 * route, method, foreign pages and hosts, workspace, `authorize`, and only then what the path and the body name.
 */
export function adminHandler(ctx: Context, services: Services): Handler {
  const { basePath, maxBodyBytes, authorize } = ctx.settings.admin
  const match = matcher()

  async function answer(request: Request): Promise<Response> {
    const asked = new URL(request.url)
    const url = ctx.settings.compatible === 'webhookx' ? withoutEmptyValues(asked) : asked
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const path = mountedPath(url.pathname, basePath, method)
    if (path === null) return unknownRoute()
    const matched = await match(method, path)
    if (matched === null) return await wrongMethod(match, path)
    const params = decoded(matched.params)
    if (params === null) return unknownRoute()
    if (isForeign(request, ctx.settings.admin)) return forbidden()

    const { route } = matched
    const { workspace, refusal } = await placeOf(ctx, services, route, params)
    let actor: string | null = null
    if (authorize !== undefined) {
      const verdict: unknown = await authorize(request, { operation: route.operation, workspace, params })
      if (verdict instanceof Response) return verdict
      actor = actorOf(verdict)
      if (verdict !== true && actor === null) return forbidden()
    }
    if (refusal !== null) throw refusal
    const call: Call = {
      services,
      clock: ctx.clock,
      parsing: ctx.parsing,
      reading: ctx.reading,
      request,
      url,
      workspace: workspace?.id ?? '',
      params,
      maxBodyBytes,
      tell: (change) => tellChange(ctx, { actor, ...change }),
      about: { ...ctx.settings.admin, events: ctx.catalogue.entries },
    }
    return await route.handle(call)
  }

  return {
    async fetch(request) {
      let response: Response
      try {
        response = await answer(request)
      } catch (cause) {
        response = errorResponse(ctx, cause)
      }
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
  }
}

/** Who calls, where `authorize` says so. */
function actorOf(verdict: unknown): string | null {
  const { actor } = (verdict ?? {}) as { readonly actor?: unknown } // of whatever the host answered
  return typeof actor === 'string' ? actor : null
}

/** The answer to a path that is known with other methods, or not at all. */
async function wrongMethod(match: ReturnType<typeof matcher>, path: string): Promise<Response> {
  const known: string[] = []
  for (const method of methods) {
    if ((await match(method, path)) === null) continue
    known.push(method)
    if (method === 'GET') known.push('HEAD')
  }
  if (known.length === 0) return unknownRoute()
  return json(405, { message: 'method not allowed' }, { allow: known.join(', ') })
}

/** Resolves the workspace that a path names. */
async function placeOf(ctx: Context, services: Services, route: Route, params: Params): Promise<Place> {
  const named = route.path.startsWith('/workspaces/:id')
  if (!route.scoped && !named) return { workspace: null, refusal: null }
  try {
    // `/workspaces/{id}` takes ids only; a scoped path takes names too, and means `default` when it names none.
    const { id, name } = named
      ? await services.workspaces.get(params['id'] ?? '')
      : await resolveWorkspace(ctx, params['ws_id'] ?? 'default')
    return { workspace: { id, name }, refusal: null }
  } catch (cause) {
    if (!(cause instanceof PosthornError) || !isAboutThePath(cause)) throw cause
    // The routes of a single workspace tell themselves that it is unknown; deletion does not mind.
    return { workspace: null, refusal: named ? null : cause }
  }
}

function isAboutThePath({ code }: PosthornError): boolean {
  return code === 'unknown_workspace' || code === 'not_found' || code === 'validation'
}

/** Finds the route of a method and a path; null when no route fits. */
function matcher(): (method: string, path: string) => Promise<Match | null> {
  const router = Router()
  for (const route of routes) {
    const found = ({ params }: { params: Params }): Match => ({ route, params })
    const register = router[route.method.toLowerCase() as Lowercase<Method>]
    if (route.scoped) register(`/workspaces/:ws_id${route.path}`, found)
    register(route.path, found)
  }
  return async (method, path) =>
    ((await router.fetch({ method, url: `http://localhost${path}` })) as Match | undefined) ?? null
}

/**
 * The path behind the mount prefix; null when it lies outside. A GET may have one slash at the end. Other methods may not:
 * `DELETE /workspaces/a/endpoints/..` comes as `/workspaces/a/`, and must not delete the workspace.
 */
function mountedPath(pathname: string, basePath: string, method: string): string | null {
  if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return null
  const behind = pathname.slice(basePath.length)
  const path = method === 'GET' ? behind.replace(/(.)\/$/, '$1') : behind
  // The router would overlook any number of slashes at the end.
  return path.length > 1 && path.endsWith('/') ? null : path
}

/** Percent-decoded parameters; null when an escape is malformed. */
function decoded(params: Params): Params | null {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    return null
  }
}

function unknownRoute(): Response {
  return json(404, { message: 'not found' })
}
