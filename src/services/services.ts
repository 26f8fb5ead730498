import type { PosthornError } from '../errors.ts'
import type { Attempt, AttemptErrorCode, AttemptStatus, TriggerMode } from '../schema/attempt.ts'
import type { ConfigDocument, SyncReport } from '../schema/config.ts'
import type { EventType } from '../schema/catalogue.ts'
import type { Delivery, DeliveryDetails, DeliveryStatus } from '../schema/delivery.ts'
import type { Endpoint, EndpointInput } from '../schema/endpoint.ts'
import type { EventInput, StoredEvent } from '../schema/event.ts'
import type { CursorPage, ListInput, OffsetPage, TimeFilter } from '../schema/page.ts'
import type { Plugin, PluginInput } from '../schema/plugin.ts'
import type { RotateInput } from '../schema/rotate-secret.ts'
import type { EndpointSecret, ResealReport, SecretsStatus, ShownAs } from '../schema/secrets.ts'
import type { Source, SourceInput } from '../schema/source.ts'
import type { ProcessReport, SourceRequests } from '../schema/instance.ts'
import type { EndpointHealth, InstanceStatsInput, StatsInput, StatsReport } from '../schema/stats.ts'
import type { HealthReport, StatusReport } from '../schema/status.ts'
import type { EnsureWorkspaceInput, Workspace, WorkspaceInput } from '../schema/workspace.ts'

export type PageOf<Row> = OffsetPage<Row> | CursorPage<Row>

export interface NamedListInput extends ListInput {
  readonly name?: string
  readonly metadata?: Readonly<Record<string, string>>
}
export interface OwnedListInput extends NamedListInput {
  readonly enabled?: boolean
}
export interface PluginListInput extends OwnedListInput {
  readonly endpoint_id?: string
  readonly source_id?: string
}
export interface EventListInput extends ListInput {
  readonly ingested_at?: TimeFilter
  readonly event_type?: string
  readonly unique_id?: string
}
export interface AttemptListInput extends ListInput {
  readonly attempted_at?: TimeFilter
  readonly event_id?: string
  readonly endpoint_id?: string
  readonly status?: AttemptStatus
  readonly scheduled_at?: TimeFilter
  readonly event_type?: string
  /** The `unique_id` of the event. */
  readonly unique_id?: string
  /** Whether the attempt has ended and no automatic try follows. */
  readonly final?: boolean
  readonly trigger_mode?: TriggerMode
  readonly error_code?: AttemptErrorCode
  /** 100 to 599. */
  readonly response_status?: number
}

/** A JSON merge patch of what a client may write (RFC 7396). */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: MergePatch<T[Name]> | null }
    : T

/** Create, read, update and delete of one kind of configuration row. `workspace` is an id or a name. */
export interface ResourceService<Row, Input, Query extends ListInput> {
  list(workspace: string, query?: Query): Promise<PageOf<Row>>
  create(workspace: string, input: Input): Promise<Row>
  get(workspace: string, id: string): Promise<Row>
  /** A shallow merge: an absent key keeps its value, a present one replaces the whole value. */
  update(workspace: string, id: string, input: Partial<Input>): Promise<Row>
  /**
   * A JSON merge patch (RFC 7396): members of objects are merged at any depth, null removes a member, which then has its
   * default, and lists are replaced whole. Of patches at the same moment each one holds.
   * @throws PosthornError not_found, validation, unique_violation, overloaded (too many writers at once)
   */
  patch(workspace: string, id: string, patch: MergePatch<Input>): Promise<Row>
  /** Unknown ids are fine. */
  delete(workspace: string, id: string): Promise<void>
}

export interface WorkspaceService {
  list(query?: NamedListInput): Promise<PageOf<Workspace>>
  create(input: WorkspaceInput): Promise<Workspace>
  /**
   * Creates the workspace with this id, or answers the one that is there, as it is. Of many callers at once one creates it.
   * @throws PosthornError validation, unique_violation (another workspace has the name)
   */
  ensure(input: EnsureWorkspaceInput): Promise<Workspace>
  get(id: string): Promise<Workspace>
  update(id: string, input: Partial<WorkspaceInput>): Promise<Workspace>
  /** A JSON merge patch: see `ResourceService`. */
  patch(id: string, patch: MergePatch<WorkspaceInput>): Promise<Workspace>
  delete(id: string): Promise<void>
}

