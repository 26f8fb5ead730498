import type { AnyEvents, CatalogueEvent, EventInput } from '../schema/catalogue.ts'
import type { PluginInput } from '../schema/plugin.ts'
import type { EndpointInput } from '../schema/endpoint.ts'
import type { StatsInput, StatsReport } from '../schema/stats.ts'
import type { AttemptService } from './attempts.ts'
import type { ConfigService } from './config.ts'
import type { DeliveryService } from './deliveries.ts'
import type { EndpointService } from './endpoints.ts'
import type { EventTypeService } from './event-types.ts'
import type { EventService } from './events.ts'
import type { InstanceService } from './instance.ts'
import type { PluginService } from './plugins.ts'
import type { SourceService } from './sources.ts'
import type { WorkspaceService } from './workspaces.ts'

/**
 * The service functions: what the admin API does, without HTTP. They throw `PosthornError`. `Catalogue` is the data of each
 * event type, `Plugins` what may be written of plugins.
 */
export interface ServiceFunctions<Catalogue extends object = AnyEvents, Plugins = PluginInput> {
  /** Namespaces of everything else. */
  readonly workspaces: WorkspaceService
  /** Where deliveries go. */
  readonly endpoints: EndpointService<EndpointInput<Catalogue>>
  /** Where inbound requests become events. */
  readonly sources: SourceService
  /** Components of endpoints and sources. */
  readonly plugins: PluginService<Plugins>
  /** What happened, and what is delivered. */
  readonly events: EventService<EventInput<Catalogue>, CatalogueEvent<Catalogue>>
  /** Tries to deliver an event to an endpoint. */
  readonly attempts: AttemptService
  /** All attempts of an event to an endpoint as one row. */
  readonly deliveries: DeliveryService
  /** The configuration of a workspace as one document. */
  readonly config: ConfigService
  /** The event types of the catalogue. */
  readonly eventTypes: EventTypeService
  /** Statistics of all workspaces together, and of the processes that work for them. */
  readonly instance: InstanceService
  /**
   * The attempts of a workspace that ended, counted by minute, hour or day, with percentiles of their latency. Test deliveries
   * are left out.
   * @throws PosthornError validation, unknown_workspace
   * @example const { data } = await posthorn.stats('default', { step: 'day' })
   */
  stats(workspace: string, query?: StatsInput): Promise<StatsReport>
}
