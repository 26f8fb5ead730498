import type { Catalogue } from './contracts/catalogue.ts'
import type { EngineClock } from './contracts/clock.ts'
import type { HttpClient } from './contracts/http-client.ts'
import type { Inbox, Message, NewMessage } from './contracts/inbox.ts'
import type { Limiter } from './contracts/limiter.ts'
import type { Logger, SignalName, Signals } from './contracts/observer.ts'
import type { Platform } from './contracts/platform.ts'
import type { Awaitable } from './contracts/awaitable.ts'
import type { PluginRegistry, PreparedPlugin } from './contracts/plugin.ts'
import type { Job, Queue } from './contracts/queue.ts'
import type { RequestLog } from './contracts/request-log.ts'
import type { RowSecrets } from './contracts/row-secrets.ts'
import type { PlannedAttempt } from './contracts/storage/attempts.ts'
import type { Process } from './contracts/storage/processes.ts'
import type { Change } from './contracts/storage/configuration.ts'
import type { Storage } from './contracts/storage.ts'
import type { Telemetry } from './contracts/telemetry.ts'
import type { Settings } from './settings.ts'
import type { Endpoint } from './schema/endpoint.ts'
import type { StoredEvent } from './schema/event.ts'
import type { Plugin } from './schema/plugin.ts'
import type { Source } from './schema/source.ts'
import type { Workspace } from './schema/workspace.ts'

/** What this process has counted since the start, for the status report. */
export interface Counters {
  inbound: number
  inboundFailed: number
  outbound: number
  outboundFailed: number
  outboundProcessing: number
}

/**
 * A plugin row ready to run. `prepared` rejects when the row's kind is not registered here, or when the kind refuses
 * the row's config.
 */
export interface ReadyPlugin {
  readonly row: Plugin
  prepared(): Promise<PreparedPlugin>
  /** The same once `prepared` has resolved, so that the hot path need not wait. */
  readonly current: () => PreparedPlugin | undefined
}

/** A workspace's configuration at one revision, in the forms that requests and deliveries use. */
export interface CompiledConfiguration {
  readonly workspace: Workspace
  readonly revision: number
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly sources: ReadonlyMap<string, Source>
  /** Enabled endpoints that want an event type. */
  match(eventType: string): readonly Endpoint[]
  /**
   * An endpoint of this configuration with its headers in clear text; at once where the headers are not sealed. Rejects
   * when the headers cannot be opened.
   */
  opened(endpoint: Endpoint): Awaitable<Endpoint>
  /** The earliest end of a signing secret, unix milliseconds; Infinity where none ends. */
  readonly nextExpiry: number
  /** How long the JSON of all rows is, in bytes. */
  readonly bytes: number
  /** Enabled plugins of an endpoint or a source, in the order they run. */
  pluginsOf(ownerId: string): readonly ReadyPlugin[]
}

export interface ConfigurationCache {
  /** The configuration as last seen, if it is at hand. */
  held(workspaceId: string): CompiledConfiguration | undefined
  /** The configuration as last seen, loaded when it is not at hand. Null for an unknown workspace. */
  get(workspaceId: string): Promise<CompiledConfiguration | null>
  /** A configuration that is at least as new as `revision`. */
  atLeast(workspaceId: string, revision: number): Promise<CompiledConfiguration | null>
  /** A configuration that was read after this call. */
  fresh(workspaceId: string): Promise<CompiledConfiguration | null>
  forget(change: Change): void
  /** All that are at hand. */
  all(): Iterable<CompiledConfiguration>
}

/** Bounds how long the configuration of a workspace may be, since each process keeps the whole of it in memory. */
export interface ConfigurationRoom {
  /**
   * Makes a write by which the configuration grows by `more` bytes of JSON. What is beyond the bound already may stay and
   * shrink. Storage does not count bytes, so the bound is not sharp: while several processes write, each may go beyond
   * it by an eighth. What was refused or only tried counts as written until the whole is read again.
   * @throws PosthornError `validation` where there is no room.
   */
  write<Answer>(workspaceId: string, more: number, write: () => Promise<Answer>): Promise<Answer>
}

