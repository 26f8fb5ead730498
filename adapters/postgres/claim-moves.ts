import type { Round } from './claim-round.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import { nextWaiting } from './waiting.ts'

/** The most hints that a claim works in; the next claim goes on. */
const maxHints = raw('10000')

/**
 * Parts of a claim that read hints (`hint`) and take away those that nobody else takes (`worked_in`). Arrays, since the
 * planner takes them to be short however large the table has been.
 */
export function hintsRead({ t }: Database): Sql {
  return sql`
    hint as materialized (
      select array_agg(group_id) as groups, array_agg(workspace) as workspaces, array_agg(due_at) as times
      from (select group_id, workspace, due_at from ${t.hints} limit ${maxHints}) h
    ),
    worked_in as (
      delete from ${t.hints} where ctid = any(array(select ctid from ${t.hints} limit ${maxHints} for update skip locked))
      returning group_id, workspace, due_at
    )`
}

/**
 * Parts of a claim that write what the claim knows of groups and lines: for those it took jobs from, and for those that
 * turned out to be ready later than their rows say.
 */
export function moved(db: Database, round: Round): Sql {
  const { t } = db
  const { now } = round
  return sql`
    rest as materialized (
      select d.id, coalesce(d.workspace, g.workspace, '') as workspace, d.worked_in, d.served,
        g.version, g.next_at as before, oldest.due_at as next_at,
        case when oldest.due_at is not null then greatest(oldest.due_at, g.paused_until) end as ready_at
      from (
        select id, max(workspace) as workspace, bool_or(worked_in) as worked_in, min(from_at) as from_at,
          bool_or(served) as served, max(head_id) as head_id
        from (
          select id, workspace, false as worked_in, false as served, coalesce(head_at, from_at) as from_at, null as head_id from head
          where next_at is not null and head_at is distinct from next_at
          union all select group_id, max(workspace), false, true, min(head_at), min(head_id) from taken group by group_id
          union all select group_id, workspace, true, false, due_at, null from worked_in
        ) named group by id
      ) d
      left join lateral (select workspace, version, next_at, paused_until from ${t.groups} where id = d.id limit 1) g on true
      cross join lateral (${nextWaiting(
        db,
        round,
        {
          group: raw('d.id'),
          dueFrom: raw('least(d.from_at, g.next_at)'),
          idFrom: raw("case when d.worked_in or g.next_at < d.from_at then '' else coalesce(d.head_id, '') end"),
        },
        raw('select id from taken'),
      )}) oldest
    ),
    advancing as materialized (
      select d.workspace, least(d.ready_at, other.ready_at) as ready_at, case when d.served then ${now}::bigint end as served_at,
        coalesce(seen.version, 0) + 1 as version
      from (
        select workspace, min(ready_at) as ready_at, bool_or(served) as served from rest group by workspace
      ) d
      left join lateral (select version from ${t.lines} where workspace = d.workspace limit 1) seen on true
      left join lateral (
        select g.ready_at from ${t.groups} g
        where g.workspace = d.workspace and g.ready_at is not null and g.id not in (select id from rest)
        order by g.ready_at limit 1
      ) other on true
    ),
    moved as (
      insert into ${t.groups} as g (id, workspace, next_at, version)
      select id, workspace, next_at, coalesce(version, 0) + 1 from rest
      where (worked_in or before is distinct from next_at)
        -- All is looked up before anything is written: a table that PostgreSQL takes to be empty is read whole for each row.
        and (select count(*) from advancing) >= 0
      order by id
      on conflict (id) do update set workspace = excluded.workspace, version = g.version + 1,
        next_at = ${moving(raw('g'), raw('next_at'))}
      returning 1
    ),
    advanced as (
      insert into ${t.lines} as l (workspace, ready_at, served_at, version)
      select workspace, ready_at, served_at, version from advancing
      where (select count(*) from moved) >= 0 -- groups first
      order by workspace
      on conflict (workspace) do update set
        ready_at = ${moving(raw('l'), raw('ready_at'))},
        served_at = greatest(l.served_at, excluded.served_at), version = l.version + 1
    )`
}

/** What a time of a row becomes: it moves forward only where the statement saw the latest version of the row. */
export function moving(row: Sql, time: Sql): Sql {
  return sql`
    case when ${row}.version + 1 = excluded.version then excluded.${time} else least(${row}.${time}, excluded.${time}) end`
}
