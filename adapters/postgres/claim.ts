import type { Claim, ClaimOptions } from '../../src/contracts/queue.ts'
import { shareFactor } from '../../src/core/share.ts'
import type { Row } from './clients.ts'
import { type Database, json, number } from './database.ts'
import { raw, type Sql, sql } from './sql.ts'

// How a claim finds its jobs, and why it costs by what it takes: docs/decisions/queue-tables.md. What makes it safe:
//
// - `next_at` of a group is never later than the due time of its oldest waiting job, or a hint of the group says it.
//   Adding jobs writes hints and touches no group: the host's open transaction then holds nothing others wait for.
// - `ready_at` of a line is never later than that of any group of the workspace, in the same way.
// - A claim works the hints it sees into groups and lines. It moves a group or a line forward only if it saw the latest
//   version of the row: otherwise another claim worked in a hint whose job this one does not see.
// - Groups are written before lines, both in the order of keys: two claims never lock each other out.
// - A lapsed hold is found by its lease, and its group is then a candidate like a group with a due job.
//
// Here and elsewhere `id = any(array(select ...))` stands where a join would do: the planner then reads by index, whatever
// size it took the tables for when it made the plan.

/** The most hints that one claim works in; the next one goes on. */
const maxHints = raw('10000')
/** The most jobs and groups of all workspaces together that one statement looks at, unless more are asked for. */
const fewestLooks = 512
/** Lines and groups that are looked at beyond the limit, since some turn out to have nothing, or something later. */
const spare = 32
/** A claim asks again this often at most where its first look did not reach far enough. */
const maxRounds = 4
/** Clocks of processes may differ by so much: a workspace that was just served in the future is still in line. */
const skewMs = 1000
const servedForMs = 3_600_000

/** Takes due jobs: see `Queue.claim`. */
export async function claim(db: Database, options: ClaimOptions): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  const workspaces = new Map(options.busy.workspaces)
  const groups = new Map(options.busy.groups)
  for (let round = 1; claims.length < options.limit && round <= maxRounds; round++) {
    const limit = options.limit - claims.length
    const free = options.free - claims.length
    const rows = await db.run(statement(db, { ...options, limit, free, busy: { workspaces, groups } }))
    const taken = rows.filter((row) => row['id'] !== null).map(claimOf)
    claims.push(...inTurns(taken, workspaces))
    if (rows[0]?.['more'] !== true) break
    for (const { workspace, group } of taken) {
      workspaces.set(workspace, (workspaces.get(workspace) ?? 0) + 1)
      groups.set(group, (groups.get(group) ?? 0) + 1)
    }
  }
  return claims
}

/** Claims that come workspace by workspace, in the order of turns, by their level. */
function inTurns(claims: readonly Claim[], used: ReadonlyMap<string, number>): readonly Claim[] {
  const levels = new Map<string, number>()
  const levelled = claims.map((each) => {
    const level = (levels.get(each.workspace) ?? used.get(each.workspace) ?? 0) + 1
    levels.set(each.workspace, level)
    return { each, level }
  })
  return levels.size < 2 ? claims : levelled.toSorted((a, b) => a.level - b.level).map(({ each }) => each)
}

