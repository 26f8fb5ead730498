import type { ConfigPlan } from '../../src/contracts/storage/configuration.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
import { type Key, keysOf } from '../../src/core/unique-keys.ts'
import type { Database } from './database.ts'
import { all, raw, type Sql, sql } from '../sql/sql.ts'
import type { Judged } from './write-plan.ts'

/**
 * Judges the replacement of one row inside the statement that writes the row, which saves a read. The judgement has a
 * row only where nothing forbids the write: the row was last written at revision `from`, its unique keys are free or
 * held by the row itself, its owner exists, and the bound on patterns holds. `core/configuration-rules.ts` says why
 * anything else is refused.
 */
export function judgedInside(
  { t }: Database,
  plan: ConfigPlan,
  { kind, row, from }: { readonly kind: Kind; readonly row: Rows[Kind]; readonly from: number },
): Judged {
  const grown = 'events' in row ? sql`${row.events.length}::bigint - k.patterns` : raw('0::bigint')
  const max = plan.bounds?.patterns ?? Number.MAX_SAFE_INTEGER
  const conditions = [
    sql`w.id = ${plan.workspaceId}::text and k.id = ${row.id}::text and k.revision = ${from}::bigint`,
    sql`(${grown} <= 0 or w.pattern_count + ${grown} <= ${max}::bigint)`,
    ...keysOf(plan.workspaceId, kind, row).map((key) => isFree(t, kind, row.id, key)),
    ...('endpoint_id' in row ? [isThere(t.endpoints, row.endpoint_id), isThere(t.sources, row.source_id)] : []),
  ]
  return {
    judgement: sql`
      select w.revision, w.endpoint_count as endpoints, w.source_count as sources, w.plugin_count as plugins,
        w.pattern_count + ${grown} as patterns
      from ${t.workspaces} w join ${t[kind]} k on k.workspace = w.key
      where ${all(conditions)}`,
    known: (other) => (other === kind ? [row.id] : []),
  }
}

/** The condition that no other row holds a unique key. */
function isFree(t: Database['t'], kind: Kind, id: string, { name = '', path = '', method = '', ...owner }: Key): Sql {
  if (path !== '') {
    return sql`not exists (
      select from ${t.routes} r
      where r.path = sha256(convert_to(${path}::text, 'UTF8')) and r.method = ${method}::text and r.source_id <> ${id}::text
    )`
  }
  const { endpoint_id, source_id } = owner
  const around =
    endpoint_id !== undefined
      ? sql`o.endpoint_id = ${endpoint_id}::text`
      : source_id !== undefined
        ? sql`o.source_id = ${source_id}::text`
        : raw('o.workspace = w.key')
  return sql`not exists (
    select from ${t[kind]} o where ${around} and o.name = ${name}::text and o.id <> ${id}::text
  )`
}

/** The condition that the owner of a plugin is a row of the workspace. */
function isThere(owners: Sql, id: string | null): Sql {
  return id === null
    ? raw('true')
    : sql`exists (select from ${owners} o where o.workspace = w.key and o.id = ${id}::text)`
}
