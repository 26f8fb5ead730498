import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { PosthornError } from '../errors.ts'
import type { EventInput } from '../schema/catalogue.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { ListInput } from '../schema/page.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import type { StatsInput, StatsReport } from '../schema/stats.ts'
import type { HealthReport, StatusReport } from '../schema/status.ts'
import type { EnsureWorkspaceInput, Workspace } from '../schema/workspace.ts'
import type { AttemptListInput, AttemptService } from '../surface/attempts.ts'
import type { ConfigService } from '../surface/config.ts'
import type { DeliveryService } from '../surface/deliveries.ts'
import type { EndpointService } from '../surface/endpoints.ts'
import type { EventListInput, EventService } from '../surface/events.ts'
import type { EventTypeService } from '../surface/event-types.ts'
import type { InstanceService } from '../surface/instance.ts'
import type { NamedListInput, OwnedListInput, PageOf } from '../surface/lists.ts'
import type { PluginListInput, PluginService } from '../surface/plugins.ts'
import type { ResourceService } from '../surface/resource.ts'
import type { TakeKey } from './idempotency-keys.ts'
import type { SecretsService } from '../surface/secrets.ts'
import type { SourceService } from '../surface/sources.ts'
import type { WorkspaceService } from '../surface/workspaces.ts'

// The use cases behind the functions of surface/. Where a function answers in another form than the use case, the use
// case is declared here; in all other cases the use case is the function of the surface.

/** A row, and whether the call made it: false where the row existed already. */
export interface Created<Row> {
  readonly row: Row
  readonly created: boolean
}

/** What became of an event of a list: the row, or why the event was refused. */
export type StoredAnswer = Created<StoredEvent> | { readonly error: PosthornError }

interface Listing<Row, Query extends ListInput> {
  list(workspace: string, query?: Query): Promise<PageOf<Row>>
}

/** The functions of a noun, with one `list` that answers either kind of page; `each` is made of `list`. */
type Behind<Service, Row, Query extends ListInput> = Omit<Service, 'list' | 'each'> & Listing<Row, Query>

export type ResourceUseCases<Row, Input, Query extends ListInput> = Behind<
  ResourceService<Row, Input, Query>,
  Row,
  Query
>
export type EndpointUseCases = Behind<EndpointService, Endpoint, OwnedListInput>
export type SourceUseCases = Behind<SourceService, Source, OwnedListInput>
export type PluginUseCases = Behind<PluginService, Plugin, PluginListInput>
export type AttemptUseCases = Behind<AttemptService, Attempt, AttemptListInput>
export type DeliveryUseCases = Omit<DeliveryService, 'each'>

/** The workspace functions, where `ensure` tells whether it created the workspace. */
export interface WorkspaceUseCases extends Omit<WorkspaceService, 'list' | 'each' | 'ensure'> {
  list(query?: NamedListInput): Promise<PageOf<Workspace>>
  ensure(input: EnsureWorkspaceInput): Promise<Created<Workspace>>
}

/** The functions of events, with `data` as text; the public functions parse it. */
export interface EventUseCases
  extends
    Omit<EventService, 'list' | 'each' | 'get' | 'raw' | 'create' | 'createMany'>,
    Listing<StoredEvent, EventListInput> {
  get(workspace: string, id: string): Promise<StoredEvent>
  /** `created` is false when the `unique_id` was seen before: then `row` is the stored event. */
  create(workspace: string, input: EventInput): Promise<Created<StoredEvent>>
  /** An answer for each event, in order. */
  createMany(workspace: string, inputs: readonly EventInput[]): Promise<readonly StoredAnswer[]>
}

/**
 * The use cases that are operations. A workspace is given by the id of a workspace that exists: the edge (`http/admin.ts`,
 * `functions.ts`) resolves the id or the name that a caller gives. Events carry `data` as text; the public surface parses it.
 */
export interface UseCases {
  readonly workspaces: WorkspaceUseCases
  readonly endpoints: EndpointUseCases
  readonly sources: SourceUseCases
  readonly plugins: PluginUseCases
  readonly events: EventUseCases
  readonly attempts: AttemptUseCases
  readonly deliveries: DeliveryUseCases
  readonly config: ConfigService
  readonly eventTypes: EventTypeService
  readonly instance: InstanceService
  stats(workspace: string, query?: StatsInput): Promise<StatsReport>
}

export interface StatusService {
  status(): Promise<StatusReport>
  health(): Promise<HealthReport>
}

export interface Services extends UseCases, StatusService {
  readonly secrets: SecretsService
  readonly takeKey: TakeKey
}
