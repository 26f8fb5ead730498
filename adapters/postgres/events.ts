import type { Events, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { number } from '../sql/values.ts'
import { type Database } from './database.ts'
import { erase } from './erase.ts'
import { ingest } from './ingest.ts'
import { equals, pageOf, within } from '../sql/page.ts'
import { eventColumns, eventOf } from '../sql/rows.ts'
import { all, raw, type Sql, sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'

/** That an event is beyond a place in time. The index knows the time alone. */
function past({ created_at, id, inclusive }: NonNullable<TimelineQuery['from']>, descending: boolean): Sql {
  const end = inclusive ? '=' : ''
  return descending
    ? sql`e.created_at <= ${created_at}::bigint and (e.created_at < ${created_at}::bigint or e.id <${raw(end)} ${id}::text)`
    : sql`e.created_at >= ${created_at}::bigint and (e.created_at > ${created_at}::bigint or e.id >${raw(end)} ${id}::text)`
}

export function postgresEvents(db: Database, notify: Notify): Events {
  const { run, ask, t } = db
  return {
    ingest: (entries, options) => ingest(db, notify, entries, options),

    async get(workspaceId, id) {
      const [row] = await run(sql`
        select ${eventColumns} from ${t.events} e join ${t.workspaces} w on w.key = e.workspace
        where w.id = ${workspaceId}::text and e.id = ${id}::text`)
      return row === undefined ? null : eventOf(row)
    },

    async timeline(workspaceId, { ids, event_type, created_at, from, descending, limit }) {
      const direction = raw(descending ? 'desc' : 'asc')
      const rows = await ask(sql`
        select e.id, e.event_type, e.unique_id, e.created_at from ${t.events} e
        where e.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text)
          and ${all([
            ...(ids === undefined ? [] : [sql`e.id = any(${ids}::text[])`]),
            ...equals(raw('e.event_type'), event_type),
            ...within(raw('e.created_at'), created_at),
            ...(from === null ? [] : [past(from, descending)]),
          ])}
        order by e.created_at ${direction}, e.id ${direction} limit ${limit}::int`)
      return rows.map((row) => ({
        id: row['id'] as string,
        event_type: row['event_type'] as string,
        unique_id: row['unique_id'] as string | null,
        created_at: number(row['created_at']),
      }))
    },

    erase: (workspaceId, ids) => erase(db, workspaceId, ids),

    list(workspaceId, query) {
      const workspace = sql`(select key from ${t.workspaces} where id = ${workspaceId}::text)`
      return pageOf(
        db,
        {
          columns: eventColumns,
          from: sql`${t.events} e`,
          where: all([
            sql`e.workspace = ${workspace}`,
            ...(query.unique_id === undefined
              ? []
              : [
                  sql`e.id = (select u.event_id from ${t.unique_ids} u
                    where u.workspace = ${workspace} and u.unique_id = ${query.unique_id}::text)`,
                ]),
            ...equals(raw('e.event_type'), query.event_type),
            ...within(raw('e.created_at'), query.created_at),
            ...within(raw('e.ingested_at'), query.ingested_at),
          ]),
          id: raw('e.id'),
          size: raw('octet_length(e.data)'),
        },
        query,
        eventOf,
      )
    },
  }
}
