import type { Attempt } from '../schema/attempt.ts'
import type { CatalogueEvent, EventInput } from '../schema/catalogue.ts'
import type { PublishAnswer, Published } from '../schema/event.ts'
import type { ListInput, TimeFilter } from '../schema/page.ts'
import type { Listed } from './lists.ts'

/** What the list of events can be asked. Filters that are given must all hold. */
export interface EventListInput extends ListInput {
  /** When events were accepted. */
  readonly ingested_at?: TimeFilter
  /** Events of exactly this type. */
  readonly event_type?: string
  /** The event with this `unique_id`. */
  readonly unique_id?: string
}

/** Which failed and canceled deliveries are sent once more, or with `missing` which events an endpoint gets late. Filters that are given must all hold; `{}` takes all. */
export interface ReplayInput {
  /** Types of events, compared exactly. Default: all. */
  readonly event_types?: readonly string[]
  /** Deliveries to this endpoint. Default: to all. */
  readonly endpoint_id?: string
  /** When events were created. Default: at any time. */
  readonly created_at?: TimeFilter
  /** When the failed attempts were sent. Default: at any time. */
  readonly attempted_at?: TimeFilter
  /** How the deliveries ended. Default: both. */
  readonly status?: 'FAILED' | 'CANCELED'
  /**
   * What the endpoint never got, in place of what failed: events that match `endpoint_id` now and have no attempt to it. A
   * call looks at 50,000 events at most. Default false.
   */
  readonly missing?: boolean
  /** Where an earlier call stopped: the `next` that it answered. */
  readonly after?: string
  /** The most deliveries that one call looks at, 1 to 10,000. Default 10,000. */
  readonly limit?: number
}

/** What a replay did, or would do. */
export interface ReplayReport {
  /** Deliveries that match. */
  readonly matched: number
  /** Attempts that were made; 0 for a dry run. */
  readonly created: number
  /** What goes into `after` of the next call; null when all was looked at. */
  readonly next: string | null
}

/**
 * Which events are erased. At least one of the three filters is required. An event is erased when it meets all filters
 * that are given.
 */
export interface EraseInput {
  /** The event with this `unique_id`. */
  readonly unique_id?: string
  /** Events of exactly this type. */
  readonly event_type?: string
  /** When events were created. */
  readonly created_at?: TimeFilter
  /** The most events that one call erases, 1 to 10,000. Default 10,000. */
  readonly limit?: number
}

/** What an erasure did. */
export interface EraseReport {
  /** Events that are gone. */
  readonly erased: number
  /** Whether `limit` ended the call. The same call goes on. */
  readonly more: boolean
}

/** Which endpoints are explained. */
export interface ExplainOptions {
  /** The most endpoints, 1 to 1000. Default: all of the workspace. */
  readonly limit?: number | undefined
  /** Only endpoints with ids beyond this id: the last `endpoint_id` of the page before. */
  readonly after?: string | undefined
}

/** Why an endpoint got an event, or why not. */
export interface Explanation {
  /** The endpoint. */
  readonly endpoint_id: string
  /** The name of the endpoint. */
  readonly endpoint_name: string | null
  /** Whether the event was sent to the endpoint, or will be. */
  readonly matched: boolean
  /** A sentence. */
  readonly reason: string
  /** The newest 20 attempts of the event at this endpoint, the oldest first, without headers and bodies. */
  readonly attempts: readonly Attempt[]
  /** When the open attempt is next due, unix milliseconds, pauses counted; null when none is open, and while the endpoint is paused. */
  readonly next_due_at: number | null
  /** The number of attempts. */
  readonly tries: number
}

/**
 * Events: what happened, and what is delivered. `workspace` is an id or a name. `data` is the parsed value. `Input` is what
 * may be published, `Row` what is read.
 */
export interface EventService<Input = EventInput, Row = CatalogueEvent> extends Listed<Row, EventListInput> {
  /** Reads one event. @throws PosthornError not_found, unknown_workspace */
  get(workspace: string, id: string): Promise<Row>
  /** The text of the event's `data`, byte for byte as received. @throws PosthornError not_found, unknown_workspace */
  raw(workspace: string, id: string): Promise<string>
  /**
   * Publishes an event. When its `unique_id` was seen before, nothing is stored or sent, and the answer is the stored
   * event. `created` says which of the two happened. `data` may be a `JsonText`, which is delivered byte for byte.
   * @throws PosthornError validation, unknown_workspace, unique_violation (a taken `id`), rate_limited, overloaded, unavailable
   * @example await posthorn.events.create('default', { event_type: 'invoice.paid', data: { id: 'in_1' } })
   */
  create(workspace: string, input: Input): Promise<Published<Row>>
  /**
   * Publishes up to 500 events together. Answers one entry for each, in order: `{ event, created }`, or `{ error }`, a
   * `PosthornError` as `create` would throw. An event that is refused refuses no other.
   * @throws PosthornError validation (no list, or more than 500), unknown_workspace, unavailable
   * @example const answers = await posthorn.events.createMany('default', [{ event_type: 'invoice.paid', data: { id: 'in_1' } }])
   */
  createMany(workspace: string, inputs: readonly Input[]): Promise<readonly PublishAnswer<Row>[]>
  /** Sends an event to an endpoint once more. @throws PosthornError not_found, validation, unknown_workspace */
  retry(workspace: string, id: string, endpointId: string): Promise<Attempt>
  /**
   * Tells for each endpoint of the workspace, in the order of ids, whether it got the event, and why.
   * @throws PosthornError not_found, validation, unknown_workspace
   */
  explain(workspace: string, id: string, options?: ExplainOptions): Promise<readonly Explanation[]>
  /**
   * Sends failed and canceled deliveries once more, the oldest event first, or with `missing` what an endpoint never got. Test
   * deliveries are never sent again. `dryRun` only counts. `next` of the report goes into `after` of the next call.
   * @throws PosthornError validation, unknown_workspace
   * @example await posthorn.events.replay('default', { endpoint_id: endpoint.id, created_at: { gte: Date.now() - 86_400_000 } })
   */
  replay(workspace: string, input: ReplayInput, options?: { dryRun?: boolean }): Promise<ReplayReport>
  /**
   * Erases an event with its attempts and all records of them. Open attempts are not sent. Unknown ids are fine.
   * @throws PosthornError unknown_workspace
   */
  delete(workspace: string, id: string): Promise<void>
  /**
   * Erases the events that the filter finds, in batches. A call that was broken off goes on when it is made again.
   * @throws PosthornError validation, unknown_workspace
   * @example await posthorn.events.erase('default', { unique_id: 'order-42' })
   */
  erase(workspace: string, input: EraseInput): Promise<EraseReport>
}
