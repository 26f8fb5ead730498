import type { SignalListener, SignalName } from '../contracts/observer.ts'
import type { AnyEvents } from '../schema/catalogue.ts'
import type { PluginInput } from '../schema/plugin.ts'
import type { HealthReport, StatusReport } from '../schema/status.ts'
import type { ServiceFunctions } from './functions.ts'
import type { Handler } from './handler.ts'
import type { SecretsService } from './secrets.ts'
import type { Worker } from './worker.ts'

/** The service functions inside the host's open transaction. */
export interface BoundPosthorn<Catalogue extends object = AnyEvents, Plugins = PluginInput> extends ServiceFunctions<
  Catalogue,
  Plugins
> {
  /**
   * To be called after the host's commit: hands jobs to a queue of another engine at once, lets endpoints that were resumed go on
   * at once, and tells listeners of `change`. Without it workers find the jobs within seconds, and resumed endpoints go on within ten
   * minutes.
   */
  committed(): Promise<void>
}

/**
 * An instance. Making an instance starts nothing: `start` does the work that needs time, `tick` does one pass of it.
 * `Catalogue` is the data of each event type, `Plugins` what may be written of plugins.
 */
export interface Posthorn<Catalogue extends object = AnyEvents, Plugins = PluginInput>
  extends ServiceFunctions<Catalogue, Plugins>, Worker {
  /** The administrative API. It declares no authentication: protect the mount, or pass `admin.authorize`. */
  readonly admin: Handler
  /** Where inbound requests become events. */
  readonly gateway: Handler
  /**
   * The status report on any path; where the path ends in `/live`, that this process turns; in `/ready` or `/health` the
   * health; in `/metrics` Prometheus metrics.
   */
  readonly statusHandler: Handler
  /** Seals what is stored with the key that seals now, and counts values by key. */
  readonly secrets: SecretsService
  /** The report of this instance: memory, counters of this process since it started, and the queue. */
  status(): Promise<StatusReport>
  /** Whether storage and queue answer and take writes, within 4 s; a fault is reported within 5 s. */
  health(): Promise<HealthReport>
  /**
   * Tells what happens in this process, after it was stored. Answers how to stop listening.
   * @example posthorn.on('exhausted', ({ attempt }) => console.warn('given up', attempt.endpoint_id))
   */
  on<Name extends SignalName>(name: Name, listener: SignalListener<Name, Catalogue>): () => void
  /** The service functions for a caller: `posthorn.on('change')` and the log tell `actor` as who called. */
  as(actor: string): ServiceFunctions<Catalogue, Plugins>
  /**
   * The service functions bound to the host's open transaction: what they write exists if and only if the host commits.
   * `wake: false` sends no notification; polling then finds the job.
   * @throws PosthornError transaction_required where the storage cannot join a transaction
   */
  using(tx: unknown, options?: { wake?: boolean }): BoundPosthorn<Catalogue, Plugins>
}
