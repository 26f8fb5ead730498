import type { Context } from '../context.ts'
import type { Bounds, Inserted } from '../contracts/storage/configuration.ts'
import { withEndpointDefaults } from '../core/endpoint-defaults.ts'
import { type Disabling, isHeld, writtenEndpoint } from '../core/endpoint-row.ts'
import { type FieldErrors, invalid } from '../errors.ts'
import { type Endpoint, endpointInput } from '../schema/endpoint.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { signature } from './plugins.ts'
import { type Described, resourceService } from './resources.ts'
import type { EndpointUseCases } from './use-cases.ts'
import { withWriteLock } from '../runtime/write-lock.ts'

/** @param signed what the config of a new endpoint's signature says, where `deliver.sign` gives it a signature. */
export function endpointResources(
  ctx: Context,
  { signed = {} }: { readonly signed?: Readonly<Record<string, unknown>> } = {},
): Omit<EndpointUseCases, 'health' | 'test' | 'secret' | 'rotateSecret'> {
  return resourceService(ctx, {
    noun: 'endpoints',
    collection: ctx.storage.endpoints,
    parameters: listParameters.endpoints,
    describe(input, existing): Described<Endpoint> {
      const { id, fields } = describe(withEndpointDefaults(input, ctx.settings.deliver.defaults))
      const problems = insecureProblem(ctx, fields.request.url, existing)
      if (problems !== null) throw invalid(problems)
      return { id, fields }
    },
    written: writtenEndpoint,
    told: (before, after) => (after.enabled && !before.enabled ? { missed_since: before.disabled_at } : {}),
    async replaced(before, after) {
      if (isHeld(before) && (after === null || !isHeld(after))) await ctx.resumed([before.id])
    },
    ...(ctx.settings.deliver.sign === 'none' ? {} : { insert: insertSigned }),
  })

  /** Stores an endpoint and its signature in one step, so that nothing is ever sent unsigned. */
  function insertSigned(workspaceId: string, row: Endpoint, bounds: Bounds): Promise<Inserted> {
    return withWriteLock<Inserted>(ctx.storage, workspaceId, async () => {
      const current = await ctx.configuration.fresh(workspaceId)
      if (current === null) return 'missing'
      // A plan replaces a row that exists; a new endpoint must not.
      if (current.endpoints.has(row.id)) return { kind: 'unique', key: { id: row.id } }
      const plan = {
        workspaceId,
        endpoints: { put: [row], remove: [] },
        sources: { put: [], remove: [] },
        plugins: {
          put: [await ctx.secrets.sealed(workspaceId, 'plugins', await signature(ctx, row.id, signed))],
          remove: [],
        },
        bounds,
      }
      const outcome = await ctx.storage.applyConfig(plan, current.revision)
      return outcome === 'applied' ? 'written' : outcome
    })
  }
}

function describe(input: unknown): Described<Endpoint> {
  const { id, plugins: _plugins, ...given } = parse(endpointInput, input)
  return { id, fields: endpointFields(given) }
}

/** The fields of an endpoint that an input may set, without the fields that only Posthorn writes. */
export function endpointFields<Given extends object>({
  created_at: _created,
  updated_at: _updated,
  disabled_at: _at,
  disabled_reason: _reason,
  disabled_detail: _detail,
  missed_since: _missed,
  ...fields
}: Given & { readonly [Name in keyof Disabling | 'created_at' | 'updated_at' | 'missed_since']?: unknown }) {
  return fields
}

/**
 * The refusal of an http url under `deliver.httpsOnly`, or null. A url that the endpoint has already stays, so that the
 * endpoint can still be changed and disabled.
 */
export function insecureProblem(ctx: Context, url: string, existing: Endpoint | null): FieldErrors | null {
  if (!ctx.settings.deliver.httpsOnly || existing?.request.url === url) return null
  return new URL(url).protocol === 'https:' ? null : { request: { url: 'value must be an https URL' } }
}
