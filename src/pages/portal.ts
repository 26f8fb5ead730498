import { portalRevision, withNextPortalRevision } from '../core/kept-metadata.ts'
import { invalid } from '../errors.ts'
import type { Handler } from '../surface/handler.ts'
import { json } from '../http/respond.ts'
import { insideOf } from '../inside.ts'
import { urlProblem } from '../schema/endpoint.ts'
import { check } from '../schema/parse.ts'
import { closedObject, flag, integer, orNull, text, withDefault } from '../schema/fields.ts'
import { resolveWorkspace } from '../services/resolve-workspace.ts'
import type { Posthorn } from '../surface/posthorn.ts'
import { answered } from './answered.ts'
import page from './app/portal/main.tsx?page'
import { pathBehind } from './mount.ts'
import { portalApi } from './portal/api.ts'
import { type PortalOptions, portalSettings } from './portal/options.ts'
import { tokensOf } from './portal/token.ts'
import { shell } from './shell.ts'

export type { Handler } from '../surface/handler.ts'
export type { PortalAllowances, PortalBrand, PortalOptions } from './portal/options.ts'

export interface SessionOptions {
  /** How long the session lasts: 60 s to 30 days. Default 3600. */
  readonly ttlSeconds?: number
  /** Whether the customer may only look. Default false. */
  readonly readOnly?: boolean
  /** Where the page leads back to: an http or https URL. Default: nowhere. */
  readonly returnUrl?: string
}

/** A way into the portal for one customer. Whoever has the token has the session. */
export interface PortalSession {
  /** Opens the portal. The token stands in the fragment, which browsers send to nobody. */
  readonly url: string
  /** For `Authorization: Bearer` of the portal's API. */
  readonly token: string
  /** Unix milliseconds. */
  readonly expires_at: number
}

export interface Portal extends Handler {
  /**
   * Makes a session for the customer who owns a workspace, named by id or name.
   * @throws PosthornError `validation`, `unknown_workspace`
   */
  session(workspace: string, options?: SessionOptions): Promise<PortalSession>
  /** Ends all sessions of a workspace at once, in every process. @throws PosthornError `unknown_workspace` */
  revoke(workspace: string): Promise<void>
}

const daySeconds = 86_400
const sessionOptions = closedObject({
  ttlSeconds: withDefault(integer({ min: 60, max: 30 * daySeconds }), 3600),
  readOnly: withDefault(flag(), false),
  returnUrl: orNull(text({ max: 2048, rule: urlProblem })),
})

/**
 * Makes the portal, in which a customer of the application sees and changes the webhooks of a workspace.
 *
 * @example
 * const customers = portal(posthorn, { basePath: '/webhooks', secret: process.env.PORTAL_SECRET })
 * app.get('/account/webhooks', async (c) => c.redirect((await customers.session(c.get('tenant').id)).url))
 * @throws PosthornError `validation` that names the option at fault.
 */
export function portal<Catalogue extends object, Plugins>(
  posthorn: Posthorn<Catalogue, Plugins>,
  options: PortalOptions,
): Portal {
  const { ctx, services } = insideOf(posthorn, 'portal')
  const settings = portalSettings(options)
  const { basePath, origin, secrets, frameAncestors, brand, texts } = settings
  const tokens = tokensOf(ctx.platform, secrets)
  const api = portalApi(ctx, services, settings, tokens)
  const { asset, document } = shell(page, {
    title: brand.name ?? 'Webhooks',
    basePath,
    frameAncestors,
    settings: { brand, ...(texts !== undefined && { texts }) },
  })

  async function answer(request: Request): Promise<Response> {
    const path = pathBehind(new URL(request.url), basePath)
    if (path === null) return json(404, { message: 'not found' })
    if (path.startsWith('/api/v1/')) return await api(request, path.slice('/api/v1'.length))
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return json(405, { message: 'method not allowed' }, { allow: 'GET, HEAD' })
    }
    if (path.startsWith('/assets/')) return (await asset(path)) ?? json(404, { message: 'not found' })
    return path === '/api' || path.startsWith('/api/') ? json(404, { message: 'not found' }) : await document()
  }

  return {
    fetch: (request) => answered(ctx, request, answer),

    async session(workspace, given = {}) {
      const asked = check(sessionOptions, given)
      if (!asked.ok) throw invalid(typeof asked.fields === 'string' ? { options: asked.fields } : asked.fields)
      const { ttlSeconds, readOnly, returnUrl } = asked.value
      const { id, metadata } = await resolveWorkspace(ctx, workspace)
      await ctx.clock.ready()
      const issuedAt = Math.floor(ctx.clock.now() / 1000)
      const expiresAt = issuedAt + ttlSeconds
      const revision = portalRevision(metadata)
      const token = await tokens.sign({ workspace: id, readOnly, issuedAt, expiresAt, revision, returnUrl })
      return { url: `${origin}${basePath}/#${token}`, token, expires_at: expiresAt * 1000 }
    },

    async revoke(workspace) {
      const { id, metadata } = await resolveWorkspace(ctx, workspace)
      await services.workspaces.patch(id, { metadata: withNextPortalRevision(metadata) })
    },
  }
}
