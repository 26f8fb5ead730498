import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { pastRaces } from './ask-again.ts'
import { type Sql, sql } from '../sql/sql.ts'

/** Removes events with their attempts, and answers how many went. */
export async function erase(db: Database, workspaceId: string, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const [row] = await pastRaces(db, () => db.run(erasing(db, workspaceId, ids)))
  return number(row!['erased']) // a count is one row
}

/** Open attempts are locked before their events, as a settlement locks them. */
function erasing({ t }: Database, workspaceId: string, ids: readonly string[]): Sql {
  return sql`
    with named as materialized (
      select e.id from ${t.events} e join ${t.workspaces} w on w.key = e.workspace
      where w.id = ${workspaceId}::text and e.id = any(${ids}::text[])
    ),
    tries as materialized (select a.id from ${t.attempts} a where a.event_id = any(array(select id from named))),
    apart as materialized (
      select o.id from ${t.open_attempts} o where o.id = any(array(select id from tries)) order by o.id for update
    ),
    jobs as materialized (
      select j.id from ${t.jobs} j where j.id = any(array(select id from tries)) order by j.id for update
    ),
    doomed as materialized (
      select e.id from ${t.events} e
      where e.id = any(array(select id from named)) and (select count(*) from apart) + (select count(*) from jobs) >= 0
      order by e.id for update
    ),
    canceled as (delete from ${t.open_attempts} where id = any(array(select id from apart))),
    unqueued as (delete from ${t.jobs} where id = any(array(select id from jobs))),
    unsaid as (delete from ${t.outcomes} where attempt_id = any(array(select id from tries))),
    untried as (delete from ${t.attempts} where id = any(array(select id from tries))),
    forgotten as (delete from ${t.revisited} where event_id = any(array(select id from doomed))),
    erased as (
      delete from ${t.events} where id = any(array(select id from doomed)) returning id, workspace, unique_id
    ),
    freed as (
      delete from ${t.unique_ids} u using erased g
      where u.workspace = g.workspace and u.unique_id = g.unique_id and u.event_id = g.id
    )
    select count(*) as erased from erased`
}
