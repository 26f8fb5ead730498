import type { Round } from './claim-round.ts'
import type { Database } from './database.ts'
import { arrayText } from '../sql/columns.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'

/**
 * A value that is not seen when the statement is planned. Where values promise less work than is usual, PostgreSQL plans a
 * prepared statement anew each time, which takes longer than the statement itself.
 */
export function unseen(value: string | number, type: 'bigint' | 'int' | 'text'): Sql {
  return sql`(select ${value}::${raw(type)})`
}

/** Whether a group may give something. Groups that may not are often many: they are looked up in a hash table. */
export function isOpen({ closed }: Round, group: Sql): Sql {
  return closed.length === 0 ? sql`true` : sql`${group} not in (select id from closed)`
}

/** The part of a `with` that `isOpen` reads, with the comma behind it. */
export function closedGroups({ closed }: Round): Sql {
  return closed.length === 0
    ? nothing
    : sql`closed as materialized (select unnest(${arrayText(closed)}::text::text[]) as id),`
}

/** Whether an attempt is open. */
export function isOpenAttempt({ t }: Database, id: Sql): Sql {
  return sql`(
    (select true from ${t.jobs} n where n.id = ${id} and n.workspace is not null) is true
    or (select true from ${t.open_attempts} n where n.id = ${id}) is true
  )`
}

/** An event of a test delivery has few attempts. */
const fewAttempts = raw('100')

/** Whether an event has an attempt to the endpoint, or is that of a test delivery. Each is looked up: as a join all attempts of the endpoint may be read. */
export function isTried({ t }: Database, event: Sql, endpoint: Sql): Sql {
  return sql`(
    (select true from ${t.attempts} b where b.event_id = ${event} and b.endpoint_id = ${endpoint} limit 1) is true
    or 'TEST' in (select b.trigger_mode from ${t.attempts} b where b.event_id = ${event} limit ${fewAttempts})
  )`
}
