import type { Claim, ClaimOptions, Queue } from '../../src/contracts/queue.ts'
import { type Database, json, number, numberOrNull } from './database.ts'
import { raw, type Sql, sql } from './sql.ts'
import type { Announce, Ear } from './wake.ts'

// A claim reads groups, so that the backlog of a blocked one costs nothing. What makes that safe:
//
// - `next_at` of a group is never later than the due time of its oldest waiting job, or a hint of the group says it.
//   Adding jobs writes hints and touches no group: the host's open transaction then holds nothing others wait for.
// - A claim works the hints it sees into groups. It moves a group's `next_at` forward only if it saw the group's latest
//   version: otherwise another claim worked in a hint whose job this one does not see.
// - A lapsed hold is found by its lease, and is then a candidate like a group with a due job.
//
// Here and elsewhere `id = any(array(select ...))` stands where a join would do: the planner then reads by index, whatever
// size it took the tables for when it made the plan.

/** The most hints that one claim works in; the next one goes on. */
const maxHints = raw('10000')

/** The queue in a schema. */
export function postgresQueue(db: Database, announce: Announce, ear: Ear | null): Queue {
  const { run, t } = db
  return {
    async add(jobs, { wake = true } = {}) {
      if (jobs.length === 0) return
      await run(sql`
        with given as materialized (
          select * from jsonb_to_recordset(${json(jobs)}::text::jsonb) as g (id text collate "C", "group" text, due_at bigint)
        ),
        ${added(db, sql`select id, "group" as group_id, due_at from given`)}
        select 1 as done`)
      db.passed(jobs.length)
      if (wake) await announce('jobs')
    },

    async claim({ limit, cap, busy, leaseMs, now }) {
      if (limit <= 0) return []
      const rows = await run(claimStatement(db, { limit, cap, busy, leaseMs, now }))
      db.passed(rows.length)
      return rows.map(claimOf)
    },

    async extend(claims, until) {
      if (claims.length === 0) return []
      const rows = await run(sql`
        with mine as (${lockedHolds(db, claims)})
        update ${t.jobs} j set held_until = ${until}::bigint from mine where j.id = mine.id
        returning j.id, j.token`)
      const tokens = new Map(rows.map((row) => [row['id'], row['token']]))
      return claims.filter(({ id, token }) => tokens.get(id) !== token).map(({ id }) => id)
    },

    async release(claims) {
      if (claims.length === 0) return
      await run(sql`
        with mine as (${lockedHolds(db, claims)}),
        released as (
          update ${t.jobs} j set held_until = 0, token = null from mine where j.id = mine.id
          returning j.group_id, j.due_at
        )
        insert into ${t.hints} (group_id, due_at) select group_id, min(due_at) from released group by group_id`)
      await announce('jobs')
    },

    async complete(claims) {
      if (claims.length === 0) return
      await run(sql`
        with mine as (${lockedHolds(db, claims)})
        delete from ${t.jobs} j using mine where j.id = mine.id`)
    },

    async pause(groups) {
      if (groups.length === 0) return
      await run(sql`
        insert into ${t.groups} as g (id, paused_until)
        select "group", max(until)
        from jsonb_to_recordset(${json(groups)}::text::jsonb) as p ("group" text collate "C", until bigint)
        group by "group" order by "group"
        on conflict (id) do update set paused_until = excluded.paused_until
        where g.paused_until < excluded.paused_until`)
    },

    async pausedUntil(group, now) {
      const [row] = await run(sql`
        select paused_until from ${t.groups} where id = ${group}::text and paused_until > ${now}::bigint`)
      return row === undefined ? null : number(row['paused_until'])
    },

    async stats(now) {
      const [row] = await run(sql`
        select count(*) as size,
          min(due_at) filter (where due_at <= ${now}::bigint and held_until <= ${now}::bigint) as oldest
        from ${t.jobs}`)
      return { size: number(row!['size']), oldestDueAt: numberOrNull(row!['oldest']) } // an aggregate is one row
    },

    async nextDueAt() {
      const [row] = await run(sql`
        select min(greatest(w.at, g.paused_until)) as next_at
        from (
          select id as group_id, next_at as at from ${t.groups} where next_at is not null
          union all select group_id, due_at from ${t.hints}
          union all select group_id, greatest(due_at, held_until) from ${t.jobs} where held_until > 0
        ) w
        left join ${t.groups} g on g.id = w.group_id`)
      return numberOrNull(row!['next_at']) // an aggregate is one row
    },

    ...(ear && { onAdded: (wake) => ear.on((news) => news === 'jobs' && wake()) }),
  }
}

/** Statements of a `with` that add the jobs of a query (id, group_id, due_at), those known already left out. */
export function added({ t }: Database, jobs: Sql): Sql {
  return sql`
    queued as (
      insert into ${t.jobs} (id, group_id, due_at) select id, group_id, due_at from (${jobs}) j order by id
      on conflict do nothing returning group_id, due_at
    ),
    hinted as (
      insert into ${t.hints} (group_id, due_at) select group_id, min(due_at) from queued group by group_id
    )`
}

