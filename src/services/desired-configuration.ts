import type * as v from 'valibot'

import type { Context } from '../context.ts'
import type { Configuration } from '../contracts/storage/configuration.ts'
import {
  identify,
  type Desired,
  type DesiredConfiguration,
  type DesiredOwner,
  type DesiredPlugin,
} from '../core/config-plan.ts'
import { type FieldError, type FieldErrors, invalid } from '../errors.ts'
import type { configDocument } from '../schema/config.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import { pacer } from '../runtime/slices.ts'
import { endpointFields, insecureProblem } from './endpoints.ts'
import { completeConfig, placeProblems, readyProblem, signature, staysSealed, unknownName } from './plugins.ts'
import { withPath } from './sources.ts'

type Document = v.InferOutput<typeof configDocument>
type Entry = NonNullable<Document['endpoints'] | Document['sources']>[number]
type PluginEntry = Entry['plugins'][number]
interface Place {
  readonly workspaceId: string
  readonly noun: 'endpoints' | 'sources'
  readonly ownerKey: 'endpoint_id' | 'source_id'
  /** One sentence for each entry that was left out. */
  readonly warnings: string[]
}
/** Plugins of an owner by name: within an owner the name is the identity. */
type Owned = ReadonlyMap<string, Plugin>

/** A part of the document that stands, or the reasons why it does not. */
type Checked<Value> = { readonly value: Value } | { readonly problems: FieldErrors }

const repeatedItem = 'duplicate items found'

/**
 * The state that a parsed document describes. A row that an entry means keeps the paths and secrets that were generated
 * for it. `warnings` tells which entries were left out. @throws PosthornError `validation` with every reason at its
 * place.
 */
export async function desiredConfiguration(
  ctx: Context,
  current: Configuration,
  document: Document,
): Promise<DesiredConfiguration & { readonly warnings: readonly string[] }> {
  const plugins = pluginsByOwner(current)
  const warnings: string[] = []
  const shared = { workspaceId: current.workspace.id, warnings }
  const endpoints = await desiredOwners(
    ctx,
    { ...shared, noun: 'endpoints', ownerKey: 'endpoint_id' },
    current.endpoints,
    document.endpoints,
    plugins,
    ({ id: _id, plugins: _plugins, ...entry }) => endpointFields(entry),
    ({ request }, existing) => insecureProblem(ctx, request.url, existing),
  )
  const sources = await desiredOwners(
    ctx,
    { ...shared, noun: 'sources', ownerKey: 'source_id' },
    current.sources,
    document.sources,
    plugins,
    (entry, existing) => sourceFields(ctx, entry, existing),
  )
  if (endpoints.problems !== null || sources.problems !== null) {
    throw invalid({
      ...(endpoints.problems && { endpoints: endpoints.problems }),
      ...(sources.problems && { sources: sources.problems }),
    })
  }
  return {
    endpoints: endpoints.desired && (await signed(ctx, endpoints.desired, plugins)),
    sources: sources.desired,
    warnings,
  }
}

export function pluginsByOwner(current: Configuration): ReadonlyMap<string, Owned> {
  const owners = new Map<string, Map<string, Plugin>>()
  for (const { row } of current.plugins) {
    const owner = row.endpoint_id ?? row.source_id
    if (owner === null) continue
    const owned = owners.get(owner)
    if (owned === undefined) owners.set(owner, new Map([[row.name, row]]))
    else owned.set(row.name, row)
  }
  return owners
}

type SourceEntry = NonNullable<Document['sources']>[number]

function sourceFields(ctx: Context, entry: SourceEntry, existing: Source | null): Desired<Source>['fields'] {
  const { id: _id, plugins: _plugins, created_at: _created, updated_at: _updated, ...fields } = entry
  return { ...fields, config: withPath(fields.config, existing, ctx.platform) }
}

async function desiredOwners<Row extends Endpoint | Source, OwnerEntry extends Entry>(
  ctx: Context,
  place: Place,
  rows: readonly { readonly row: Row }[],
  entries: readonly OwnerEntry[] | undefined,
  plugins: ReadonlyMap<string, Owned>,
  fieldsOf: (entry: OwnerEntry, existing: Row | null) => Desired<Row>['fields'],
  problemsOf: (entry: OwnerEntry, existing: Row | null) => FieldErrors | null = () => null,
): Promise<{ readonly desired: DesiredOwner<Row>[] | null; readonly problems: readonly FieldError[] | null }> {
  if (entries === undefined) return { desired: null, problems: null }
  const { meant, repeated } = identify(
    rows.map(({ row }) => row),
    entries,
  )
  const desired: DesiredOwner<Row>[] = []
  const problems: FieldError[] = []
  const pace = pacer(ctx.clock)
  for (const [i, entry] of entries.entries()) {
    await pace()
    const existing = meant[i] ?? null
    const at = `${place.noun}[${i}]`
    const own = await desiredPlugins(ctx, { ...place, at }, entry.plugins, existing && plugins.get(existing.id))
    const refused = problemsOf(entry, existing)
    if (repeated.has(i)) put(problems, i, { [entry.id === null ? 'name' : 'id']: repeatedItem })
    else if ('problems' in own || refused !== null) {
      put(problems, i, { ...refused, ...('problems' in own ? own.problems : {}) })
    } else desired.push({ id: entry.id, existing, fields: fieldsOf(entry, existing), plugins: own.value })
  }
  return { desired, problems: problems.length === 0 ? null : problems }
}

