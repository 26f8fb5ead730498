import type { IngestEntry } from '../../src/contracts/storage/events.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

// A host's open transaction that stored an event with a `unique_id`, or with an id that the publisher chose, holds that
// key until the transaction ends: PostgreSQL makes everybody wait who stores the same key. So such a transaction also
// holds a lock that others can try without waiting. Whoever finds the lock taken is answered `held`.

/** The most keys that a transaction locks: the server has room for some thousand locks, of all transactions together. */
const maxLocks = raw('16')
/**
 * For what holds a key without a lock, others wait so long: a transaction with more keys than that, a process of a version
 * that locks otherwise, and whoever writes in the moment between the look and the write.
 */
const waitMs = raw("'100ms'")

/** The keys of an entry that another open transaction may hold. An id of ours is nobody else's. */
export function contestedKeys({ workspaceId, event, token }: IngestEntry): string[] {
  return [
    ...(event.unique_id === null ? [] : [JSON.stringify([workspaceId, event.unique_id])]),
    ...(token === undefined ? [] : [JSON.stringify([event.id])]),
  ]
}

/** The parts of a `with` that divide `given` into entries that may be stored (`free`) and those that wait (`held`). */
export function contested({ bound, schema, t }: Database): Sql {
  // 64 bits: two keys that share a lock would wait for each other.
  const lock = sql`hashtextextended(${`posthorn.${schema}.contested.`}::text || k.key, 0)`
  const keys = sql`given g cross join lateral jsonb_array_elements_text(g.keys) k (key)`
  if (bound) {
    const locks = sql`coalesce(nullif(current_setting('posthorn.locks', true), ''), '0')::integer`
    return sql`
    locked as materialized (
      select count(pg_advisory_xact_lock_shared(l.lock)::text) as locks
      from (select ${lock} as lock from ${keys} limit greatest(${maxLocks} - ${locks}, 0)) l
    ),
    counted as materialized (select set_config('posthorn.locks', (${locks} + locks)::text, true) as done from locked),
    free as (select given.* from given, counted),
    held as (select id from given where false),`
  }
  // A unique_id that is taken for good is no matter of waiting.
  return sql`
    held as materialized (
      select distinct g.id from ${keys}
      where not exists (select from ${t.unique_ids} u where u.workspace = g.workspace and u.unique_id = g.unique_id)
        and not case when pg_try_advisory_lock(${lock}) then pg_advisory_unlock(${lock}) else false end
    ),
    bounded as materialized (select set_config('lock_timeout', ${waitMs}, true) as done),
    free as materialized (select given.* from given, bounded where given.id not in (select id from held)),`
}
