import type {
  AttemptQuery,
  EventQuery,
  ListQuery,
  PluginQuery,
  StoredAttempt,
  TimeRange,
} from '../../src/contracts/storage.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { StoredEvent } from '../../src/schema/event.ts'

interface ConfigurationRow {
  readonly name: string | null
  readonly created_at: number
  readonly metadata: Readonly<Record<string, string>>
  readonly enabled?: boolean
}

/** Whether a row of configuration, or a workspace, is one that the query asks for. */
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

export function isAttemptListed(attempt: StoredAttempt, query: AttemptQuery): boolean {
  return (
    (query.event_id === undefined || attempt.event_id === query.event_id) &&
    (query.endpoint_id === undefined || attempt.endpoint_id === query.endpoint_id) &&
    (query.status === undefined || attempt.status === query.status) &&
    inRange(attempt.created_at, query.created_at) &&
    inRange(attempt.attempted_at, query.attempted_at) &&
    inRange(attempt.scheduled_at, query.scheduled_at)
  )
}

/** Whether a time lies in the range; a missing range holds all, and null lies in none. */
export function inRange(time: number | null, range: TimeRange | undefined): boolean {
  if (range === undefined) return true
  if (time === null) return false
  return (
    (range.eq === undefined || time === range.eq) &&
    (range.gt === undefined || time > range.gt) &&
    (range.gte === undefined || time >= range.gte) &&
    (range.lt === undefined || time < range.lt) &&
    (range.lte === undefined || time <= range.lte)
  )
}
