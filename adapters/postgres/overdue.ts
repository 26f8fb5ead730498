import type { Attempts } from '../../src/contracts/storage/attempts.ts'
import { lowRank } from '../../src/core/job-rank.ts'
import type { Database } from './database.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import { dueAt } from './waiting.ts'

/** A page of open attempts that are overdue, in the order of their due times. */
export function overdue(
  { t }: Database,
  { before, after, limit, unqueued = false }: Parameters<Attempts['overdue']>[0],
): Sql {
  const [at, id] = after ?? [Number.MIN_SAFE_INTEGER, '']
  const apart = sql`(
    select id, workspace, endpoint_id, scheduled_at from ${t.open_attempts}
    where scheduled_at < ${before}::bigint and (scheduled_at, id) > (${at}::bigint, ${id}::text)
    order by scheduled_at, id limit ${limit}::int
  )`
  // Jobs are in order by group and place. A job of low priority has a place of its own.
  const ofGroup = (place: number): Sql => sql`(
    select j.id, j.workspace, j.group_id, ${dueAt(raw('j.due_at'))}
    from ${t.jobs} j
    where j.group_id = g.id and j.workspace is not null and j.due_at < ${Math.min(before, lowRank) + place}::bigint
      and (j.due_at, j.id) > (${(place === 0 ? at : Math.max(at, 0)) + place}::bigint, ${id}::text)
    order by j.due_at, j.id limit ${limit}::int
  )`
  const jobs = sql`
    union all
    select o.* from (
      with recursive g (id) as (
        select min(group_id) from ${t.jobs}
        union all
        select (select min(group_id) from ${t.jobs} where group_id > g.id) from g where g.id is not null
      )
      select id from g where id is not null
    ) g
    cross join lateral (${ofGroup(0)} union all ${ofGroup(lowRank)}) o`
  return sql`
    select o.id, w.id as workspace_id, o.endpoint_id, o.scheduled_at
    from (${apart} ${unqueued ? nothing : jobs}) o join ${t.workspaces} w on w.key = o.workspace
    order by o.scheduled_at, o.id limit ${limit}::int`
}
