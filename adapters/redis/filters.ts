import type { AttemptQuery, NewAttempt } from '../../src/contracts/storage/attempts.ts'
import type { AttemptSought, EventQuery } from '../../src/contracts/storage/events.ts'
import type { ListQuery, TimeRange } from '../../src/contracts/storage/list.ts'
import type { PluginQuery } from '../../src/contracts/storage/configuration.ts'
import { inRange } from '../../src/core/time-range.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { StoredEvent } from '../../src/schema/event.ts'

interface ConfigurationRow {
  readonly name: string | null
  readonly created_at: number
  readonly metadata: Readonly<Record<string, string>>
  readonly enabled?: boolean
}

/** Whether the query asks for a row of configuration, or for a workspace. */
export function isRowListed(row: ConfigurationRow | Plugin, query: ListQuery & PluginQuery): boolean {
  return (
    (query.name === undefined || row.name === query.name) &&
    inRange(row.created_at, query.created_at) &&
    Object.entries(query.metadata ?? {}).every(
      ([key, value]) => Object.hasOwn(row.metadata, key) && row.metadata[key] === value,
    ) &&
    (query.enabled === undefined || row.enabled === query.enabled) &&
    (query.endpoint_id === undefined || ('endpoint_id' in row && row.endpoint_id === query.endpoint_id)) &&
    (query.source_id === undefined || ('source_id' in row && row.source_id === query.source_id))
  )
}

export function isEventListed(event: Omit<StoredEvent, 'data'>, query: EventQuery): boolean {
  return (
    (query.event_type === undefined || event.event_type === query.event_type) &&
    (query.unique_id === undefined || event.unique_id === query.unique_id) &&
    inRange(event.created_at, query.created_at) &&
    inRange(event.ingested_at, query.ingested_at)
  )
}

/** Whether an attempt falls due when the query asks. */
export function isDueWithin(
  { trigger_mode, scheduled_at }: NewAttempt,
  query: Pick<AttemptQuery, 'scheduled_at' | 'scheduled_at_by_hand'>,
): boolean {
  const byHand = trigger_mode === 'MANUAL' ? query.scheduled_at_by_hand : undefined
  return byHand !== null && inRange(scheduled_at, byHand ?? query.scheduled_at)
}

/**
 * What Redis asks of a field of a row: that it is this text, has this text in it, does not exist, or is a number on this
 * side of a bound.
 */
export type Condition = readonly [
  field: string,
  test: 'is' | 'has' | 'lacks' | 'gt' | 'gte' | 'lt' | 'lte',
  bound: string | number,
]

/**
 * These stand for fields of an attempt: type, time and row of the attempt's event; and as "yes" or "no": whether the attempt is
 * final, whether no later try of the same event and endpoint ended, and whether a try of them failed.
 */
export const eventType = 'event.type'
export const eventCreated = 'event.created'
export const eventRow = 'event.row'
export const finality = 'final'
export const isLast = 'last'
export const failedBefore = 'failed before'

/** The conditions that Redis can ask of an attempt, by the fields of its hash. */
export function attemptConditions(
  query: Pick<
    AttemptQuery,
    | 'event_id'
    | 'endpoint_id'
    | 'status'
    | 'created_at'
    | 'scheduled_at'
    | 'scheduled_at_by_hand'
    | 'event_type'
    | 'final'
    | 'trigger_mode'
    | 'error_code'
    | 'response_status'
  > & { readonly event_created_at?: TimeRange },
): readonly Condition[] {
  return [
    ...whereIs('event', query.event_id),
    ...whereIs('endpoint', query.endpoint_id),
    ...whereIs('status', query.status),
    ...whereIn('created', query.created_at),
    // Redis does not look into what an attempt was made by.
    ...(query.scheduled_at_by_hand === undefined ? whereIn('due', query.scheduled_at) : []),
    ...whereIs(finality, query.final === undefined ? undefined : query.final ? 'yes' : 'no'),
    // Inside a text of JSON no quote stands without a backslash, so these stand only where they are meant.
    ...whereHas('planned', query.trigger_mode && `"trigger_mode":"${query.trigger_mode}",`),
    ...whereHas('ended', query.error_code && `,"error_code":"${query.error_code}",`),
    ...whereHas('ended', query.response_status && `,"response":{"status":${query.response_status},`),
    ...whereIs(eventType, query.event_type),
    ...whereIn(eventCreated, query.event_created_at),
  ]
}

/** The conditions that Redis asks of an attempt that is sought. TEST attempts may meet them too. */
export function soughtConditions({
  endpoint_id,
  status,
  exhausted,
  retried,
  response_status,
}: AttemptSought): readonly Condition[] {
  return [
    ...attemptConditions({
      ...(endpoint_id !== undefined && { endpoint_id }),
      ...(status !== undefined && { status }),
      ...(response_status !== undefined && { response_status }),
    }),
    ...whereHas('ended', exhausted && ',"exhausted":true,'),
    ...whereIs(isLast, status === undefined || status === 'OPEN' ? undefined : 'yes'),
    ...whereIs(failedBefore, retried === undefined ? undefined : retried ? 'yes' : 'no'),
  ]
}

/** That a field is this text, if a text is given. */
export function whereIs(field: string, text: string | undefined): readonly Condition[] {
  return text === undefined ? [] : [[field, 'is', text]]
}

function whereHas(field: string, text: string | number | undefined): readonly Condition[] {
  return text === undefined ? [] : [[field, 'has', text]]
}

/** That a time lies in the range, if a range is given. */
export function whereIn(field: string, range: TimeRange = {}): readonly Condition[] {
  const { eq, ...bounds } = range
  const sides = (['gt', 'gte', 'lt', 'lte'] as const).flatMap((test): Condition[] =>
    bounds[test] === undefined ? [] : [[field, test, bounds[test]]],
  )
  return eq === undefined ? sides : [[field, 'is', String(eq)], ...sides]
}