export interface ReplayInput {
  readonly event_types?: readonly string[]
  readonly endpoint_id?: string
  /** Bounds the time of the event. */
  readonly created_at?: TimeFilter
  /** Bounds the time of the failed attempt. */
  readonly attempted_at?: TimeFilter
  /** Default: both. */
  readonly status?: 'FAILED' | 'CANCELED'
  /**
   * What the endpoint never got, in place of what failed: events that match `endpoint_id` now and have no attempt to it. A
   * call looks at 50,000 events at most. Default false.
   */
  readonly missing?: boolean
  /** Where an earlier call stopped. */
  readonly after?: string
  /** 1 to 10,000, default 10,000. */
  readonly limit?: number
}
export interface ReplayReport {
  readonly matched: number
  readonly created: number
  readonly next: string | null
}

/** Which events are erased; one of the three filters is required, and all that are given must hold. */
export interface EraseInput {
  readonly unique_id?: string
  readonly event_type?: string
  /** Bounds the time of the event. */
  readonly created_at?: TimeFilter
  /** 1 to 10,000, default 10,000. */
  readonly limit?: number
}
export interface EraseReport {
  /** How many events went. */
  readonly erased: number
  /** Whether `limit` ended the call. The same call goes on. */
  readonly more: boolean
}

/** Why an endpoint got an event, or why not. */
export interface Explanation {
  readonly endpoint_id: string
  readonly endpoint_name: string | null
  readonly matched: boolean
  /** One sentence. */
  readonly reason: string
  /** The newest 20, in order. */
  readonly attempts: readonly Attempt[]
  /** When the open attempt is next due, pauses counted; null when none is open, and while the endpoint is paused. */
  readonly next_due_at: number | null
  /** How many attempts there are. */
  readonly tries: number
}

export interface ExplainOptions {
  /** The most endpoints, 1 to 1000. Default: all of the workspace. */
  readonly limit?: number | undefined
  /** Only endpoints with ids beyond this one: the last `endpoint_id` of the page before. */
  readonly after?: string | undefined
}

/** A row, and whether the call made it: false where the row was there already. */
export interface Created<Row> {
  readonly row: Row
  readonly created: boolean
}

/** What became of one event of many: the row, or why the event was refused. */
export type StoredAnswer = Created<StoredEvent> | { readonly error: PosthornError }

export interface EventService {
  list(workspace: string, query?: EventListInput): Promise<PageOf<StoredEvent>>
  get(workspace: string, id: string): Promise<StoredEvent>
  /** `created` is false when the `unique_id` was seen before: then `row` is the stored event. */
  create(workspace: string, input: EventInput): Promise<Created<StoredEvent>>
  /** One answer for each event, in order. */
  createMany(workspace: string, inputs: readonly EventInput[]): Promise<readonly StoredAnswer[]>
  retry(workspace: string, id: string, endpointId: string): Promise<Attempt>
  explain(workspace: string, id: string, options?: ExplainOptions): Promise<readonly Explanation[]>
  replay(workspace: string, input: ReplayInput, options?: { dryRun?: boolean }): Promise<ReplayReport>
  /** Unknown ids are fine. */
  delete(workspace: string, id: string): Promise<void>
  erase(workspace: string, input: EraseInput): Promise<EraseReport>
}

export interface AttemptService {
  list(workspace: string, query?: AttemptListInput): Promise<PageOf<Attempt>>
  get(workspace: string, id: string): Promise<Attempt>
}

export interface DeliveryListInput {
  /** 1 to 1000, default 20. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
  /** `prev` of the page behind. */
  readonly before?: string
  /** Bounds the time of the event. */
  readonly created_at?: TimeFilter
  readonly event_id?: string
  readonly endpoint_id?: string
  readonly event_type?: string
  readonly status?: DeliveryStatus
}

/** Deliveries: all attempts of an event to an endpoint as one row. */
export interface DeliveryService {
  /** Newest first by the event's time and id. @throws PosthornError validation */
  list(workspace: string, query?: DeliveryListInput): Promise<CursorPage<Delivery>>
  /** With all attempts. @throws PosthornError not_found */
  get(workspace: string, eventId: string, endpointId: string): Promise<DeliveryDetails>
  /** Sends the event to the endpoint once more, as `events.retry`. @throws PosthornError not_found, validation */
  retry(workspace: string, eventId: string, endpointId: string): Promise<Attempt>
}