/** Parses texts that tenants sent. Parsing holds the event loop, which all tenants share. */
export interface Parsing {
  /** Parses a text of so many bytes: a long one when it is the tenant's turn. */
  run<Result>(tenant: string, bytes: number, parse: () => Result): Awaitable<Result>
}

/** Makes reads that tenants ask for, which may take the engine long: few at once, one at a time for each tenant. */
export interface Reading {
  /**
   * Reads when it is the tenant's turn, unless `signal` aborts before.
   * @throws PosthornError `overloaded` where too many reads of the tenant wait
   */
  run<Answer>(tenant: string, signal: AbortSignal, read: () => Promise<Answer>): Promise<Answer>
}

/** Hands attempts that are about to be stored to the worker of this process. */
export interface HandOff {
  /**
   * The attempts as they are to be stored. Null when the worker takes none of them over. `bytes`: those of the event's
   * data, about.
   */
  take(configuration: CompiledConfiguration, attempts: readonly PlannedAttempt[], bytes: number): Handed | null
  /** Jobs went to the queue, so that later ones come behind them. */
  queued(jobs: readonly Job[]): void
}

export interface Handed {
  /** Those that the worker takes over have a lease. */
  readonly attempts: readonly PlannedAttempt[]
  /** They were stored: the worker sends those whose jobs are held, see `IngestAnswer`. */
  stored(event: StoredEvent, trace: string | undefined, held: readonly string[]): void
  /** They were not stored. `mayBe`: nobody knows. */
  notStored(mayBe: boolean): void
}

/** Hands messages that are about to be put into the inbox to the worker of this process. */
export interface MessageHandOff {
  /** The message as it is to be put, with a lease. Null when the worker does not take it over. */
  take(message: Message): HandedMessage | null
}

export interface HandedMessage {
  readonly message: NewMessage
  /** The message was put. The worker handles it where it is `held`, see `PutAnswer`. */
  stored(held: boolean): void
  /** The message was not put, or nobody knows. */
  notStored(): void
}

/** Everything that services need from outside. An instance has a single context; `using(tx)` derives a context with the bound storage. */
export interface Context {
  readonly storage: Storage
  readonly queue: Queue
  readonly inbox: Inbox
  readonly limiter: Limiter
  /** Whether `queue` belongs to the storage: then storage writes and completes jobs in the same steps as its rows. */
  readonly ownQueue: boolean
  readonly clock: EngineClock
  readonly http: HttpClient
  readonly platform: Platform
  readonly log: Logger
  /** The same logger for what may come again and again: each message once a minute, with how often it came. */
  readonly repeating: Logger
  readonly telemetry: Telemetry | undefined
  readonly plugins: PluginRegistry
  readonly catalogue: Catalogue
  /** Seals, opens and masks the secrets of rows. */
  readonly secrets: RowSecrets
  readonly settings: Settings
  readonly counters: Counters
  /** The last requests of each source that this process took. */
  readonly requests: RequestLog
  /** Names this process among those that work for the instance. */
  thisProcess(): Pick<Process, 'id' | 'version' | 'runtime'>
  /** How long this instance has existed, by the clock of the process. */
  uptimeMs(): number
  /** A fresh id that sorts after all ids this instance made before. */
  newId(): string
  /** The workspaces' configurations, compiled. */
  readonly configuration: ConfigurationCache
  /** Bounds how long a configuration may be. */
  readonly room: ConfigurationRoom
  readonly parsing: Parsing
  readonly reading: Reading
  /** Whether writes of different callers may share a batch. */
  readonly batches: boolean
  /** Whether a write whose connection was lost is sent once more. Nothing can follow an error in a transaction of the host. */
  readonly resends: boolean
  /**
   * Where attempts, and messages of the inbox, may be handed to the worker of this process; null while no worker runs, and inside a
   * transaction of the host.
   */
  readonly handOff: { to: HandOff | null; messagesTo: MessageHandOff | null }
  /** Says that attempts were stored: their jobs go to the queue if storage did not write them itself, and the worker wakes. */
  enqueued(jobs: readonly Job[]): void
  /** Says that the attempts of these endpoints need wait no longer: their jobs may be claimed at once. */
  resumed(endpointIds: readonly string[]): Promise<void>
  /** Tells listeners of `posthorn.on`; what they throw is contained. */
  emit<Name extends SignalName>(name: Name, signal: Signals[Name]): void
}
