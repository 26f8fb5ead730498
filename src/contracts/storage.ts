import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import type { EnginePart } from './engine.ts'
import type { Inbox } from './inbox.ts'
import type { Limiter } from './limiter.ts'
import type { Queue } from './queue.ts'
import type { Attempts } from './storage/attempts.ts'
import type { Causes } from './storage/causes.ts'
import type {
  Change,
  Collection,
  ConfigPlan,
  Configuration,
  ConfigurationSince,
  OwnedQuery,
  PluginQuery,
  Route,
  RouteKey,
  Violation,
  Workspaces,
} from './storage/configuration.ts'
import type { Events } from './storage/events.ts'
import type { KeyedRequests } from './storage/keyed-requests.ts'
import type { Processes } from './storage/processes.ts'
import type { Statistics } from './storage/statistics.ts'

/**
 * Where everything is stored: the truth. Every method is one atomic step, whoever calls at the same moment; a batch
 * answers for each entry. Ids compare bytewise. Rows are stored as given: times, ids and defaults are the services'
 * work.
 *
 * A workspace has a revision, raised in the same step by every write to the workspace or to its endpoints, sources and
 * plugins. A row holds the revision of its last write. `update` asks for that revision, so that two writers never lose
 * each other's fields.
 */
export interface Storage extends EnginePart {
  /** The engine, for messages: `memory`, `postgres`, `redis`. */
  readonly name: string
  /**
   * Whether everything stays in this process: then nothing survives the end of the process, and a write costs too little to wait for
   * others. Default false.
   */
  readonly inProcess?: boolean
  readonly workspaces: Workspaces
  readonly endpoints: Collection<Endpoint, OwnedQuery>
  readonly sources: Collection<Source, OwnedQuery>
  readonly plugins: Collection<Plugin, PluginQuery>
  readonly events: Events
  readonly attempts: Attempts
  readonly statistics: Statistics
  readonly causes: Causes
  readonly processes: Processes
  readonly keyedRequests: KeyedRequests

  /** The engine's own queue, inbox and limiter, used where the host names no others. */
  readonly queue?: Queue
  readonly inbox?: Inbox
  readonly limiter?: Limiter

  /** Everything that delivery needs of a workspace's configuration; null when the workspace does not exist. */
  configuration(workspaceId: string): Promise<Configuration | null>
  /**
   * What changed in it after a revision, so that a write of one row costs no read of all rows. Without it, each change is read
   * by `configuration`.
   */
  configurationSince?(workspaceId: string, revision: number): Promise<ConfigurationSince | null>
  /** Finds the enabled sources of all workspaces that serve requests, one answer for each key. Costs by the keys alone. */
  routes(keys: readonly RouteKey[]): Promise<readonly (Route | null)[]>
  /** One config sync, all or nothing, if the workspace is still at revision `from`. */
  applyConfig(plan: ConfigPlan, from: number): Promise<'applied' | 'conflict' | Violation>

  /**
   * Removes at most `limit` rows that nobody may read any more: of deleted workspaces; events created before
   * `eventsBefore` that have no open attempt, with their attempts; finished attempts created before `attemptsBefore`.
   * With `workspaceId` only such events of this workspace. Answers how many rows were removed; 0 when nothing is left
   * to remove.
   */
  purge(options: {
    eventsBefore: number | null
    attemptsBefore: number | null
    limit: number
    workspaceId?: string
  }): Promise<number>
  /** Takes a turn at periodic work: true for one caller in each period of `periodMs` (aligned to the epoch), of all processes. */
  turn(name: string, periodMs: number, now: number): Promise<boolean>

  /** Tells when configuration changed elsewhere. It only saves reloads: nothing depends on it. Answers how to stop. */
  onChanged?(listener: (change: Change) => void): Promise<() => Promise<void>>
  /**
   * The same storage, reading and writing through the host's open transaction alone. `wake: false` sends no
   * notification. The `storage.queue` of the answer writes jobs through the same transaction.
   */
  using?(tx: unknown, options?: { wake?: boolean }): BoundStorage
  /** Refuses an engine that cannot serve, such as an old schema, with an `unavailable` error that says what to run. */
  verify?(): Promise<void>

  /** The engine's clock, unix milliseconds. */
  time(): Promise<number>
  /** Throws when the engine does not answer, or refuses writes. */
  ping(): Promise<void>
  /** Connections: all and busy. */
  stats(): Promise<{ readonly total: number; readonly active: number }>
  /** Closes what the adapter opened itself, never the host's client. */
  close(): Promise<void>
}

export interface BoundStorage extends Storage {
  /** Whether the handle is inside an open transaction. */
  inTransaction(): Promise<boolean>
}
