import type { Events } from '../../src/contracts/storage/events.ts'
import { type Database } from './database.ts'
import { erase } from './erase.ts'
import { ingest } from './ingest.ts'
import { equals, pageOf, within } from '../sql/page.ts'
import { eventColumns, eventOf } from '../sql/rows.ts'
import { all, raw, sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'
import { timeline } from './timeline.ts'

export function postgresEvents(db: Database, notify: Notify): Events {
  const { run, t } = db
  return {
    ingest: (entries, options) => ingest(db, notify, entries, options),

    async get(workspaceId, id) {
      const [row] = await run(sql`
        select ${eventColumns} from ${t.events} e join ${t.workspaces} w on w.key = e.workspace
        where w.id = ${workspaceId}::text and e.id = ${id}::text`)
      return row === undefined ? null : eventOf(row)
    },

    timeline: (workspaceId, query) => timeline(db, workspaceId, query),

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
