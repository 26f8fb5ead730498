import type { Context } from '../../context.ts'
import { denyRules } from '../../core/deny-rules.ts'
import { type FieldError, type FieldErrors, invalid, PosthornError } from '../../errors.ts'
import type { Endpoint } from '../../schema/endpoint.ts'
import { isPlainObject } from '../../schema/fields.ts'
import type { Millis } from '../../schema/shared.ts'
import { endpointResources } from '../../services/endpoints.ts'
import type { Services } from '../../services/use-cases.ts'
import type { PortalSettings } from './options.ts'

/** An endpoint as the customer sees it. */
export interface PortalEndpoint extends Pick<
  Endpoint,
  'id' | 'description' | 'events' | 'enabled' | 'paused' | 'disabled_at' | 'disabled_reason' | 'disabled_detail'
> {
  /** Where deliveries are sent. */
  readonly url: string
  /** Headers that the customer set; null where no header is set, and where the host does not offer headers. */
  readonly headers: Readonly<Record<string, string>> | null
  /** When the endpoint was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the endpoint last changed, unix milliseconds. */
  readonly updated_at: Millis
}

/** What a customer may write of an endpoint. A member that is missing stays as it is; at first it has the host's default. */
export interface PortalEndpointInput {
  /** Where deliveries are sent: http or https. */
  readonly url: string
  /** A few words about it. */
  readonly description?: string | null
  /** Event types or patterns: `invoice.paid`, `invoice.*`, `invoice.**`, `*`. */
  readonly events?: readonly string[]
  /** Headers that deliveries carry, up to 100. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** Whether deliveries are made. Default true. */
  readonly enabled?: boolean
}

type Endpoints = Pick<Services['endpoints'], 'list' | 'get' | 'create' | 'patch'>

/** The use cases of endpoints as the portal offers them: rows and inputs have the form of `PortalEndpoint`. */
export function portalEndpoints(ctx: Context, { allow, maxEndpoints, httpsOnly, envelope }: PortalSettings): object {
  const { deliver, limits } = ctx.settings
  const settings = {
    ...ctx.settings,
    // The portal shows a secret, so `none` becomes Standard Webhooks; any other choice of the host stands.
    deliver: {
      ...deliver,
      sign: deliver.sign === 'none' ? ('standard-webhooks' as const) : deliver.sign,
      httpsOnly: deliver.httpsOnly || httpsOnly,
    },
    limits: { ...limits, endpoints: Math.min(limits.endpoints, maxEndpoints ?? Infinity) },
  }
  const signed = { envelope: envelope ?? deliver.sign === 'none' }
  const endpoints: Endpoints = endpointResources({ ...ctx, settings }, { signed })
  const judge = denyRules(deliver)
  const shown = (row: Endpoint) => shownEndpoint(row, allow.headers)

  /** What the service takes in place of what a customer writes. */
  function written(input: unknown): object {
    if (!isPlainObject(input)) throw new PosthornError('validation', 'value must be an object')
    const { url, description, events, headers, enabled } = input
    if (headers !== undefined && !allow.headers) throw invalid({ headers: 'headers are not offered here' })
    const denied = typeof url === 'string' && URL.canParse(url) ? judge.judgeHost(new URL(url).hostname) : null
    if (denied?.kind === 'denied') throw invalid({ url: denied.message })
    const request = { ...(url !== undefined && { url }), ...(headers !== undefined && { headers }) }
    const given = { description, events, enabled }
    const named = Object.entries(given).filter(([, value]) => value !== undefined)
    return { ...Object.fromEntries(named), ...(Object.keys(request).length > 0 && { request }) }
  }

  return {
    async list(workspace: string, query: object) {
      const page = await endpoints.list(workspace, query)
      return { ...page, data: page.data.map(shown) }
    },
    get: async (workspace: string, id: string) => shown(await endpoints.get(workspace, id)),
    create: async (workspace: string, input: unknown) =>
      shown(await flat(() => endpoints.create(workspace, written(input) as Parameters<Endpoints['create']>[1]))),
    patch: async (workspace: string, id: string, input: unknown) =>
      shown(await flat(() => endpoints.patch(workspace, id, written(input)))),
  }
}

function shownEndpoint(row: Endpoint, withHeaders: boolean): PortalEndpoint {
  const { id, request, description, events, enabled, paused, disabled_at, disabled_reason, disabled_detail } = row
  return {
    id,
    url: request.url,
    description,
    events,
    headers: withHeaders ? request.headers : null,
    enabled,
    paused,
    disabled_at,
    disabled_reason,
    disabled_detail,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** Tells the reasons of a refusal at the places where the customer wrote: `url` for `request.url`. */
async function flat(write: () => Promise<Endpoint>): Promise<Endpoint> {
  try {
    return await write()
  } catch (cause) {
    if (!(cause instanceof PosthornError) || !isPlainObject(cause.fields?.['request'])) throw cause
    const { request, ...others } = cause.fields as Readonly<Record<string, FieldError>>
    throw invalid({ ...others, ...(request as FieldErrors) })
  }
}