function statement({ t }: Database, { limit, free, cap, busy, leaveOut, leaseMs, now }: ClaimOptions): Sql {
  // Most of the busy groups have no room, and are there with each claim until they have: they are told apart by hashing.
  const closed = [...leaveOut]
  const partly: [string, number][] = []
  for (const [group, slots] of busy.groups) {
    if (slots < cap) partly.push([group, slots])
    else if (!leaveOut.has(group)) closed.push(group)
  }
  const open = (group: Sql): Sql => sql`${group} not in (select id from closed)`
  // A few are not worth the hashing.
  const openOfFew = (group: Sql): Sql => sql`
    case when (select few from hints_read) then ${group} <> all((select ids from all_closed)::text[]) else ${open(group)} end`
  const waiting = (group: Sql): Sql => sql`
    j.group_id = ${group} and j.due_at <= ${now}::bigint and j.held_until <= ${now}::bigint`
  const paused = (group: Sql): Sql => sql`
    coalesce((select paused_until from ${t.groups} p where p.id = ${group}), 0) > ${now}::bigint`
  const workspaceOf = (group: Sql): Sql => sql`coalesce(
    (select workspace from ${t.groups} where id = ${group}),
    (select w.id from ${t.endpoints} e join ${t.workspaces} w on w.key = e.workspace where e.id = ${group}), '')`
  return sql`
    with all_closed as materialized (select ${arrayText(closed)}::text::text[] as ids),
    closed as materialized (select unnest(ids) as id from all_closed),
    busy as materialized (
      select ${json(Object.fromEntries(partly))}::text::jsonb as groups,
        ${json(Object.fromEntries(busy.workspaces))}::text::jsonb as workspaces
    ),
    hint as materialized (select group_id, due_at, workspace from ${t.hints} limit ${maxHints}),
    hints_read as materialized (select count(*) < 32 as few from hint),
    locked as materialized (select ctid as place from ${t.hints} limit ${maxHints} for update skip locked),
    worked_in as (
      delete from ${t.hints} h using locked where h.ctid = locked.place returning h.group_id, h.workspace
    ),

    -- Lines in their turns, first those that use no slot; how many there may be says how far to look into each.
    turn as materialized (
      select count(*) as lines from (
        select from ${t.lines} where greatest(ready_at, served_at) <= ${now + skewMs}::bigint and ready_at is not null
        limit ${limit + spare}::int
      ) l
    ),
    look as materialized (
      select greatest(4, ${Math.max(fewestLooks, 4 * limit)}::int / greatest(lines, 1)) as jobs,
        least(${limit + spare}::int, greatest(4, ${Math.max(fewestLooks, 4 * limit)}::int / greatest(lines, 1))) as groups
      from turn
    ),
    line as materialized (
      select l.workspace, g.ids, g.next_ats
      from (
        (
          select workspace from ${t.lines}
          where greatest(ready_at, served_at) <= ${now + skewMs}::bigint and ready_at <= ${now}::bigint
            and (select workspaces from busy) ->> workspace is null
          order by greatest(ready_at, served_at)
        )
        union all
        (
          select workspace from ${t.lines}
          where workspace = any(array(select jsonb_object_keys(workspaces) from busy)) and ready_at <= ${now}::bigint
          order by ((select workspaces from busy) ->> workspace)::bigint, greatest(ready_at, served_at)
        )
      ) l
      cross join lateral (
        select array_agg(id) as ids, array_agg(next_at) as next_ats from (
          select id, next_at from ${t.groups}
          where workspace = l.workspace and ready_at <= ${now}::bigint and ${open(sql`id`)}
          order by ready_at limit (select groups from look)
        ) x
      ) g
      where g.ids is not null or not exists (
        select from ${t.groups} where workspace = l.workspace and ready_at <= ${now}::bigint
      )
      limit ${limit + spare}::int
    ),
    -- Groups that may have a due job, and the oldest one of each.
    candidate as (
      select id, max(workspace) as workspace, bool_or(known) as known, min(next_at) as next_at, bool_or(deep) as deep
      from (
        select g.id, l.workspace, true as known, g.next_at, cardinality(l.ids) >= (select groups from look) as deep
        from line l cross join lateral unnest(l.ids, l.next_ats) g (id, next_at)
        union all
        select group_id, coalesce(workspace, ${workspaceOf(sql`group_id`)}), false, null, false from hint
        where due_at <= ${now}::bigint and ${openOfFew(sql`group_id`)} and not ${paused(sql`group_id`)}
        union all
        select group_id, ${workspaceOf(sql`group_id`)}, false, null, false
        from (select distinct group_id from ${t.jobs} where held_until > 0 and held_until <= ${now}::bigint) lapsed
        where ${open(sql`group_id`)} and not ${paused(sql`group_id`)}
      ) named group by id
    ),
    head as materialized (
      select c.*, oldest.due_at as head_at, oldest.id as head_id
      from candidate c
      left join lateral (
        select j.due_at, j.id from ${t.jobs} j where ${waiting(sql`c.id`)} order by j.due_at, j.id limit 1
      ) oldest on true
    ),
    -- What each workspace may get, and its groups by their oldest due job.
    workspace as materialized (
      select w.workspace, w.groups, w.deep, u.used,
        greatest(w.first_at, (select served_at from ${t.lines} l where l.workspace = w.workspace and served_at > ${now - servedForMs}::bigint)) as turn,
        least(${limit}::bigint, greatest(case when u.used = 0 then 1 else 0 end,
          (${shareFactor}::int * (${free}::bigint + 1) - u.used) / ${shareFactor + 1}::int)) as most
      from (
        select workspace, min(head_at) as first_at, array_agg(id order by head_at, head_id) as groups, bool_or(deep) as deep
        from head where head_at is not null group by workspace
      ) w
      cross join lateral (select coalesce(((select workspaces from busy) ->> w.workspace)::bigint, 0) as used) u
    ),
    offer as materialized (
      select w.workspace, w.turn, w.used, w.most, w.deep, o.group_id, w.used + o.nth as level, o.nth
      from workspace w
      cross join lateral (
        select group_id, row_number() over () as nth from (
          select g.id as group_id
          from unnest(w.groups) g (id)
          cross join lateral (
            select from ${t.jobs} j where ${waiting(sql`g.id`)} order by j.due_at, j.id
            limit ${cap}::bigint - coalesce(((select groups from busy) ->> g.id)::bigint, 0)
          ) j
          limit least(w.most, (select jobs from look))
        ) x
      ) o
    ),
    -- Where a workspace has more than was looked at, its next job may come before those that follow.
    known as materialized (
      select min(last) as until from (
        select max(level) as last from offer group by workspace
        having max(nth) < max(most) and (max(nth) >= (select jobs from look) or bool_or(deep))
      ) cut
    ),
    share as materialized (
      select workspace, group_id, max(turn) as turn, min(place) as place, count(*) as jobs
      from (select *, row_number() over (order by level, turn, workspace) as place from offer) o
      where place <= ${limit}::int and level <= greatest(1, ${shareFactor}::int * (${free}::bigint - place + 1))
        and level <= coalesce((select until from known), level)
      group by workspace, group_id
    ),
    -- Rows are locked as they are asked for, so no more than what is taken.
    taken as materialized (
      select s.workspace, s.group_id, s.turn, s.place, job.id, job.due_at
      from share s
      cross join lateral (
        select j.id, j.due_at from ${t.jobs} j where ${waiting(sql`s.group_id`)} order by j.due_at, j.id
        limit s.jobs for update skip locked
      ) job
    ),
    token as materialized (select gen_random_uuid()::text as token),
    claimed as (
      update ${t.jobs} j set held_until = ${now + leaseMs}::bigint, token = token.token
      from token where j.id = any(array(select id from taken))
    ),
    -- What waits in the groups of which this claim knows more than the rows say.
    rest as materialized (
      select d.id, coalesce(d.workspace, g.workspace, ${workspaceOf(sql`d.id`)}) as workspace, d.worked_in,
        d.taken is not null as served, g.version, g.next_at as before, oldest.due_at as next_at,
        case when oldest.due_at is not null then greatest(oldest.due_at, g.paused_until) end as ready_at
      from (
        select id, max(workspace) as workspace, bool_or(worked_in) as worked_in,
          array_agg(job) filter (where job is not null) as taken
        from (
          select id, workspace, false as worked_in, null as job from head where known and head_at is distinct from next_at
          union all select group_id, workspace, false, id from taken
          union all select group_id, workspace, true, null from worked_in
        ) named group by id
      ) d
      left join lateral (select * from ${t.groups} where id = d.id limit 1) g on true
      left join lateral (
        select j.due_at from ${t.jobs} j
        where j.group_id = d.id and j.held_until <= ${now}::bigint and j.id <> all(coalesce(d.taken, '{}'))
        order by j.due_at, j.id limit 1
      ) oldest on true
    ),
    moved as (
      insert into ${t.groups} as g (id, workspace, next_at, version)
      select id, workspace, next_at, coalesce(version, 0) + 1 from rest
      where worked_in or before is distinct from next_at order by id
      on conflict (id) do update set
        workspace = excluded.workspace,
        next_at = case when g.version + 1 = excluded.version then excluded.next_at else least(g.next_at, excluded.next_at) end,
        version = g.version + 1
      returning 1
    ),
    advanced as (
      insert into ${t.lines} as l (workspace, ready_at, served_at, version)
      select d.workspace, least(d.ready_at, other.ready_at), case when d.served then ${now}::bigint end,
        coalesce(seen.version, 0) + 1
      from (
        select workspace, min(ready_at) as ready_at, bool_or(served) as served from (
          select workspace, ready_at, served from rest
          union all select workspace, null, false from line where ids is null
        ) named group by workspace
      ) d
      left join lateral (select version from ${t.lines} where workspace = d.workspace limit 1) seen on true
      left join lateral (
        select ready_at from ${t.groups}
        where workspace = d.workspace and ready_at is not null and id not in (select id from rest)
        order by ready_at limit 1
      ) other on true
      where (select count(*) from moved) >= 0 -- groups first
      order by d.workspace
      on conflict (workspace) do update set
        ready_at = case when l.version + 1 = excluded.version then excluded.ready_at else least(l.ready_at, excluded.ready_at) end,
        served_at = greatest(l.served_at, excluded.served_at),
        version = l.version + 1
    )
    select t.id, t.group_id, t.workspace, t.due_at, (select token from token) as token, p.more
    from (
      select coalesce(planned > (select count(*) from taken)
          or (until is not null and planned < ${limit}::int and until + 1 <= ${shareFactor}::int * (${free}::bigint - planned)),
        false) as more
      from (select (select sum(jobs) from share) as planned, (select until from known) as until) p
    ) p
    left join taken t on true
    order by t.turn, t.workspace, t.place, t.due_at, t.id`
}

/** An array as PostgreSQL writes it, which takes drivers longer. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`).join(',')}}`
}

function claimOf(row: Row): Claim {
  return {
    id: row['id'] as string,
    workspace: row['workspace'] as string,
    group: row['group_id'] as string,
    due_at: number(row['due_at']),
    token: row['token'] as string,
  }
}
