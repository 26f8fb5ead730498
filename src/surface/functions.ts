import type { EventInput } from '../schema/event.ts'
import type { AttemptService } from './attempts.ts'
import type { ConfigService } from './config.ts'
import type { EndpointService } from './endpoints.ts'
import type { PublicEvents } from './events.ts'
import type { PluginService } from './plugins.ts'
import type { SourceService } from './sources.ts'
import type { WorkspaceService } from './workspaces.ts'

/** The service functions: what the admin API does, without HTTP. They throw `PosthornError`. */
export interface ServiceFunctions<Input = EventInput> {
  /** Namespaces of everything else. */
  readonly workspaces: WorkspaceService
  /** Where deliveries go. */
  readonly endpoints: EndpointService
  /** Where inbound requests become events. */
  readonly sources: SourceService
  /** Components of endpoints and sources. */
  readonly plugins: PluginService
  /** What happened, and what is delivered. */
  readonly events: PublicEvents<Input>
  /** Tries to deliver an event to an endpoint. */
  readonly attempts: AttemptService
  /** The configuration of a workspace as one document. */
  readonly config: ConfigService
}
