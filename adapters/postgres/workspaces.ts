import type { Stored, Workspaces } from '../../src/contracts/storage/configuration.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import { json, number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { isRace } from './errors.ts'
import { named, pageOf } from '../sql/page.ts'
import { lockQuery, takeLocks } from './locks.ts'
import { workspaceOf } from '../sql/rows.ts'
import { all, raw, type Sql, sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'

export function postgresWorkspaces(db: Database, notify: Notify): Workspaces {
  const { ask, run, t } = db
  const next = sql`nextval('${t.revision_numbers}')`

  const one = async (statement: Sql): Promise<Stored<Workspace> | null> => {
    const [row] = await run(statement)
    return row === undefined ? null : { row: workspaceOf(row), revision: number(row['written']) }
  }
  /** The workspaces that have one of the handles, by handle. */
  const holders = async (handles: readonly string[]): Promise<ReadonlyMap<unknown, unknown>> => {
    const rows = await run(sql`
      select h.handle, w.id from ${t.handles} h join ${t.workspaces} w on w.key = h.workspace
      where h.handle = any(${handles}::text[])`)
    return new Map(rows.map((row) => [row['handle'], row['id']]))
  }

  return {
    async insert(row) {
      const handles = [row.id, ...(row.name === null ? [] : [row.name])]
      await takeLocks(db, 'handles', handles)
      for (;;) {
        const taken = await holders(handles)
        if (taken.has(row.id)) return { kind: 'unique', key: { id: row.id } }
        if (row.name !== null && taken.has(row.name)) return { kind: 'unique', key: { name: row.name } }
        try {
          await ask(sql`
            with locked as materialized (${lockQuery(db, 'handles', handles)}),
            number as materialized (select ${next} as number from locked),
            made as (
              insert into ${t.workspaces} (id, name, metadata, created_at, document, revision, written)
              select ${row.id}::text, ${row.name}::text, ${json(row.metadata)}::text::jsonb, ${row.created_at}::bigint,
                ${json(row)}::text, number, number
              from number
              returning key
            )
            insert into ${t.handles} (handle, workspace)
            select handle, key from made, (select ${row.id}::text union select ${row.name}::text) h (handle)
            where handle is not null`)
          return 'written'
        } catch (error) {
          if (db.bound || !isRace(error)) throw error
        }
      }
    },

    get: (id) => one(sql`select * from ${t.workspaces} where id = ${id}::text`),

    find: (idOrName) =>
      one(sql`
        select w.* from ${t.handles} h join ${t.workspaces} w on w.key = h.workspace where h.handle = ${idOrName}::text`),

    list: (query) =>
      pageOf(
        db,
        {
          columns: raw('id, document'),
          from: t.workspaces,
          where: all(named(query)),
          id: raw('id'),
          size: raw('octet_length(document)'),
        },
        query,
        workspaceOf,
      ),

    async update(row, from) {
      const handles = row.name === null ? [] : [row.name]
      await takeLocks(db, 'handles', handles)
      for (;;) {
        const stored = await one(sql`select * from ${t.workspaces} where id = ${row.id}::text`)
        if (stored === null) return 'missing'
        if (stored.revision !== from) return 'conflict'
        if (row.name !== null && ((await holders(handles)).get(row.name) ?? row.id) !== row.id) {
          return { kind: 'unique', key: { name: row.name } }
        }
        try {
          const [changed] = await ask(sql`
            with locked as materialized (${lockQuery(db, 'handles', handles)}),
            number as materialized (select ${next} as number from locked),
            -- The number may be older than a revision that was written while this waited for the row; the revision may not.
            changed as (
              update ${t.workspaces} w set name = ${row.name}::text, metadata = ${json(row.metadata)}::text::jsonb,
                created_at = ${row.created_at}::bigint, document = ${json(row)}::text, revision = ${next}, written = number
              from number where w.id = ${row.id}::text and w.written = ${from}::bigint
              returning w.key, w.id
            ),
            dropped as (
              delete from ${t.handles} h using changed
              where h.workspace = changed.key and h.handle <> changed.id and h.handle is distinct from ${row.name}::text
            ),
            taken as (
              insert into ${t.handles} (handle, workspace)
              select ${row.name}::text, key from changed
              where ${row.name}::text is not null
                and not exists (select from ${t.handles} h where h.handle = ${row.name}::text and h.workspace = key)
            )
            select key from changed`)
          if (changed === undefined) continue
          await notify({ workspaceId: row.id })
          return 'written'
        } catch (error) {
          if (db.bound || !isRace(error)) throw error
        }
      }
    },

    async delete(id) {
      const [gone] = await run(sql`
        with gone as (delete from ${t.workspaces} where id = ${id}::text returning key),
        dug as (insert into ${t.graves} (workspace, dug_by) select key, pg_current_xact_id() from gone)
        select key from gone`)
      if (gone === undefined) return false
      await notify({ workspaceId: id }, 'routes')
      return true
    },
  }
}
