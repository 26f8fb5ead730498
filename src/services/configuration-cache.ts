import { LRUCache } from 'lru-cache'

import type { CompiledConfiguration, ConfigurationCache } from '../context.ts'
import type { Configuration } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { mergedConfiguration } from '../core/merged-configuration.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { compileConfiguration, type Compiler, readyEndpoints, type ReadyRows } from './compile-configuration.ts'

/** The most configurations that are kept, and the most rows and event patterns of all of them together. */
const bounds = { max: 10_000, maxSize: 2_000_000 }

interface Needs extends Compiler {
  readonly storage: Storage
}

/** Keeps configurations by revision, compiled forms with them. What it holds is never trusted: storage tells today's revision. */
export function configurationCache(ctx: Needs): ConfigurationCache {
  const held = new LRUCache<string, CompiledConfiguration>({
    ...bounds,
    sizeCalculation: (compiled) => sizeOf(ready.get(compiled)),
    // Plugins that the next revision took over stay open.
    disposeAfter: (old, workspaceId) => closePlugins(old, held.peek(workspaceId)),
  })
  const loads = singleFlight(load)
  const ready = new WeakMap<CompiledConfiguration, ReadyRows>()
  /** What was read of forgotten configurations: a write changes few of a workspace's thousands of rows. */
  const former = new LRUCache<string, ReadyRows>({ ...bounds, sizeCalculation: sizeOf })
  /** Loads under way, and whether something was written since they began. */
  const loading = new Map<string, { isOvertaken: boolean }>()

  /** The rows that were read last. */
  function known(workspaceId: string): ReadyRows | undefined {
    const old = held.peek(workspaceId)
    return old === undefined ? former.peek(workspaceId) : ready.get(old)
  }

  async function load(workspaceId: string): Promise<CompiledConfiguration | null> {
    const own = { isOvertaken: false }
    loading.set(workspaceId, own)
    try {
      return await loaded(workspaceId, own)
    } finally {
      loading.delete(workspaceId)
    }
  }

  async function loaded(
    workspaceId: string,
    own: { readonly isOvertaken: boolean },
  ): Promise<CompiledConfiguration | null> {
    const found = await configurationIn(ctx.storage, workspaceId, known(workspaceId)?.configuration)
    if (found === null) {
      former.delete(workspaceId)
      held.delete(workspaceId)
      return null
    }
    // Storage is the truth, and this read began after those before: an older revision is that of a backup.
    const old = held.peek(workspaceId)
    if (old?.revision === found.revision) return old
    const endpoints = await readyEndpoints(ctx, found, known(workspaceId))
    const { compiled, rows } = compileConfiguration(ctx, found, endpoints, known(workspaceId))
    if (own.isOvertaken) return compiled
    former.delete(workspaceId)
    ready.set(compiled, rows)
    held.set(workspaceId, compiled)
    return compiled
  }

  async function get(workspaceId: string): Promise<CompiledConfiguration | null> {
    const known = held.get(workspaceId)
    if (known !== undefined) return known
    // Who asks after a write wants what was written.
    const running = loading.get(workspaceId)?.isOvertaken === true ? undefined : loads.running(workspaceId)
    return await (running ?? loads.ask(workspaceId))
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
        for (const load of loading.values()) load.isOvertaken = true
        former.clear()
        held.clear()
      } else if (change !== 'routes') {
        const { workspaceId } = change
        const load = loading.get(workspaceId)
        if (load !== undefined) load.isOvertaken = true
        const old = held.peek(workspaceId)
        const rows = old && ready.get(old)
        if (rows !== undefined) former.set(workspaceId, { ...rows, plugins: new Map() }) // they are closed now
        held.delete(workspaceId)
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
    if (found === null) return null
    return compileConfiguration(ctx, found, await readyEndpoints(ctx, found, undefined), undefined).compiled
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

/** Reads a configuration: what changed in it alone, where an earlier revision is known. */
async function configurationIn(
  storage: Storage,
  workspaceId: string,
  known: Configuration | undefined,
): Promise<Configuration | null> {
  if (known !== undefined && storage.configurationSince !== undefined) {
    const since = await storage.configurationSince(workspaceId, known.revision)
    if (since === null) return null
    const merged = mergedConfiguration(known, since)
    if (merged !== null) return merged
  }
  return await storage.configuration(workspaceId)
}

/** A cache takes what fits into it; the configuration of a single workspace always does. */
function sizeOf(rows: ReadyRows | undefined): number {
  return Math.min(bounds.maxSize, 1 + (rows?.size ?? 0))
}
