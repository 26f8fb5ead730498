import type { Claim, ClaimOptions } from '../../src/contracts/queue.ts'
import { mostFor, shareFactor } from '../../src/core/share.ts'
import type { Row } from './clients.ts'
import { type Database, json, number, numberOrNull } from './database.ts'
import { nothing, raw, type Sql, sql } from './sql.ts'

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
const maxRounds = 3
/** Clocks of processes may differ by so much: a workspace that was just served in the future is still in line. */
const skewMs = 1000
const servedForMs = 3_600_000

interface Round extends ClaimOptions {
  readonly token: string
  /** How many workspaces there may be to look into. */
  readonly lines: number
  /** Whatever it costs, it is to reach far enough. */
  readonly isLast: boolean
}

/** Takes due jobs: see `Queue.claim`. */
export function claimer(db: Database): (options: ClaimOptions) => Promise<readonly Claim[]> {
  let lines = 1
  return async (options) => {
    const claims: Claim[] = []
    const workspaces = new Map(options.busy.workspaces)
    const groups = new Map(options.busy.groups)
    for (let round = 0; claims.length < options.limit && round < maxRounds; round++) {
      const limit = options.limit - claims.length
      const free = options.free - claims.length
      const token = crypto.randomUUID()
      const busy = { workspaces, groups }
      const rows = await db.run(statement(db, { ...options, limit, free, busy, token, lines, isLast: round > 0 }))
      const taken = rows.filter((row) => row['id'] !== null).map((row) => claimOf(row, token))
      claims.push(...inTurns(taken, workspaces))

      const planned = number(rows[0]!['planned'] ?? 0) // there is one row at least
      const until = numberOrNull(rows[0]!['until'])
      lines = Math.max(1, number(rows[0]!['lines']))
      const isCut = until !== null && planned < limit && until < mostFor(free - planned)
      if (!isCut && taken.length === planned) break
      for (const { workspace, group } of taken) {
        workspaces.set(workspace, (workspaces.get(workspace) ?? 0) + 1)
        groups.set(group, (groups.get(group) ?? 0) + 1)
      }
    }
    return claims
  }
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

function statement({ t }: Database, options: Round): Sql {
  const { limit, free, cap, busy, leaveOut, leaseMs, now, lines, isLast } = options
  // Most of the busy groups have no room, and are there with each claim until they have: they are told apart by hashing.
  const closed = [...leaveOut]
  const partly: [string, number][] = []
  for (const [group, slots] of busy.groups) {
    if (slots < cap) partly.push([group, slots])
    else if (!leaveOut.has(group)) closed.push(group)
  }
  const open = (group: Sql): Sql => (closed.length === 0 ? sql`true` : sql`${group} not in (select id from closed)`)
  // `is not true` stands where a comparison would do: of that the planner expects few rows, and would rather read all jobs of
  // a group than some in order.
  const waiting = (group: Sql): Sql => sql`
    j.group_id = ${group} and j.due_at <= ${now}::bigint and (j.held_until > ${now}::bigint) is not true`
  const looks = Math.max(fewestLooks, 4 * limit)
  const jobsEach = isLast ? limit : Math.max(4, Math.ceil(looks / lines))
  const groupsEach = Math.min(limit + spare, isLast ? limit + spare : Math.max(4, Math.ceil(looks / lines)))
  const turn = sql`greatest(l.ready_at, l.served_at)`
  // The groups that a line has for this caller. Lines without any are passed over, those that come too early are not.
  const groupsOf = sql`
    cross join lateral (
      select array_agg(id) as ids, array_agg(next_at) as next_ats from (
        select id, next_at from ${t.groups} g
        where g.workspace = l.workspace and g.ready_at <= ${now}::bigint and ${open(sql`g.id`)}
        order by g.ready_at limit ${groupsEach}::int
      ) g
    ) g
    where l.ready_at <= ${now}::bigint and (g.ids is not null or not exists (
      select from ${t.groups} g where g.workspace = l.workspace and g.ready_at <= ${now}::bigint
    ))`
  const used = Object.fromEntries([...busy.workspaces].filter(([, slots]) => slots > 0))
  const isIdle = Object.keys(used).length === 0
  return sql`
    with ${closed.length === 0 ? nothing : sql`closed as materialized (select unnest(${arrayText(closed)}::text::text[]) as id),`}
    busy as materialized (
      select ${json(Object.fromEntries(partly))}::text::jsonb as groups,
        ${json(used)}::text::jsonb as workspaces
    ),
    hint as materialized (select group_id, due_at, workspace from ${t.hints} limit ${maxHints}),
    locked as materialized (select ctid as place from ${t.hints} limit ${maxHints} for update skip locked),
    worked_in as (
      delete from ${t.hints} h using locked where h.ctid = locked.place returning h.group_id, h.workspace
    ),
    -- Lines in their turns: first those that use no slot, and only where these do not suffice the others.
    unserved as materialized (
      select l.workspace, g.ids, g.next_ats from ${t.lines} l ${groupsOf}
        and ${turn} <= ${now + skewMs}::bigint and l.ready_at is not null
        ${isIdle ? nothing : sql`and not jsonb_exists((select workspaces from busy), l.workspace)`}
      order by ${turn} limit ${limit + spare}::int
    ),
    line as materialized (
      select * from unserved
      ${
        isIdle
          ? nothing
          : sql`
      union all
      (
        select l.workspace, g.ids, g.next_ats from ${t.lines} l ${groupsOf}
          and l.workspace = any(array(select jsonb_object_keys(workspaces) from busy))
          and (select count(*) from unserved) < ${limit + spare}::int
        order by ((select workspaces from busy) ->> l.workspace)::bigint, ${turn} limit ${limit + spare}::int
      )`
      }
    ),
    -- Groups that may have a due job, and the oldest one of each.
    head as materialized (
      select c.*, oldest.due_at as head_at, oldest.id as head_id
      from (
        select id, max(workspace) as workspace, max(next_at) as next_at, bool_or(known) as known, bool_or(deep) as deep
        from (
          select g.id, l.workspace, g.next_at, true as known, cardinality(l.ids) >= ${groupsEach}::int as deep
          from line l cross join lateral unnest(l.ids, l.next_ats) g (id, next_at)
          union all
          select n.group_id, coalesce(n.workspace, g.workspace, ''), null, false, false
          from (
            select group_id, workspace from hint where due_at <= ${now}::bigint
            union all
            select group_id, null from ${t.jobs} where held_until > 0 and held_until <= ${now}::bigint
          ) n
          left join lateral (select workspace, paused_until from ${t.groups} where id = n.group_id limit 1) g on true
          where ${open(sql`n.group_id`)} and coalesce(g.paused_until, 0) <= ${now}::bigint
        ) named group by id
      ) c
      left join lateral (
        select j.due_at, j.id from ${t.jobs} j where ${waiting(sql`c.id`)} order by j.due_at, j.id limit 1
      ) oldest on true
    ),
    -- What each workspace may get, and its groups by their oldest due job.
    workspace as materialized (
      select w.workspace, w.groups, w.deep, u.used,
        greatest(w.first_at, (
          select served_at from ${t.lines} l where l.workspace = w.workspace and l.served_at > ${now - servedForMs}::bigint
        )) as turn,
        least(${limit}::bigint, greatest(case when u.used = 0 then 1 else 0 end,
          (${raw(String(shareFactor))} * (${free}::bigint + 1) - u.used) / ${raw(String(shareFactor + 1))})) as most
      from (
        select workspace, min(head_at) as first_at, array_agg(id order by head_at, head_id) as groups, bool_or(deep) as deep
        from head where head_at is not null group by workspace
      ) w
      cross join lateral (select coalesce(((select workspaces from busy) ->> w.workspace)::bigint, 0) as used) u
    ),
    offer as materialized (
      select w.workspace, w.turn, w.most, w.deep, o.group_id, w.used + o.nth as level, o.nth
      from workspace w
      cross join lateral (
        select group_id, row_number() over () as nth from (
          select g.id as group_id
          from unnest(w.groups) g (id)
          cross join lateral (
            select from ${t.jobs} j where ${waiting(sql`g.id`)} order by j.due_at, j.id
            limit ${cap}::bigint - coalesce(((select groups from busy) ->> g.id)::bigint, 0)
          ) j
          limit least(w.most, ${jobsEach}::bigint)
        ) x
      ) o
    ),
    -- Where a workspace has more than was looked at, its next job may come before those that follow.
    known as materialized (
      select min(last) as until from (
        select max(level) as last from offer group by workspace
        having max(nth) < max(most) and (max(nth) >= ${jobsEach}::bigint or bool_or(deep))
      ) cut
    ),
    share as materialized (
      select workspace, group_id, max(turn) as turn, min(place) as place, count(*) as jobs
      from (
        select workspace, group_id, turn, level, row_number() over (order by level, turn, workspace) as place from offer
      ) o
      where place <= ${limit}::int and level <= greatest(1, ${raw(String(shareFactor))} * (${free}::bigint - place + 1))
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
    claimed as (
      update ${t.jobs} set held_until = ${now + leaseMs}::bigint, token = ${options.token}::text
      where id = any(array(select id from taken))
    ),
    -- What waits in the groups of which this claim knows more than the rows say.
    rest as materialized (
      select d.id, coalesce(d.workspace, g.workspace, '') as workspace, d.worked_in, d.taken is not null as served,
        g.version, g.next_at as before, oldest.due_at as next_at,
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
      left join lateral (select workspace, version, next_at, paused_until from ${t.groups} where id = d.id limit 1) g on true
      left join lateral (
        select j.due_at from ${t.jobs} j
        where j.group_id = d.id and (j.held_until > ${now}::bigint) is not true and j.id <> all(coalesce(d.taken, '{}'))
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
        select g.ready_at from ${t.groups} g
        where g.workspace = d.workspace and g.ready_at is not null and g.id not in (select id from rest)
        order by g.ready_at limit 1
      ) other on true
      where (select count(*) from moved) >= 0 -- groups first
      order by d.workspace
      on conflict (workspace) do update set
        ready_at = case when l.version + 1 = excluded.version then excluded.ready_at else least(l.ready_at, excluded.ready_at) end,
        served_at = greatest(l.served_at, excluded.served_at),
        version = l.version + 1
    )
    select t.id, t.group_id, t.workspace, t.due_at, all_in_all.*
    from (
      select (select count(*) from workspace) as lines, (select sum(jobs) from share) as planned,
        (select until from known) as until
    ) all_in_all
    left join taken t on true
    order by t.turn, t.workspace, t.place, t.due_at, t.id`
}

/** An array as PostgreSQL writes it, which takes drivers longer. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`).join(',')}}`
}

function claimOf(row: Row, token: string): Claim {
  return {
    id: row['id'] as string,
    workspace: row['workspace'] as string,
    group: row['group_id'] as string,
    due_at: number(row['due_at']),
    token,
  }
}
