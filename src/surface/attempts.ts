import type { Attempt, AttemptErrorCode, AttemptStatus, TriggerMode } from '../schema/attempt.ts'
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
  /** Only attempts with this status. */
  readonly status?: AttemptStatus
  /** When attempts are due. */
  readonly scheduled_at?: TimeFilter
  /** Attempts of events of exactly this type. */
  readonly event_type?: string
  /** Attempts of the event with this `unique_id`. */
  readonly unique_id?: string
  /** Attempts that have ended and that no automatic try follows, or only the others. */
  readonly final?: boolean
  /** Attempts that were made for this reason. */
  readonly trigger_mode?: TriggerMode
  /** Attempts that ended with this error. */
  readonly error_code?: AttemptErrorCode
  /** Attempts that were answered with this HTTP status, 100 to 599. */
  readonly response_status?: number
}

/** Attempts: tries to deliver an event to an endpoint. `workspace` is an id or a name. Lists leave headers and bodies null. */
export interface AttemptService extends Listed<Attempt, AttemptListInput> {
  /** Reads one attempt with its headers and bodies. @throws PosthornError not_found, unknown_workspace */
  get(workspace: string, id: string): Promise<Attempt>
}