/** The jobs that are held with these tokens, locked in the order of ids, so that no two batches lock each other out. */
export function lockedHolds({ t }: Database, claims: readonly Claim[]): Sql {
  return sql`
    select j.id from ${t.jobs} j
    join jsonb_to_recordset(${json(claims.map(({ id, token }) => ({ id, token })))}::text::jsonb)
      as c (id text collate "C", token text) on c.id = j.id and c.token = j.token
    where j.id = any(array(select unnest(${claims.map(({ id }) => id)}::text[])))
    order by j.id for update of j`
}

function claimStatement({ t }: Database, { limit, cap, busy, leaseMs, now }: ClaimOptions): Sql {
  // Most of the busy groups have no room, and are there with each claim until they have: they are told apart by hashing.
  const closed: string[] = []
  const partly = Object.create(null) as Record<string, number> // a group may be called `__proto__`
  for (const group of Object.keys(busy)) {
    if (busy[group]! >= cap) closed.push(group)
    else partly[group] = busy[group]!
  }
  const open = (group: Sql): Sql => sql`${group} not in (select id from closed)`
  // A few are not worth the hashing.
  const openOfFew = (group: Sql): Sql => sql`
    case when (select few from hints_read) then ${group} <> all((select ids from all_closed)::text[]) else ${open(group)} end`
  const waiting = (group: Sql): Sql => sql`
    j.group_id = ${group} and j.due_at <= ${now}::bigint and j.held_until <= ${now}::bigint`
  return sql`
    with all_closed as materialized (select ${arrayText(closed)}::text::text[] as ids),
    closed as materialized (select unnest(ids) as id from all_closed),
    partly as materialized (select ${json(partly)}::text::jsonb as jobs),
    hint as materialized (select group_id, due_at from ${t.hints} limit ${maxHints}),
    hints_read as materialized (select count(*) < 32 as few from hint),
    locked as materialized (select ctid as place from ${t.hints} limit ${maxHints} for update skip locked),
    worked_in as (
      delete from ${t.hints} h using locked where h.ctid = locked.place returning h.group_id
    ),
    known as materialized (
      select id from ${t.groups}
      where next_at <= ${now}::bigint and paused_until <= ${now}::bigint and ${open(sql`id`)}
      order by next_at, id limit ${Math.max(64, 2 * limit)}::int
    ),
    candidate as (
      select id from known
      union
      select group_id from hint where due_at <= ${now}::bigint and ${openOfFew(sql`group_id`)}
      union
      select group_id from ${t.jobs} where held_until > 0 and held_until <= ${now}::bigint and ${open(sql`group_id`)}
    ),
    -- Groups by their oldest due job.
    line as materialized (
      select c.id, head.due_at as head_at, head.id as head_id
      from candidate c
      cross join lateral (
        select j.due_at, j.id from ${t.jobs} j where ${waiting(sql`c.id`)} order by j.due_at, j.id limit 1
      ) head
      where coalesce((select paused_until from ${t.groups} g where g.id = c.id), 0) <= ${now}::bigint
      order by head.due_at, head.id limit ${limit}::int
    ),
    -- Rows are locked as they are asked for, so no more than the limit.
    taken as materialized (
      select l.id as group_id, l.head_at, l.head_id, job.id, job.due_at
      from line l
      cross join lateral (
        select j.id, j.due_at from ${t.jobs} j where ${waiting(sql`l.id`)} order by j.due_at, j.id
        limit ${cap}::bigint - coalesce(((select jobs from partly) ->> l.id)::bigint, 0) for update skip locked
      ) job
      limit ${limit}::int
    ),
    token as materialized (select gen_random_uuid()::text as token),
    claimed as (
      update ${t.jobs} j set held_until = ${now + leaseMs}::bigint, token = token.token
      from token where j.id = any(array(select id from taken))
    ),
    -- What waits in the groups that this claim looked into, once it has taken its part.
    rest as materialized (
      select d.id, d.worked_in, g.version, g.next_at as before, head.due_at as next_at
      from (
        select id, bool_or(worked_in) as worked_in, array_agg(job) filter (where job is not null) as taken from (
          select id, false as worked_in, null as job from known
          union all select group_id, false, id from taken
          union all select group_id, true, null from worked_in
        ) named group by id
      ) d
      left join lateral (select version, next_at from ${t.groups} where id = d.id limit 1) g on true
      left join lateral (
        select j.due_at from ${t.jobs} j
        where j.group_id = d.id and j.held_until <= ${now}::bigint and j.id <> all(coalesce(d.taken, '{}'))
        order by j.due_at, j.id limit 1
      ) head on true
    ),
    moved as (
      insert into ${t.groups} as g (id, next_at, version)
      select id, next_at, coalesce(version, 0) + 1 from rest where worked_in or before is distinct from next_at order by id
      on conflict (id) do update set
        next_at = case when g.version + 1 = excluded.version then excluded.next_at else least(g.next_at, excluded.next_at) end,
        version = g.version + 1
    )
    select id, group_id, due_at, (select token from token) as token from taken order by head_at, head_id, due_at, id`
}

/** An array as PostgreSQL writes it, which takes drivers longer. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`).join(',')}}`
}

function claimOf(row: Readonly<Record<string, unknown>>): Claim {
  return {
    id: row['id'] as string,
    group: row['group_id'] as string,
    due_at: number(row['due_at']),
    token: row['token'] as string,
  }
}