export interface ConfigService {
  /** `document` is parsed JSON or YAML. */
  sync(workspace: string, document: ConfigDocument, options?: { dryRun?: boolean }): Promise<SyncReport>
  /**
   * `secrets`: in clear, as masks, or sealed as they are stored; a dump of each form syncs back to no change. Default
   * `masked` with the option `secrets`, else `clear`, which is then the only one.
   * @throws PosthornError validation; unavailable when a secret cannot be opened
   */
  dump(workspace: string, options?: { secrets?: ShownAs | undefined }): Promise<ConfigDocument>
}

export interface EventTypeService {
  /**
   * The event types of the catalogue, in the order of the option `events`. `hidden`: those too that only operators see; default
   * false.
   */
  list(workspace: string, options?: { hidden?: boolean }): Promise<readonly EventType[]>
}

export interface EndpointService extends ResourceService<Endpoint, EndpointInput, OwnedListInput> {
  /** How the endpoint does: its last success and failure, what waits, and its success rates. @throws PosthornError not_found */
  health(workspace: string, id: string): Promise<EndpointHealth>
  /** Makes one sample delivery now and answers its attempt. */
  test(workspace: string, id: string, input?: { event_type?: string; data?: unknown }): Promise<Attempt>
  /** The secret that signs its deliveries, in clear. @throws PosthornError not_found; validation without a signature plugin */
  secret(workspace: string, id: string): Promise<EndpointSecret>
  /**
   * Gives its signature plugin a new secret, of the same kind of key, and answers it. Deliveries carry the signatures of the
   * old ones too until the overlap ends. @throws PosthornError not_found, validation
   */
  rotateSecret(workspace: string, id: string, input?: RotateInput): Promise<EndpointSecret>
}

export interface SourceService extends ResourceService<Source, SourceInput, OwnedListInput> {
  /**
   * The last 50 requests that the gateway of this process took for the source, newest first. Other processes have taken
   * others. @throws PosthornError not_found
   */
  requests(workspace: string, id: string): Promise<SourceRequests>
}

export interface InstanceService {
  /** Attempts of all workspaces; see `stats`. @throws PosthornError validation */
  stats(query?: InstanceStatsInput): Promise<StatsReport>
  /** The processes that worked in the last five minutes, by id. */
  processes(): Promise<readonly ProcessReport[]>
}

/** The secrets of all workspaces, as they are stored. */
export interface SecretsService {
  /**
   * Seals everything with the key that seals now: values in clear, and those of other keys. It may run beside everything
   * else and in several processes. After a crash the next call goes on with what is left.
   * @param options `signal` ends the call after the step under way; `onProgress` hears after each step, of 100 rows at most,
   * what was done so far
   * @throws PosthornError validation without the option `secrets`
   */
  reseal(options?: { signal?: AbortSignal; onProgress?: (soFar: ResealReport) => void }): Promise<ResealReport>
  /** Counts the values by key. It reads the configuration of all workspaces. */
  status(): Promise<SecretsStatus>
}

/** The workspace functions, where `ensure` tells whether it created the workspace. */
export interface WorkspaceUseCases extends Omit<WorkspaceService, 'ensure'> {
  ensure(input: EnsureWorkspaceInput): Promise<Created<Workspace>>
}

/**
 * The use cases that are operations. A workspace is given by the id of a workspace that exists: the edge (`http/admin.ts`,
 * `functions.ts`) resolves the id or the name that a caller gives. Events carry `data` as text; the public surface parses it.
 */
export interface UseCases {
  readonly workspaces: WorkspaceUseCases
  readonly endpoints: EndpointService
  readonly sources: SourceService
  readonly plugins: ResourceService<Plugin, PluginInput, PluginListInput>
  readonly events: EventService
  readonly attempts: AttemptService
  readonly deliveries: DeliveryService
  readonly config: ConfigService
  stats(workspace: string, query?: StatsInput): Promise<StatsReport>
  readonly instance: InstanceService
  readonly eventTypes: EventTypeService
}

export interface StatusService {
  status(): Promise<StatusReport>
  health(): Promise<HealthReport>
}

export interface Services extends UseCases, StatusService {
  readonly secrets: SecretsService
}
