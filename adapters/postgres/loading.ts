import type { Delivery } from '../../src/contracts/storage/attempts.ts'
import { plannedOf } from './attempt-rows.ts'
import { isOpenAttempt } from './conditions.ts'
import type { Database } from './database.ts'
import { eventOf } from '../sql/rows.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import { number, type Row } from '../sql/values.ts'

/**
 * What deliver needs of the open attempt with this id: a query of one row (see `deliveryOf`), or of none. Each part is looked
 * up: as joins, PostgreSQL reads whole tables where it takes them to be small. `maxBytes`: longer data is answered as null.
 */
export function loading(db: Database, id: Sql, maxBytes: Sql | null = null): Sql {
  const { t } = db
  const data =
    maxBytes === null ? raw('e.data') : sql`case when octet_length(e.data) <= ${maxBytes} then e.data end as data`
  return sql`
    select w.id as workspace_id, w.revision, a.id, a.event_id, a.endpoint_id, a.attempt_number, a.trigger_mode,
      a.scheduled_at, a.created_at, e.event_type, ${data}, e.trace, e.ingested_at, e.unique_id,
      e.created_at as event_created_at, e.updated_at as event_updated_at
    from (select * from ${t.attempts} where id = ${id} limit 1) a
    cross join lateral (select id, revision from ${t.workspaces} where key = a.workspace limit 1) w
    cross join lateral (select * from ${t.events} where id = a.event_id limit 1) e
    where ${isOpenAttempt(db, raw('a.id'))}`
}

export function deliveryOf(row: Row): Delivery {
  return {
    workspaceId: row['workspace_id'] as string,
    revision: number(row['revision']),
    attempt: plannedOf(row),
    event: eventOf({
      ...row,
      id: row['event_id'],
      created_at: row['event_created_at'],
      updated_at: row['event_updated_at'],
    }),
    ...(typeof row['trace'] === 'string' && { trace: row['trace'] }),
  }
}
