import type { Context } from '../context.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import { sameJson } from '../core/same-json.ts'
import { type FieldErrors, invalid, PosthornError } from '../errors.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { type Plugin, pluginInput } from '../schema/plugin.ts'
import { checkStandard } from '../schema/standard.ts'
import { type Described, resourceService } from './resources.ts'
import { holdsSealed, sealedRowsOf } from './secrets/row-secrets.ts'
import type { PluginUseCases } from './use-cases.ts'

export function pluginService(ctx: Context): PluginUseCases {
  async function describe(input: unknown, existing: Plugin | null, workspaceId: string): Promise<Described<Plugin>> {
    const { id, created_at: _created, updated_at: _updated, ...fields } = parse(pluginInput, input)
    const kind = ctx.plugins.get(fields.name)
    if (kind === undefined) throw invalid({ name: unknownName(fields.name) })
    const misplaced = placeProblems(kind, fields)
    if (misplaced !== null) throw invalid(misplaced)
    const unready = await readyProblem(ctx, kind)
    if (unready !== null) throw invalid({ name: unready })
    // A config of another kind has no parts that stay.
    const kept = existing?.name === fields.name ? existing.config : null
    if (kept !== null && staysSealed(fields.config, kept)) return { id, fields: { ...fields, config: kept } }
    const config = await completeConfig(ctx, kind, fields.config, kept, workspaceId)
    if (!config.ok) throw invalid({ config: config.fields })
    return { id, fields: { ...fields, config: config.value } }
  }
  return resourceService(ctx, {
    noun: 'plugins',
    collection: ctx.storage.plugins,
    parameters: listParameters.plugins,
    describe,
  })
}

export function unknownName(name: string): string {
  return `unknown plugin name '${name}'`
}

/**
 * Why no plugin of this kind can be written in this process, or null: what the kind needs is not installed, for
 * instance. The operator can mend that, so the log has the cause.
 */
export async function readyProblem(ctx: Context, { name }: PluginKind): Promise<string | null> {
  try {
    await ctx.plugins.ready(ctx.platform, [name])
    return null
  } catch (cause) {
    ctx.log.error(`plugin '${name}' cannot run`, { cause })
    return `plugin '${name}' cannot run here: what it needs could not be loaded`
  }
}

/** What is wrong with where a plugin of this kind is attached, or null. A kind of both sides needs exactly one owner. */
export function placeProblems(
  { name, sides }: PluginKind,
  owner: { readonly endpoint_id: string | null; readonly source_id: string | null },
): FieldErrors | null {
  const required = (field: string) => ({ [field]: `${field} is required for plugin '${name}'` })
  const refused = (field: string) => ({ [field]: `${field} is not allowed for plugin '${name}'` })
  const has = { inbound: owner.source_id !== null, outbound: owner.endpoint_id !== null }
  if (sides.includes('inbound') && sides.includes('outbound')) {
    if (has.inbound && has.outbound) return refused('endpoint_id')
    return has.inbound || has.outbound ? null : required('source_id')
  }
  const inbound = sides.includes('inbound')
  const own = inbound ? 'source_id' : 'endpoint_id'
  const other = inbound ? 'endpoint_id' : 'source_id'
  const problems = {
    ...((inbound ? has.inbound : has.outbound) ? {} : required(own)),
    ...((inbound ? has.outbound : has.inbound) ? refused(other) : {}),
  }
  return Object.keys(problems).length === 0 ? null : problems
}

/** What stays of an existing config: what the new one leaves out, where its kind makes something for it. */
function keptOf(existing: Config, made: Config, given: Config): Config {
  const stays = (key: string): boolean => Object.hasOwn(made, key) && (given[key] ?? null) === null
  return Object.fromEntries(Object.entries(existing).filter(([key]) => stays(key)))
}

/**
 * A config as it is stored. The kind completes the config; what the kind made for the existing row stays where the new
 * config leaves it out. Then the kind's schema checks the config and fills defaults, and the kind's `verify` checks it.
 */
export async function completeConfig(
  ctx: Context,
  kind: PluginKind,
  given: Readonly<Record<string, unknown>>,
  existing: Readonly<Record<string, unknown>> | null,
  workspaceId: string,
): Promise<
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly fields: FieldErrors | string }
> {
  const made = kind.fill?.(given, ctx.platform) ?? given
  const filled = existing === null ? made : { ...made, ...keptOf(existing, made, given) }
  const unopened = ctx.secrets.seals ? (await sealedRowsOf(ctx.secrets)).unopenedProblems(kind, filled) : null
  if (unopened !== null) return { ok: false, fields: unopened }
  const config = await checkStandard(kind.config, filled)
  if (!config.ok) return config
  const refused = await kind.verify?.(config.value, ctx.platform, workspaceId)
  // A kind gives reasons in the same form as the reasons for a body.
  if (refused) return { ok: false, fields: refused as FieldErrors }
  return { ok: true, value: config.value as Readonly<Record<string, unknown>> } // by the kind's schema
}

type Config = Readonly<Record<string, unknown>>

/** Whether a config stays as it is and holds a secret that this process cannot open, so that nothing of it can be checked. */
export function staysSealed(given: Config, existing: Config): boolean {
  return holdsSealed(existing) && sameJson(given, existing)
}

/**
 * The plugin that `deliver.sign` gives a new endpoint, with a fresh secret. `given`: other fields of the plugin's
 * config.
 */
export async function signature(ctx: Context, endpointId: string, given: Config = {}): Promise<Plugin> {
  const name = 'standard-webhooks'
  const kind = ctx.plugins.get(name)
  const config = kind && (await completeConfig(ctx, kind, given, null, ''))
  if (!config?.ok) throw new PosthornError('internal', `the plugin ${name} cannot be made`)
  const now = ctx.clock.now()
  return {
    id: ctx.newId(),
    name,
    enabled: true,
    endpoint_id: endpointId,
    source_id: null,
    config: config.value,
    metadata: {},
    created_at: now,
    updated_at: now,
  }
}
