import { LRUCache } from 'lru-cache'

import type { CompiledConfiguration, ConfigurationCache } from '../context.ts'
import type { Configuration } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { mergedConfiguration } from '../core/merged-configuration.ts'
import { type Flight, singleFlight } from '../runtime/single-flight.ts'
import { compileConfiguration, type Compiler, readyEndpoints, type ReadyRows } from './compile-configuration.ts'

/** The most bytes of JSON of all configurations that are kept. Without a `max` a cache takes memory as it is filled. */
const maxSize = 256 * 1024 * 1024
/** The same of what was read of forgotten configurations. */
const maxFormerSize = maxSize / 4
/** What a configuration takes beside its rows: so some 13,000 are kept at most. */
const ownSize = 20_000

interface Needs extends Compiler {
  readonly storage: Storage
}

/** Keeps configurations by revision, compiled forms with them. What it holds is never trusted: storage tells today's revision. */
export function configurationCache(ctx: Needs): ConfigurationCache {
  const held = new LRUCache<string, CompiledConfiguration>({
    maxSize,
    sizeCalculation: ({ bytes }) => sizeOf(bytes, maxSize),
    // Plugins that the next revision took over stay open.
    disposeAfter: (old, workspaceId) => closePlugins(old, held.peek(workspaceId)),
  })
  const loads = singleFlight(load)
  const ready = new WeakMap<CompiledConfiguration, ReadyRows>()
  /** What was read of forgotten configurations: a write changes few of a workspace's thousands of rows. */
  const former = new LRUCache<string, ReadyRows>({
    maxSize: maxFormerSize,
    sizeCalculation: ({ lengths }) => sizeOf(lengths.sum, maxFormerSize),
  })

  /** The rows that were read last. */
  function known(workspaceId: string): ReadyRows | undefined {
    const old = held.peek(workspaceId)
    return old === undefined ? former.peek(workspaceId) : ready.get(old)
  }

  async function load(workspaceId: string, flight: Flight): Promise<CompiledConfiguration | null> {
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
    if (flight.isOvertaken) return compiled // by a write: who asks after that wants what was written
    former.delete(workspaceId)
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
        loads.overtake()
        former.clear()
        held.clear()
      } else if (change !== 'routes') {
        const { workspaceId } = change
        loads.overtake(workspaceId)
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
function sizeOf(bytes: number, max: number): number {
  return Math.min(max, ownSize + bytes)
}
