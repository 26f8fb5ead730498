import { type IdBounds, idBounds } from '../../src/core/id-bounds.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import type { Database } from './database.ts'

/** Whether a workspace has an attempt whose id tells nothing of its time: then `idBounds` would leave it out. */
export async function hasAstray({ run, t }: Database, workspaceId: string): Promise<boolean> {
  const astray = await run(sql`
    select 1 from ${t.attempts} a
    where a.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text) and a.astray limit 1`)
  return astray.length > 0
}

/** The conditions of bounds on columns of ids. */
export function idsWithin(columns: readonly Sql[], { from, to }: IdBounds): readonly Sql[] {
  return columns.flatMap((column) => [
    ...(from === null ? [] : [sql`${column} >= ${from}::text`]),
    ...(to === null ? [] : [sql`${column} < ${to}::text`]),
  ])
}

/** The conditions that time ranges set to the ids of attempts. */
export function idsOfTimes(...ranges: readonly Parameters<typeof idBounds>[0]['created_at'][]): readonly Sql[] {
  return ranges.flatMap((created_at) =>
    created_at === undefined ? [] : idsWithin([raw('a.id')], idBounds({ created_at })),
  )
}
