import type { Attempt, AttemptStatus } from '../schema/attempt.ts'
import type { ListInput, TimeFilter } from '../schema/page.ts'
import type { Listed } from './lists.ts'

/** What the list of attempts can be asked. Filters that are given must all hold. */
export interface AttemptListInput extends ListInput {
  /** When attempts were sent. */
  readonly attempted_at?: TimeFilter
  /** Attempts of this event. */
  readonly event_id?: string
  /** Attempts at this endpoint. */
  readonly endpoint_id?: string
  /** Attempts that stand there now. */
  readonly status?: AttemptStatus
}

/** Attempts: tries to deliver an event to an endpoint. `workspace` is an id or a name. Lists leave headers and bodies null. */
export interface AttemptService extends Listed<Attempt, AttemptListInput> {
  /** Reads one attempt with its headers and bodies. @throws PosthornError not_found, unknown_workspace */
  get(workspace: string, id: string): Promise<Attempt>
}
