import type { CompiledConfiguration, ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { Platform } from '../contracts/platform.ts'
import type { PluginRegistry } from '../contracts/plugin.ts'
import type { RowSecrets } from '../contracts/row-secrets.ts'
import type { Stored } from '../contracts/storage/configuration.ts'
import { expiringKind, firstExpiry } from '../core/expiring-secrets.ts'
import type { MeasuredConfiguration } from '../core/row-bytes.ts'
import { kinds } from '../core/row-plan.ts'
import { type Interests, interestsOf, matcher } from '../core/match.ts'
import { doneOnce, type DoneOnce } from '../runtime/done-once.ts'
import { atOnce, inSlices, paced, type SliceClock } from '../runtime/slices.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import { checkStandard } from '../schema/standard.ts'
import { NotRegisteredError } from './not-registered-error.ts'
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
  readonly configuration: MeasuredConfiguration
  readonly plugins: ReadonlyMap<string, ReadyRow>
  readonly endpoints: ReadonlyMap<string, ReadyEndpoint>
  /** How long the JSON of all rows is. */
  readonly bytes: number
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

/** A configuration in the forms that requests and deliveries use. */
export interface Compiled {
  readonly compiled: CompiledConfiguration
  readonly rows: ReadyRows
}

/**
 * Makes the forms that requests and deliveries use. Rows of the same revision keep what was prepared for them. A single tenant may have
 * thousands of rows, so others get turns of the event loop in between. The answer is made in the step in which the caller
 * replaces what is known: plugins of what is forgotten are closed, so those that were taken over meanwhile are taken anew.
 */
export async function compileConfiguration(
  ctx: Compiler,
  configuration: MeasuredConfiguration,
  known: () => ReadyRows | undefined,
): Promise<() => Compiled> {
  const before = known()
  const endpoints = await readyEndpoints(ctx, configuration, before)
  const sources = new Map<string, Source>()
  await inSlices(ctx.clock, configuration.sources, ({ row }) => sources.set(row.id, row))
  const bytes = kinds.reduce((sum, kind) => configuration[kind].reduce((all, row) => all + row.bytes, sum), 0)
  const taken = await paced(ctx.clock, readyPlugins(ctx, configuration, before))
  return () => {
    const now = known()
    const { rows: plugins, owned, nextExpiry } = now === before ? taken : atOnce(readyPlugins(ctx, configuration, now))
    return {
      rows: { configuration, plugins, endpoints: endpoints.ready, bytes },
      compiled: {
        workspace: configuration.workspace,
        revision: configuration.revision,
        endpoints: endpoints.rows,
        sources,
        match: endpoints.match,
        opened(endpoint) {
          const sealed = endpoints.ready.get(endpoint.id)?.opened ?? null
          return sealed === null ? endpoint : (sealed.current() ?? sealed.value())
        },
        nextExpiry,
        bytes,
        pluginsOf: (ownerId) => owned.get(ownerId) ?? [],
      },
    }
  }
}

/** The endpoints of a configuration, ready to be matched. */
async function readyEndpoints(
  ctx: Compiler,
  { workspace, endpoints }: MeasuredConfiguration,
  known: ReadyRows | undefined,
) {
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
  return { rows, ready, match }
}

interface ReadyPlugins {
  /** Those that are enabled. */
  readonly rows: ReadonlyMap<string, ReadyRow>
  /** The same by owner, in the order in which they run. */
  readonly owned: ReadonlyMap<string, readonly ReadyPlugin[]>
  readonly nextExpiry: number
}

/** The plugins of a configuration, ready to run. It may pause wherever it yields. */
function* readyPlugins(
  ctx: Compiler,
  { workspace, plugins }: MeasuredConfiguration,
  known: ReadyRows | undefined,
): Generator<undefined, ReadyPlugins> {
  const rows = new Map<string, ReadyRow>()
  const owned = new Map<string, ReadyPlugin[]>()
  let nextExpiry = Infinity
  for (const stored of plugins) {
    yield
    const { row } = stored
    if (row.name === expiringKind) nextExpiry = Math.min(nextExpiry, firstExpiry(row.config))
    if (!row.enabled) continue
    const before = known?.plugins.get(row.id)
    const plugin = before?.revision === stored.revision ? before : readyRow(ctx, workspace.id, stored)
    rows.set(row.id, plugin)
    const owner = row.endpoint_id ?? row.source_id
    if (owner === null) continue
    const list = owned.get(owner)
    if (list === undefined) owned.set(owner, [plugin])
    else insertByRank(list, plugin, (name) => ctx.plugins.rank(name))
  }
  return { rows, owned, nextExpiry }
}

/** Puts a plugin behind those that run before it, or that have the same rank. */
function insertByRank(list: ReadyPlugin[], plugin: ReadyPlugin, rank: (name: string) => number): void {
  const own = rank(plugin.row.name)
  const place = list.findIndex(({ row }) => rank(row.name) > own)
  list.splice(place === -1 ? list.length : place, 0, plugin)
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
    if (kind === undefined) throw new NotRegisteredError(row.name)
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
