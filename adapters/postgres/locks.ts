import type { ConfigPlan } from '../../src/contracts/storage/configuration.ts'
import { kinds } from '../../src/core/row-plan.ts'
import { routesOf } from '../../src/core/unique-keys.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

// A host's transaction may not meet a unique violation, for no statement can follow an error in a transaction. Within a
// workspace the workspace's row is the lock. Keys for which rows of different workspaces compete (ids, routes, handles)
// are locked until the end of the transaction by whoever writes them, and by a host's transaction before it looks
// whether they are free.

/** Keys share so many locks, for the server holds a bounded number of them. */
const slots = raw('1023')

type What = 'rows' | 'handles'

/** The keys of a plan that a row of another workspace may hold. */
export function lockKeysOf(plan: ConfigPlan): string[] {
  return [
    ...kinds.flatMap((kind) => plan[kind].put.map(({ id }) => `${kind} ${id}`)),
    ...plan.sources.put.flatMap(routesOf).map(({ method, path }) => `${method} ${path}`),
  ]
}

/** A query of one row that locks keys, always in the same order; `after` is what must exist first. */
export function lockQuery({ schema }: Database, what: What, keys: readonly string[], after?: Sql): Sql {
  const one = sql`pg_advisory_xact_lock(hashtext(${`posthorn.${schema}.${what}`}::text), s.slot)`
  return sql`
    select count(l.locked) as locked from (
      select ${one}::text as locked
      from (select distinct hashtext(key) & ${slots} as slot from unnest(${keys}::text[]) k (key) order by slot) s
      ${after === undefined ? raw('') : sql`where exists (select from ${after})`}
    ) l`
}

/**
 * Waits, inside a transaction of the host, for all who write these keys, and locks the keys until the transaction ends.
 */
export async function takeLocks(
  db: Database,
  what: What,
  keys: readonly string[],
  workspaceId?: string,
): Promise<void> {
  if (!db.bound || keys.length === 0) return
  const here = sql`select key from ${db.t.workspaces} where id = ${workspaceId ?? null}::text for no key update`
  await (workspaceId === undefined
    ? db.run(lockQuery(db, what, keys))
    : db.run(sql`with here as materialized (${here}) ${lockQuery(db, what, keys, raw('here'))}`))
}
