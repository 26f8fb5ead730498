import type { EventType } from '../schema/catalogue.ts'

/** The event types of the catalogue of the host. `workspace` is an id or a name. */
export interface EventTypeService {
  /**
   * Answers the event types of the catalogue, in the order of the option `events`. `hidden`: those too that only operators see;
   * default false.
   * @throws PosthornError unknown_workspace
   */
  list(workspace: string, options?: { hidden?: boolean }): Promise<readonly EventType[]>
}
