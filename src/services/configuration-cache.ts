import { LRUCache } from 'lru-cache'

import type { CompiledConfiguration, ConfigurationCache, ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { Platform } from '../contracts/platform.ts'
import type { PluginRegistry } from '../contracts/plugin.ts'
import type { RowSecrets } from '../contracts/row-secrets.ts'
import type { Configuration, Stored } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { expiringKind, firstExpiry } from '../core/expiring-secrets.ts'
import { type Interests, interestsOf, matcher } from '../core/match.ts'
import { doneOnce, type DoneOnce } from '../runtime/done-once.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { checkStandard } from '../schema/standard.ts'
import type { Plugin } from '../schema/plugin.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { holdsSealed } from './secrets/row-secrets.ts'
import { UnopenedError } from './secrets/unopened-error.ts'

const maxWorkspaces = 1000

type Needs = {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly log: Logger
  readonly secrets: RowSecrets
}

/** Keeps configurations by revision, compiled forms with them. What it holds is never trusted: storage tells today's revision. */
export function configurationCache(ctx: Needs): ConfigurationCache {
  const held = new LRUCache<string, CompiledConfiguration>({
    max: maxWorkspaces,
    // Plugins that the next revision took over stay open.
    disposeAfter: (old, workspaceId) => closePlugins(old, held.peek(workspaceId)),
  })
  const loads = singleFlight(load)
  const ready = new WeakMap<CompiledConfiguration, ReadyRows>()
  /** What was read of the rows of forgotten configurations: a write changes few of a workspace's thousands of rows. */
  const former = new LRUCache<string, ReadyRows>({ max: maxWorkspaces })

  async function load(workspaceId: string): Promise<CompiledConfiguration | null> {
    const found = await ctx.storage.configuration(workspaceId)
    const before = former.peek(workspaceId)
    former.delete(workspaceId)
    if (found === null) {
      held.delete(workspaceId)
      return null
    }
    const old = held.peek(workspaceId)
    if (old !== undefined && old.revision >= found.revision) return old
    const rows = readyRows(ctx, found, old === undefined ? before : ready.get(old))
    const compiled = compile(ctx.plugins, found, rows)
    ready.set(compiled, rows)
    held.set(workspaceId, compiled)
    return compiled
  }

  async function get(workspaceId: string): Promise<CompiledConfiguration | null> {
    return held.get(workspaceId) ?? (await (loads.running(workspaceId) ?? loads.ask(workspaceId)))
  }

  function closePlugins(old: CompiledConfiguration, replacement: CompiledConfiguration | undefined): void {
    const kept = replacement === undefined ? undefined : ready.get(replacement)
    for (const [id, plugin] of ready.get(old)?.plugins ?? []) {
      if (kept?.plugins.get(id) !== plugin) plugin.current()?.close?.()
    }
  }

  return {
    all: () => held.values(),
    held: (workspaceId) => held.get(workspaceId),
    get,
    fresh: loads.ask,
    async atLeast(workspaceId, revision) {
      const known = await get(workspaceId)
      return known !== null && known.revision >= revision ? known : await loads.ask(workspaceId)
    },
    forget(change) {
      if (change === 'everything') {
        former.clear()
        held.clear()
      } else if (change !== 'routes') {
        const old = held.peek(change.workspaceId)
        const rows = old && ready.get(old)
        if (rows !== undefined) former.set(change.workspaceId, { ...rows, plugins: new Map() }) // they are closed now
        held.delete(change.workspaceId)
      }
    },
  }
}

/**
 * For a handle inside the host's transaction: it does not cache what it reads, since nobody else may see that. What is
 * `known` outside serves as a first guess: the step that stores an event says when the guessed revision is not that of
 * the transaction.
 */
export function configurationReader(ctx: Needs, known: ConfigurationCache): ConfigurationCache {
  const read = async (workspaceId: string) => {
    const found = await ctx.storage.configuration(workspaceId)
    return found === null ? null : compile(ctx.plugins, found, readyRows(ctx, found, undefined))
  }
  return {
    all: known.all,
    held: known.held,
    get: async (workspaceId) => known.held(workspaceId) ?? (await read(workspaceId)),
    fresh: read,
    atLeast: read,
    forget: () => {},
  }
}

interface ReadyRow extends ReadyPlugin {
  readonly revision: number
}

/** An endpoint with a sealed header. */
interface OpenedRow extends DoneOnce<Endpoint> {
  readonly revision: number
}

/** An endpoint whose `events` were read: a workspace may have 100,000 patterns. */
interface ReadRow {
  readonly revision: number
  readonly interests: Interests
}

interface ReadyRows {
  readonly plugins: ReadonlyMap<string, ReadyRow>
  readonly endpoints: ReadonlyMap<string, OpenedRow>
  readonly interests: ReadonlyMap<string, ReadRow>
}

/** Rows of the same revision keep what was prepared for them. */
function readyRows(ctx: Needs, configuration: Configuration, known: ReadyRows | undefined): ReadyRows {
  const workspaceId = configuration.workspace.id
  return {
    plugins: kept(
      configuration.plugins.filter(({ row }) => row.enabled),
      known?.plugins,
      (stored) => readyRow(ctx, workspaceId, stored),
    ),
    endpoints: kept(
      configuration.endpoints.filter(({ row }) => holdsSealed(row.request.headers)),
      known?.endpoints,
      ({ row, revision }) => ({
        ...doneOnce(() => ctx.secrets.opened(workspaceId, 'endpoints', row), passes),
        revision,
      }),
    ),
    interests: kept(configuration.endpoints, known?.interests, ({ row, revision }) => ({
      interests: interestsOf(row.events),
      revision,
    })),
  }
}

/** What was prepared for rows, by their ids: from `known` where the revision is the same, else what `make` makes. */
function kept<Row extends { readonly id: string }, Ready extends { readonly revision: number }>(
  rows: readonly Stored<Row>[],
  known: ReadonlyMap<string, Ready> | undefined,
  make: (stored: Stored<Row>) => Ready,
): ReadonlyMap<string, Ready> {
  return new Map(
    rows.map((stored) => {
      const old = known?.get(stored.row.id)
      return [stored.row.id, old !== undefined && old.revision === stored.revision ? old : make(stored)]
    }),
  )
}

/** A key provider that fails may answer later. */
function passes(cause: unknown): boolean {
  return cause instanceof UnopenedError && !cause.lasts
}

function readyRow(ctx: Needs, workspaceId: string, { row, revision }: Stored<Plugin>): ReadyRow {
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

function compile(registry: PluginRegistry, configuration: Configuration, rows: ReadyRows): CompiledConfiguration {
  const endpoints = new Map(configuration.endpoints.map(({ row }) => [row.id, row]))
  const owned = new Map<string, ReadyPlugin[]>()
  for (const plugin of rows.plugins.values()) {
    const owner = plugin.row.endpoint_id ?? plugin.row.source_id
    if (owner === null) continue
    const list = owned.get(owner)
    if (list === undefined) owned.set(owner, [plugin])
    else list.push(plugin)
  }
  for (const list of owned.values()) list.sort((a, b) => registry.rank(a.row.name) - registry.rank(b.row.name))
  return {
    workspace: configuration.workspace,
    revision: configuration.revision,
    endpoints,
    sources: new Map(configuration.sources.map(({ row }) => [row.id, row])),
    match: matcher(
      [...endpoints.values()].filter(({ enabled }) => enabled),
      ({ id }) => rows.interests.get(id)!.interests, // every endpoint has an entry
    ),
    opened(endpoint) {
      const sealed = rows.endpoints.get(endpoint.id)
      return sealed === undefined ? endpoint : (sealed.current() ?? sealed.value())
    },
    nextExpiry: configuration.plugins.reduce(
      (next, { row }) => (row.name === expiringKind ? Math.min(next, firstExpiry(row.config)) : next),
      Infinity,
    ),
    pluginsOf: (ownerId) => owned.get(ownerId) ?? [],
  }
}
