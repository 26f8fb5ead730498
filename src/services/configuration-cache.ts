import { LRUCache } from 'lru-cache'

import type { CompiledConfiguration, ConfigurationCache, ReadyPlugin } from '../context.ts'
import type { Logger } from '../contracts/observer.ts'
import type { Platform } from '../contracts/platform.ts'
import type { PluginRegistry, PreparedPlugin } from '../contracts/plugin.ts'
import type { Configuration, Stored } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { matcher } from '../core/match.ts'
import { check } from '../schema/parse.ts'
import type { Plugin } from '../schema/plugin.ts'
import { singleFlight } from '../runtime/single-flight.ts'

const mostWorkspaces = 1000

type Needs = {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly log: Logger
}

/** Keeps configurations by revision, compiled forms with them. What it holds is never trusted: storage tells today's revision. */
export function configurationCache(ctx: Needs): ConfigurationCache {
  const held = new LRUCache<string, CompiledConfiguration>({
    max: mostWorkspaces,
    // Plugins that the next revision took over stay open.
    disposeAfter: (old, workspaceId) => closePlugins(old, held.peek(workspaceId)),
  })
  const loads = singleFlight(load)
  const ready = new WeakMap<CompiledConfiguration, ReadonlyMap<string, ReadyRow>>()

  async function load(workspaceId: string): Promise<CompiledConfiguration | null> {
    const found = await ctx.storage.configuration(workspaceId)
    if (found === null) {
      held.delete(workspaceId)
      return null
    }
    const old = held.peek(workspaceId)
    if (old !== undefined && old.revision >= found.revision) return old
    const rows = readyRows(ctx, found, old === undefined ? undefined : ready.get(old))
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
    for (const [id, plugin] of ready.get(old) ?? []) {
      if (kept?.get(id) !== plugin) plugin.current()?.close?.()
    }
  }

  return {
    held: (workspaceId) => held.get(workspaceId),
    get,
    fresh: loads.ask,
    async atLeast(workspaceId, revision) {
      const known = await get(workspaceId)
      return known !== null && known.revision >= revision ? known : await loads.ask(workspaceId)
    },
    forget(change) {
      if (change === 'everything') held.clear()
      else if (change !== 'routes') held.delete(change.workspaceId)
    },
  }
}

/**
 * For a handle inside the host's transaction: what it reads itself it does not keep, since nobody else may see it. What is
 * `known` outside serves as a first guess, for storing an event tells when its revision is not the transaction's.
 */
export function configurationReader(ctx: Needs, known: ConfigurationCache): ConfigurationCache {
  const read = async (workspaceId: string) => {
    const found = await ctx.storage.configuration(workspaceId)
    return found === null ? null : compile(ctx.plugins, found, readyRows(ctx, found, undefined))
  }
  return {
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

/** Rows of the same revision keep what was prepared for them. */
function readyRows(
  ctx: Needs,
  configuration: Configuration,
  known: ReadonlyMap<string, ReadyRow> | undefined,
): ReadonlyMap<string, ReadyRow> {
  return new Map(
    configuration.plugins
      .filter(({ row }) => row.enabled)
      .map((stored) => {
        const old = known?.get(stored.row.id)
        return [stored.row.id, old !== undefined && old.revision === stored.revision ? old : readyRow(ctx, stored)]
      }),
  )
}

function readyRow(ctx: Needs, { row, revision }: Stored<Plugin>): ReadyRow {
  let preparing: Promise<PreparedPlugin> | undefined
  let current: PreparedPlugin | undefined
  const prepare = async () => {
    const kind = ctx.plugins.get(row.name)
    if (kind === undefined) throw new Error(`plugin '${row.name}' is not registered in this process`)
    const config = check(kind.config, row.config)
    if (!config.ok) throw new Error(`plugin '${row.name}' has a config that its schema refuses`)
    current = await kind.prepare(config.value, ctx.platform, { id: row.id })
    return current
  }
  return {
    row,
    revision,
    current: () => current,
    prepared: () =>
      (preparing ??= prepare().catch((cause: unknown) => {
        // One line for each stored version, however many requests meet it.
        ctx.log.error(`plugin ${row.id} (${row.name}) cannot run`, { cause })
        throw cause
      })),
  }
}

function compile(
  registry: PluginRegistry,
  configuration: Configuration,
  rows: ReadonlyMap<string, ReadyPlugin>,
): CompiledConfiguration {
  const endpoints = new Map(configuration.endpoints.map(({ row }) => [row.id, row]))
  const owned = new Map<string, ReadyPlugin[]>()
  for (const plugin of rows.values()) {
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
    match: matcher([...endpoints.values()].filter(({ enabled }) => enabled)),
    pluginsOf: (ownerId) => owned.get(ownerId) ?? [],
  }
}
