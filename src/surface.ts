import type { StatusReport, HealthReport } from './schema/status.ts'
import type { Event, EventInput, PublishAnswer, PublishedEvent } from './schema/event.ts'
import type { Attempt } from './schema/attempt.ts'
import type { SignalListener, SignalName } from './contracts/observer.ts'
import type { Handler } from './http/handler.ts'
import type { Delivery } from './schema/delivery.ts'
import type { Endpoint } from './schema/endpoint.ts'
import type { Plugin, PluginInput } from './schema/plugin.ts'
import type { Source } from './schema/source.ts'
import type { StatsInput, StatsReport } from './schema/stats.ts'
import type { Workspace } from './schema/workspace.ts'
import type {
  AttemptListInput,
  AttemptService,
  ConfigService,
  DeliveryListInput,
  DeliveryService,
  EndpointService,
  EraseInput,
  EraseReport,
  EventListInput,
  EventTypeService,
  ExplainOptions,
  Explanation,
  NamedListInput,
  OwnedListInput,
  PageOf,
  PluginListInput,
  ReplayInput,
  InstanceService,
  ReplayReport,
  ResourceService,
  SecretsService,
  SourceService,
  WorkspaceService,
} from './services/services.ts'
import type { Worker } from './worker/worker.ts'

/** Events as hosts use them: `data` is the parsed value. `workspace` is an id or a name. `Input` is what may be published. */
export interface PublicEvents<Input = EventInput> extends Iterated<Event, EventListInput> {
  list(workspace: string, query?: EventListInput): Promise<PageOf<Event>>
  get(workspace: string, id: string): Promise<Event>
  /** The text of the event's `data`, byte for byte as received. */
  raw(workspace: string, id: string): Promise<string>
  /**
   * Publishes an event. When its `unique_id` was seen before, nothing is stored or sent, and the answer is the stored event.
   * `created` tells which of both happened. `data` may be a `JsonText`, which is delivered byte for byte.
   * @throws PosthornError validation, unknown_workspace, unique_violation (a taken `id`), rate_limited, overloaded, unavailable
   */
  create(workspace: string, input: Input): Promise<PublishedEvent>
  /**
   * Publishes up to 500 events together. Answers one entry for each, in order: `{ event, created }`, or `{ error }`, a
   * `PosthornError` as `create` would throw. An event that is refused refuses no other.
   * @throws PosthornError validation (no list, or more than 500), unknown_workspace, unavailable
   */
  createMany(workspace: string, inputs: readonly Input[]): Promise<readonly PublishAnswer[]>
  /** Sends an event to one endpoint once more. @throws PosthornError not_found, validation */
  retry(workspace: string, id: string, endpointId: string): Promise<Attempt>
  /**
   * Tells for each endpoint of the workspace, in the order of ids, whether it gets the event, and why not.
   * @throws PosthornError not_found, validation
   */
  explain(workspace: string, id: string, options?: ExplainOptions): Promise<readonly Explanation[]>
  /**
   * Sends once more what failed or was canceled, or with `missing` what an endpoint never got. Test deliveries never.
   * `dryRun` only counts. `next` of the report goes into `after` of the next call. @throws PosthornError validation
   */
  replay(workspace: string, input: ReplayInput, options?: { dryRun?: boolean }): Promise<ReplayReport>
  /** Erases an event with its attempts and all that was recorded of them. Open attempts are not sent. Unknown ids are fine. */
  delete(workspace: string, id: string): Promise<void>
  /** Erases the events that the filter finds, in batches. A call that was broken off goes on when it is made again. @throws PosthornError validation */
  erase(workspace: string, input: EraseInput): Promise<EraseReport>
}

/** Iterates over all rows of a list of a workspace, read page by page (100 rows, or `limit`) while they are taken. */
export interface Iterated<Row, Query> {
  /** @example for await (const event of posthorn.events.each('default', { sort: 'id.asc' })) console.log(event.id) */
  each(workspace: string, query?: Query): AsyncIterable<Row>
}

export interface PublicWorkspaces extends WorkspaceService {
  /** Iterates over all workspaces, read page by page. */
  each(query?: NamedListInput): AsyncIterable<Workspace>
}

/** The service functions: what the admin API does, without HTTP. They throw `PosthornError`. */
export interface ServiceFunctions<Input = EventInput> {
  readonly workspaces: PublicWorkspaces
  readonly endpoints: EndpointService & Iterated<Endpoint, OwnedListInput>
  readonly sources: SourceService & Iterated<Source, OwnedListInput>
  readonly plugins: ResourceService<Plugin, PluginInput, PluginListInput> & Iterated<Plugin, PluginListInput>
  readonly events: PublicEvents<Input>
  readonly attempts: AttemptService & Iterated<Attempt, AttemptListInput>
  /** All attempts of an event to an endpoint as one row. */
  readonly deliveries: DeliveryService & Iterated<Delivery, DeliveryListInput>
  readonly config: ConfigService
  /**
   * The attempts of a workspace that ended, counted by minute, hour or day, with percentiles of their latency. Test deliveries
   * are left out. @throws PosthornError validation, unknown_workspace
   */
  stats(workspace: string, query?: StatsInput): Promise<StatsReport>
  /** What is told of all workspaces together, and of the processes that work for them. */
  readonly instance: InstanceService
  readonly eventTypes: EventTypeService
}

/** The service functions inside the host's open transaction. */
export interface BoundPosthorn<Input = EventInput> extends ServiceFunctions<Input> {
  /**
   * To be called after the host's commit: hands jobs to a queue of another engine at once, lets endpoints that were resumed go on
   * at once, and tells listeners of `change`. Without it the next sweep hands jobs over, and resumed endpoints go on within ten
   * minutes.
   */
  committed(): Promise<void>
}

/** An instance. Making one starts nothing: `start` does the work that needs time, `tick` does one pass of it. */
export interface Posthorn<Input = EventInput> extends ServiceFunctions<Input>, Worker {
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
  status(): Promise<StatusReport>
  /** Whether storage and queue answer and take writes, within 4 s; a fault is told within 5 s. */
  health(): Promise<HealthReport>
  /** Tells what happens in this process, after it was stored. Answers how to stop listening. */
  on<Name extends SignalName>(name: Name, listener: SignalListener<Name>): () => void
  /** The service functions for a caller: `posthorn.on('change')` and the log tell `actor` as who called. */
  as(actor: string): ServiceFunctions<Input>
  /**
   * The service functions bound to the host's open transaction: what is written there exists if and only if the host commits.
   * `wake: false` sends no notification; polling then finds the job.
   */
  using(tx: unknown, options?: { wake?: boolean }): BoundPosthorn<Input>
}
