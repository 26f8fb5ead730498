import type { Job } from '../../src/contracts/queue.ts'
import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { type Database, database } from '../../adapters/postgres/database.ts'
import { raw, type Sql, sql } from '../../adapters/sql/sql.ts'
import { json } from '../../adapters/sql/values.ts'

/** As `ClaimOptions` was before workspaces took turns. */
export interface ClaimBefore {
  readonly limit: number
  readonly cap: number
  readonly busy: Readonly<Record<string, number>>
  readonly leaseMs: number
  readonly now: number
}

/** What processes of version 3 of the schema send: a rolling update has some of them beside new ones. */
export function queueBefore(handle: PostgresHandle, schema: string) {
  const db = database(clientOf(handle), { schema, prepare: false, bound: false })
  const { run, t } = db
  return {
    async add(jobs: readonly Omit<Job, 'workspace'>[]): Promise<void> {
      await run(sql`
        with given as materialized (
          select * from jsonb_to_recordset(${json(jobs)}::text::jsonb) as g (id text collate "C", "group" text, due_at bigint)
        ),
        queued as (
          insert into ${t.jobs} (id, group_id, due_at)
          select id, group_id, due_at from (select id, "group" as group_id, due_at from given) j order by id
          on conflict do nothing returning group_id, due_at
        ),
        hinted as (
          insert into ${t.hints} (group_id, due_at) select group_id, min(due_at) from queued group by group_id
        )
        select 1 as done`)
    },

    async claim(options: ClaimBefore): Promise<readonly { readonly id: string; readonly token: string }[]> {
      const rows = await run(claimStatement(db, options))
      return rows.map((row) => ({ id: row['id'] as string, token: row['token'] as string }))
    },

    async complete(claims: readonly { readonly id: string }[]): Promise<void> {
      await run(sql`delete from ${t.jobs} where id = any(${claims.map(({ id }) => id)}::text[])`)
    },

    async pause(groups: readonly { readonly group: string; readonly until: number }[]): Promise<void> {
      await run(sql`
        insert into ${t.groups} as g (id, paused_until)
        select "group", max(until)
        from jsonb_to_recordset(${json(groups)}::text::jsonb) as p ("group" text collate "C", until bigint)
        group by "group" order by "group"
        on conflict (id) do update set paused_until = excluded.paused_until
        where g.paused_until < excluded.paused_until`)
    },
  }
}

const maxHints = raw('10000')

function claimStatement({ t }: Database, { limit, cap, busy, leaseMs, now }: ClaimBefore): Sql {
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
    with all_closed as materialized (select ${closed}::text[] as ids),
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
