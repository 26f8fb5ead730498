import type { CompiledConfiguration, ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { Platform } from '../contracts/platform.ts'
import type { PluginRegistry } from '../contracts/plugin.ts'
import type { RowSecrets } from '../contracts/row-secrets.ts'
import type { Configuration, Stored } from '../contracts/storage/configuration.ts'
import { expiringKind, firstExpiry } from '../core/expiring-secrets.ts'
import { rowBytes } from '../core/row-bytes.ts'
import { type Interests, interestsOf, matcher } from '../core/match.ts'
import { doneOnce, type DoneOnce } from '../runtime/done-once.ts'
import { inSlices, type SliceClock } from '../runtime/slices.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import { checkStandard } from '../schema/standard.ts'
import { holdsSealed } from './secrets/row-secrets.ts'
import { UnopenedError } from './secrets/unopened-error.ts'

export interface Compiler {
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly clock: SliceClock
  readonly log: Logger
  readonly secrets: RowSecrets
}

/** A configuration as it was read, with what was prepared for its rows. */
export interface ReadyRows {
  readonly configuration: Configuration
  readonly plugins: ReadonlyMap<string, ReadyRow>
  readonly endpoints: ReadonlyMap<string, ReadyEndpoint>
  readonly lengths: Lengths
}

/** How long the JSON of rows is, in bytes: of each, and of all. */
export interface Lengths {
  readonly of: ReadonlyMap<object, number>
  readonly sum: number
}

interface ReadyRow extends ReadyPlugin {
  readonly revision: number
}

interface ReadyEndpoint {
  readonly revision: number
  /** Its `events`, read: a workspace may have 100,000 patterns. */
  readonly interests: Interests
  /** The endpoint with its headers in clear text; null where none is sealed. */
  readonly opened: DoneOnce<Endpoint> | null
}

/** The endpoints of a configuration, ready to be matched. */
interface ReadyEndpoints {
  readonly rows: ReadonlyMap<string, Endpoint>
  readonly ready: ReadonlyMap<string, ReadyEndpoint>
  readonly match: CompiledConfiguration['match']
  readonly lengths: Lengths
}

/**
 * Makes endpoints ready; those of the same revision keep what was prepared for them. A single tenant may have thousands, so
 * others get turns of the event loop in between.
 */
export async function readyEndpoints(
  ctx: Compiler,
  configuration: Configuration,
  known: ReadyRows | undefined,
): Promise<ReadyEndpoints> {
  const { workspace, endpoints } = configuration
  const rows = new Map<string, Endpoint>()
  const ready = new Map<string, ReadyEndpoint>()
  const { add, match } = matcher<Endpoint>()
  await inSlices(ctx.clock, endpoints, (stored) => {
    const { row } = stored
    const before = known?.endpoints.get(row.id)
    const own = before?.revision === stored.revision ? before : readyEndpoint(ctx, workspace.id, stored)
    rows.set(row.id, row)
    ready.set(row.id, own)
    if (row.enabled) add(row, own.interests)
  })
  return { rows, ready, match, lengths: await lengthsOf(ctx.clock, configuration, known?.lengths) }
}

/** Rows that were read before, and did not change since, are not measured again. */
async function lengthsOf(
  clock: SliceClock,
  { endpoints, sources, plugins }: Configuration,
  known: Lengths | undefined,
): Promise<Lengths> {
  const of = new Map<object, number>()
  let sum = 0
  await inSlices<Stored<object>>(clock, [...endpoints, ...sources, ...plugins], (stored) => {
    const length = known?.of.get(stored) ?? rowBytes(stored.row)
    of.set(stored, length)
    sum += length
  })
  return { of, sum }
}

/**
 * Makes the forms that requests and deliveries use. Plugins of the same revision are taken over from `known`, in the step in
 * which the caller replaces it: what is forgotten meanwhile is closed.
 */
export function compileConfiguration(
  ctx: Compiler,
  configuration: Configuration,
  endpoints: ReadyEndpoints,
  known: ReadyRows | undefined,
): { readonly compiled: CompiledConfiguration; readonly rows: ReadyRows } {
  const { workspace, revision } = configuration
  const plugins = new Map<string, ReadyRow>()
  const owned = new Map<string, ReadyPlugin[]>()
  let nextExpiry = Infinity
  for (const stored of configuration.plugins) {
    const { row } = stored
    if (row.name === expiringKind) nextExpiry = Math.min(nextExpiry, firstExpiry(row.config))
    if (!row.enabled) continue
    const before = known?.plugins.get(row.id)
    const plugin = before?.revision === stored.revision ? before : readyRow(ctx, workspace.id, stored)
    plugins.set(row.id, plugin)
    const owner = row.endpoint_id ?? row.source_id
    if (owner === null) continue
    const list = owned.get(owner)
    if (list === undefined) owned.set(owner, [plugin])
    else list.push(plugin)
  }
  for (const list of owned.values()) list.sort((a, b) => ctx.plugins.rank(a.row.name) - ctx.plugins.rank(b.row.name))

  return {
    rows: { configuration, plugins, endpoints: endpoints.ready, lengths: endpoints.lengths },
    compiled: {
      workspace,
      revision,
      endpoints: endpoints.rows,
      sources: new Map(configuration.sources.map(({ row }) => [row.id, row])),
      match: endpoints.match,
      opened(endpoint) {
        const sealed = endpoints.ready.get(endpoint.id)?.opened ?? null
        return sealed === null ? endpoint : (sealed.current() ?? sealed.value())
      },
      nextExpiry,
      bytes: endpoints.lengths.sum,
      pluginsOf: (ownerId) => owned.get(ownerId) ?? [],
    },
  }
}

function readyEndpoint(ctx: Compiler, workspaceId: string, { row, revision }: Stored<Endpoint>): ReadyEndpoint {
  const isSealed = holdsSealed(row.request.headers)
  return {
    revision,
    interests: interestsOf(row.events),
    opened: isSealed ? doneOnce(() => ctx.secrets.opened(workspaceId, 'endpoints', row), passes) : null,
  }
}

/** A key provider that fails may answer later. */
function passes(cause: unknown): boolean {
  return cause instanceof UnopenedError && !cause.lasts
}

function readyRow(ctx: Compiler, workspaceId: string, { row, revision }: Stored<Plugin>): ReadyRow {
  const prepare = async () => {
    const kind = ctx.plugins.get(row.name)
    if (kind === undefined) throw new Error(`plugin '${row.name}' is not registered in this process`)
    const opened = await ctx.secrets.opened(workspaceId, 'plugins', row)
    const config = await checkStandard(kind.config, opened.config)
    if (!config.ok) throw new Error(`plugin '${row.name}' has a config that its schema refuses`)
    return await kind.prepare(config.value, ctx.platform, { id: row.id })
  }
  const { value, current } = doneOnce(
    () =>
      prepare().catch((cause: unknown) => {
        // One log line for each stored version, however many requests meet the failure. The vault logs the failures of
        // a provider.
        if (!passes(cause)) ctx.log.error(`plugin ${row.id} (${row.name}) cannot run`, { cause })
        throw cause
      }),
    passes,
  )
  return { row, revision, current, prepared: value }
}
