import type { GenericSchema } from 'valibot'

import { dataSchema } from '../core/data-schema.ts'
import type { EventSchema } from '../schema/catalogue.ts'
import type { Context } from '../context.ts'
import { PosthornError } from '../errors.ts'
import { adminHandler } from '../http/admin.ts'
import { isForeign } from '../http/browser.ts'
import type { Handler } from '../surface/handler.ts'
import { json } from '../http/respond.ts'
import { insideOf } from '../inside.ts'
import type { Authorize } from '../options.ts'
import { lazy } from '../runtime/lazy.ts'
import type { Services } from '../services/use-cases.ts'
import type { Posthorn } from '../surface/posthorn.ts'
import page from './app/dashboard/main.tsx?page'
import { answered } from './answered.ts'
import { checkedBase, pathBehind } from './mount.ts'
import { shell } from './shell.ts'
import type { Texts } from './app/english/index.ts'

export type { Authorize, Verdict } from '../options.ts'
export type { Handler } from '../surface/handler.ts'

export interface DashboardOptions {
  /** The path prefix the handler is mounted under, such as `/ops/webhooks`. Default ''. */
  readonly basePath?: string
  /**
   * Judges every request of the dashboard, in place of `admin.authorize`: the page itself as operation `dashboard`,
   * requests for data by the names of their operations, `status`, `health` and `plugin-kinds` by these names. Default:
   * `admin.authorize` of the instance.
   */
  readonly authorize?: Authorize
  /**
   * Texts in place of the English texts, such as `{ 'action.save': 'Speichern' }`; `{name}` is filled in. Default:
   * none.
   */
  readonly texts?: Texts
}

/**
 * Makes the dashboard for those who run the application: a page, and the data of the page below `<basePath>/api`.
 *
 * @example
 * const ops = dashboard(posthorn, { basePath: '/ops/webhooks', authorize: (request) => isOperator(request) })
 * app.all('/ops/webhooks/*', ({ req }) => ops.fetch(req.raw))
 * @throws PosthornError `validation` where neither `authorize` nor `admin.authorize` is given, and where an option is wrong.
 */
export function dashboard<Catalogue extends object, Plugins>(
  posthorn: Posthorn<Catalogue, Plugins>,
  options: DashboardOptions = {},
): Handler {
  const { ctx, services } = insideOf(posthorn, 'dashboard')
  const basePath = checkedBase(options.basePath ?? '', 'dashboard')
  const authorize = options.authorize ?? ctx.settings.admin.authorize
  if (authorize === undefined) {
    throw new PosthornError(
      'validation',
      'dashboard: authorize is required where createPosthorn has no admin.authorize',
    )
  }
  const settings = { ...ctx.settings.admin, basePath: `${basePath}/api`, authorize }
  const admin = adminHandler({ ...ctx, settings: { ...ctx.settings, admin: settings } }, services)
  const { asset, document } = shell(page, {
    title: 'Webhooks',
    basePath,
    settings: {
      ...(options.texts !== undefined && { texts: options.texts }),
      ...(ctx.settings.operations !== undefined && { operations: ctx.settings.operations.workspace }),
    },
    frameAncestors: [],
  })
  const reports = reportsOf(ctx, services)

  async function answer(request: Request): Promise<Response> {
    const path = pathBehind(new URL(request.url), basePath)
    if (path === null) return json(404, { message: 'not found' })
    if (path === '/api' || path.startsWith('/api/')) return await admin.fetch(request)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return json(405, { message: 'method not allowed' }, { allow: 'GET, HEAD' })
    }
    const found = await asset(path)
    if (found !== null) return found
    if (path.startsWith('/assets/')) return json(404, { message: 'not found' })
    const report = reports[path]
    const refusal = await refusalOf(request, report === undefined ? 'dashboard' : path.slice(1))
    if (refusal !== null) return refusal
    return report === undefined ? await document() : json(200, await report())
  }

  async function refusalOf(request: Request, operation: string): Promise<Response | null> {
    // A link from elsewhere may open the page, but nobody else's page may read what the page reads.
    if (operation !== 'dashboard' && isForeign(request, settings)) return json(403, { message: 'forbidden' })
    const verdict: unknown = await authorize!(request, { operation, workspace: null, params: {} })
    if (verdict instanceof Response) return verdict
    const { actor } = (verdict ?? {}) as { readonly actor?: unknown } // of whatever the host answered
    return verdict === true || typeof actor === 'string' ? null : json(403, { message: 'forbidden' })
  }

  return { fetch: (request) => answered(ctx, request, answer) }
}

const schemas = lazy(() => import('../http/openapi-inputs.ts'))

/** What the page reads beside the administrative API. */
function reportsOf(ctx: Context, { status, health }: Services): Readonly<Record<string, () => Promise<object>>> {
  return {
    '/status': status,
    '/health': health,
    async '/plugin-kinds'() {
      const { inputSchema } = await schemas()
      const schemaOf = (config: EventSchema) =>
        config['~standard'].vendor === 'valibot'
          ? inputSchema(config as unknown as GenericSchema) // as the vendor says
          : dataSchema(config)
      return ctx.plugins.all().map(({ name, sides, config }) => ({ name, sides, schema: schemaOf(config) }))
    },
  }
}
