import { shareFactor } from '../../src/core/fair-share.ts'
import { type Choice, type Round, servedForMs, skewMs } from './claim-round.ts'
import { closedGroups, isOpen, unseen } from './conditions.ts'
import type { Database } from './database.ts'
import { called } from './claim-heads.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import { offered } from './waiting.ts'

const factor = raw(String(shareFactor))
/** More lines are never looked at. It is part of the text, so that the planner sees that these are few. */
const maxLines = raw('1000')

/** Chooses jobs in turns by workspace. */
export function inTurns(db: Database, round: Round): Choice {
  return {
    parts: sql`${closedGroups(round)}
    busy as materialized (
      select ${round.workspaces}::text::jsonb as workspaces
    ),
    ${lines(db, round)},
    ${called(
      db,
      round,
      sql`
      select g.id, l.workspace, g.next_at
      from line l cross join lateral unnest(l.ids, l.next_ats) g (id, next_at)`,
    )},
    ${offers(db, round)},
    ${shares(round)}`,
    // Rows are locked as they are asked for, so no more than what is taken.
    taken: sql`
      select s.workspace, s.group_id, s.head_at, s.head_id, s.turn, s.place, job.id, job.due_at, job.at
      from share s
      cross join lateral (
        select * from (
          ${offered(db, round, { group: raw('s.group_id'), dueFrom: raw('s.head_at'), idFrom: raw('s.head_id') }, { locked: true })}
        ) o
        limit s.jobs
      ) job`,
    order: raw('t.turn, t.workspace, t.place, t.due_at, t.id'),
    summary: sql`
      select coalesce((select sum(jobs) from share), 0) as planned, (select count(*) from workspace) as met,
        (select until from known) as until`,
  }
}

/** Lines that have groups for this caller: first those that use no slot, then the others, those with the fewest slots first. */
function lines({ t }: Database, round: Round): Sql {
  const { now, closed, groupsEach, workspaces } = round
  const limit = unseen(round.lines, 'int')
  const turn = raw('greatest(l.ready_at, l.served_at)')
  const open = sql`
    from ${t.groups} g
    where g.workspace = l.workspace and g.ready_at <= ${unseen(now, 'bigint')} and ${isOpen(round, raw('g.id'))}`
  // Where many groups are closed, many lines have no other: these are passed over with less work.
  const found = sql`
    select l.workspace, g.ids, g.next_ats from ${t.lines} l
    cross join lateral (
      select array_agg(id) as ids, array_agg(next_at) as next_ats
      from (select id, next_at ${open} order by g.ready_at limit ${unseen(groupsEach, 'int')}) g
    ) g
    where ${closed.length === 0 ? nothing : sql`(select true ${open} limit 1) and`} g.ids is not null`
  const isIdle = workspaces === '{}'
  return sql`
    unserved as materialized (
      select * from (
        ${found} and ${turn} <= ${unseen(now + skewMs, 'bigint')} and l.ready_at is not null
          ${isIdle ? nothing : sql`and not jsonb_exists((select workspaces from busy), l.workspace)`}
        order by ${turn} limit ${maxLines}
      ) l limit ${limit}
    ),
    line as materialized (
      select * from unserved
      ${
        isIdle
          ? nothing
          : sql`union all (
        ${found} and l.workspace = any(array(select jsonb_object_keys(workspaces) from busy))
          and (select count(*) from unserved) < ${limit}
        order by ((select workspaces from busy) ->> l.workspace)::bigint, ${turn} limit ${limit}
      )`
      }
    )`
}

/** The jobs that workspaces offer, each with its level. */
function offers(db: Database, round: Round): Sql {
  const { t } = db
  const { now, limit, free, groupsEach, jobsEach } = round
  const least = sql`
    least(${unseen(limit, 'bigint')}, greatest(case when u.used = 0 then 1 else 0 end,
      (${factor} * (${unseen(free, 'bigint')} + 1) - u.used) / (${factor} + 1)))`
  return sql`
    workspace as materialized (
      select w.workspace, w.groups, w.heads, w.head_ids, w.deep, u.used, ${least} as most,
        greatest(w.first_at, (
          select served_at from ${t.lines} l where l.workspace = w.workspace and l.served_at > ${unseen(now - servedForMs, 'bigint')}
        )) as turn
      from (
        select workspace, min(head_at) as first_at,
          array_agg(id order by head_at, head_id) filter (where head_at is not null) as groups,
          array_agg(head_at order by head_at, head_id) filter (where head_at is not null) as heads,
          array_agg(head_id order by head_at, head_id) filter (where head_at is not null) as head_ids,
          count(next_at) >= ${unseen(groupsEach, 'int')} as deep
        from head group by workspace having min(head_at) is not null
      ) w
      cross join lateral (select coalesce(((select workspaces from busy) ->> w.workspace)::bigint, 0) as used) u
    ),
    offer as materialized (
      select w.workspace, w.turn, w.most, w.deep, o.group_id, o.head_at, o.head_id, w.used + o.nth as level, o.nth
      from workspace w
      cross join lateral (
        select group_id, head_at, head_id, row_number() over () as nth from (
          select g.id as group_id, g.head_at, g.head_id
          from unnest(w.groups, w.heads, w.head_ids) g (id, head_at, head_id)
          cross join lateral (
            ${offered(db, round, { group: raw('g.id'), dueFrom: raw('g.head_at'), idFrom: raw('g.head_id') })}
          ) j
          limit least(w.most, ${unseen(jobsEach, 'bigint')})
        ) x
      ) o
    )`
}

/** How many jobs each group is to give. */
function shares({ limit, free, jobsEach }: Round): Sql {
  // Where a workspace has more jobs than were looked at, its next job may come before jobs that follow here.
  return sql`
    known as materialized (
      select min(last) as until from (
        select max(level) as last from offer group by workspace
        having max(nth) < max(most) and (max(nth) >= ${unseen(jobsEach, 'bigint')} or bool_or(deep))
      ) cut
    ),
    share as materialized (
      select workspace, group_id, head_at, head_id, max(turn) as turn, min(place) as place, count(*) as jobs
      from (
        select workspace, group_id, head_at, head_id, turn, level, row_number() over (order by level, turn, workspace) as place from offer
      ) o
      where place <= ${unseen(limit, 'int')} and level <= greatest(1, ${factor} * (${unseen(free, 'bigint')} - place + 1))
        and level <= coalesce((select until from known), level)
      group by workspace, group_id, head_at, head_id
    )`
}
