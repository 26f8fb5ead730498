import type { Clock } from './contracts/clock.ts'
import type { HttpClient } from './contracts/http-client.ts'
import type { Inbox } from './contracts/inbox.ts'
import type { Limiter } from './contracts/limiter.ts'
import type { Logger, SignalName, Signals } from './contracts/observer.ts'
import type { Platform } from './contracts/platform.ts'
import type { PluginRegistry } from './contracts/plugin.ts'
import type { Queue } from './contracts/queue.ts'
import type { Storage } from './contracts/storage.ts'
import type { Settings } from './options.ts'

/** What this process counted since its start, for the status report. */
export interface Counters {
  inbound: number
  inboundFailed: number
  outbound: number
  outboundFailed: number
  outboundProcessing: number
}

/** Everything that services need from outside. One per instance; `using(tx)` derives one with the bound storage. */
export interface Context {
  readonly storage: Storage
  readonly queue: Queue
  readonly inbox: Inbox
  readonly limiter: Limiter
  /** Whether `queue` is the storage's own: then storage writes and completes its jobs in its own steps. */
  readonly ownQueue: boolean
  readonly clock: Clock
  readonly http: HttpClient
  readonly platform: Platform
  readonly log: Logger
  readonly plugins: PluginRegistry
  readonly settings: Settings
  readonly counters: Counters
  /** When the instance was made. */
  readonly startedAt: number
  /** A fresh id that sorts after all ids this instance made before. */
  newId(): string
  /** Tells listeners of `posthorn.on`; what they throw is contained. */
  emit<Name extends SignalName>(name: Name, signal: Signals[Name]): void
}
