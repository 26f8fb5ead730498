import type { SourceRequests } from '../schema/instance.ts'
import type { Source, SourceInput } from '../schema/source.ts'
import type { OwnedListInput } from './lists.ts'
import type { ResourceService } from './resource.ts'

/** Sources: where inbound requests become events. `workspace` is an id or a name. */
export interface SourceService extends ResourceService<Source, SourceInput, OwnedListInput> {
  /**
   * Answers the last 50 requests that the gateway of this process took for the source, the newest first. Other processes have
   * taken others.
   * @throws PosthornError not_found, unknown_workspace
   */
  requests(workspace: string, id: string): Promise<SourceRequests>
}
