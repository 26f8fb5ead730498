import { LRUCache } from 'lru-cache'

import type { CompiledConfiguration, ConfigurationCache } from '../context.ts'
import type { Configuration, Stored } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { mergedConfiguration } from '../core/merged-configuration.ts'
import { type Measured, type MeasuredConfiguration, rowBytes } from '../core/row-bytes.ts'
import type { Kind } from '../core/row-plan.ts'
import { inSlices, type SliceClock } from '../runtime/slices.ts'
import { type Flight, singleFlight } from '../runtime/single-flight.ts'
import { compileConfiguration, type Compiler, type ReadyRows } from './compile-configuration.ts'

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
    sizeCalculation: ({ bytes }) => sizeOf(bytes, maxFormerSize),
  })

  /** The rows that were read last. */
  function known(workspaceId: string): ReadyRows | undefined {
    const old = held.peek(workspaceId)
    return old === undefined ? former.peek(workspaceId) : ready.get(old)
  }

  async function load(workspaceId: string, flight: Flight): Promise<CompiledConfiguration | null> {
    const found = await configurationIn(ctx, workspaceId, known(workspaceId)?.configuration)
    if (found === null) {
      former.delete(workspaceId)
      held.delete(workspaceId)
      return null
    }
    // Storage is the truth, and this read began after those before: an older revision is that of a backup.
    const old = held.peek(workspaceId)
    if (old?.revision === found.revision) return old
    const finished = await compileConfiguration(ctx, found, () => known(workspaceId))
    const { compiled, rows } = finished()
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
    const found = await configurationIn(ctx, workspaceId, undefined)
    if (found === null) return null
    return (await compileConfiguration(ctx, found, () => undefined))().compiled
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
  { storage, clock }: Needs,
  workspaceId: string,
  known: MeasuredConfiguration | undefined,
): Promise<MeasuredConfiguration | null> {
  if (known !== undefined && storage.configurationSince !== undefined) {
    const since = await storage.configurationSince(workspaceId, known.revision)
    if (since === null) return null
    const merged = mergedConfiguration(known, { ...since, ...(await measured(clock, since)) })
    if (merged !== null) return merged
  }
  const found = await storage.configuration(workspaceId)
  return found === null ? null : { ...found, ...(await measured(clock, found)) }
}

async function measured(
  clock: SliceClock,
  { endpoints, sources, plugins }: Configuration,
): Promise<Pick<MeasuredConfiguration, Kind>> {
  async function all<Row extends object>(rows: readonly Stored<Row>[]): Promise<readonly Measured<Row>[]> {
    const found: Measured<Row>[] = []
    await inSlices(clock, rows, ({ row, revision }) => found.push({ row, revision, bytes: rowBytes(row) }))
    return found
  }
  return { endpoints: await all(endpoints), sources: await all(sources), plugins: await all(plugins) }
}

/** A cache takes what fits into it; the configuration of a single workspace always does. */
function sizeOf(bytes: number, max: number): number {
  return Math.min(max, ownSize + bytes)
}