async function desiredPlugins(
  ctx: Context,
  place: Place & { readonly at: string },
  entries: readonly PluginEntry[],
  owned: Owned | null | undefined,
): Promise<Checked<DesiredPlugin[]>> {
  const value: DesiredPlugin[] = []
  const problems: FieldError[] = []
  const names = new Set<string>()
  for (const [i, entry] of entries.entries()) {
    const existing = owned?.get(entry.name) ?? null
    if (isLeftOut(ctx, entry)) {
      place.warnings.push(`${place.at}.plugins[${i}]: ${unknownName(entry.name)}, left out since it is disabled`)
      // A row that another process made, which knows the kind, stays for that process.
      if (existing !== null && !names.has(entry.name)) value.push(disabled(existing))
      names.add(entry.name)
      continue
    }
    const checked = names.has(entry.name)
      ? { problems: { name: repeatedItem } }
      : await desiredPlugin(ctx, place, entry, existing)
    names.add(entry.name)
    if ('problems' in checked) put(problems, i, checked.problems)
    else value.push(checked.value)
  }
  return problems.length === 0 ? { value } : { problems: { plugins: problems } }
}

/** A plugin that does nothing and that this process does not know, such as `wasm` of WebhookX, is no reason to refuse a document. */
function isLeftOut({ plugins }: Context, { name, enabled }: PluginEntry): boolean {
  return !enabled && name !== '' && plugins.get(name) === undefined
}

function disabled(existing: Plugin): DesiredPlugin {
  const { name, config, metadata } = existing
  return { id: null, existing, fields: { name, enabled: false, config, metadata } }
}

async function desiredPlugin(
  ctx: Context,
  place: Place,
  { id, name, enabled, config: given, metadata }: PluginEntry,
  existing: Plugin | null,
): Promise<Checked<DesiredPlugin>> {
  const kind = ctx.plugins.get(name)
  if (kind === undefined) return { problems: { name: unknownName(name) } }
  // The owner may not have an id yet; placeProblems only needs to know that an owner exists.
  const misplaced = placeProblems(kind, { endpoint_id: null, source_id: null, [place.ownerKey]: '' })
  if (misplaced !== null) return { problems: misplaced }
  const unready = await readyProblem(ctx, kind)
  if (unready !== null) return { problems: { name: unready } }
  if (existing !== null && staysSealed(given, existing.config)) {
    return { value: { id, existing, fields: { name, enabled, config: existing.config, metadata } } }
  }
  const config = await completeConfig(ctx, kind, given, existing?.config ?? null, place.workspaceId)
  if (!config.ok) return { problems: { config: config.fields } }
  return { value: { id, existing, fields: { name, enabled, config: config.value, metadata } } }
}

/**
 * Under `deliver.sign` a new endpoint gets its signature here too. A document that does not list the signature of an
 * endpoint leaves the signature as it is: a sync of the same document must not take away what the service gave.
 */
async function signed(
  ctx: Context,
  endpoints: readonly DesiredOwner<Endpoint>[],
  plugins: ReadonlyMap<string, Owned>,
): Promise<DesiredOwner<Endpoint>[]> {
  const { sign } = ctx.settings.deliver
  return await Promise.all(
    endpoints.map(async (endpoint) => {
      if (sign === 'none' || endpoint.plugins.some(({ fields }) => fields.name === sign)) return endpoint
      const existing = endpoint.existing && (plugins.get(endpoint.existing.id)?.get(sign) ?? null)
      const plugin = endpoint.existing === null ? await signature(ctx, '') : existing
      if (plugin === null) return endpoint
      const { name, enabled, config, metadata } = plugin
      return {
        ...endpoint,
        plugins: [...endpoint.plugins, { id: null, existing, fields: { name, enabled, config, metadata } }],
      }
    }),
  )
}

/** Writes a reason at the position of its entry; entries before it that are good hold `null`. */
function put(problems: FieldError[], position: number, problem: FieldError): void {
  while (problems.length < position) problems.push(null)
  problems[position] = problem
}
