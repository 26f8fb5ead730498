import type { Job, Lease, Queue } from '../../src/contracts/queue.ts'
import { rankOf } from '../../src/core/job-rank.ts'
import { claimer } from './claim.ts'
import { type Columns, rowsOf } from '../sql/columns.ts'
import { json, number, numberOrNull } from '../sql/values.ts'
import type { Database } from './database.ts'
import { repairer } from './repair-lines.ts'
import { lockedHolds, release } from './release.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import type { Listener } from './listener.ts'
import { nextDueAt } from './next-due.ts'
import type { Notify } from './notify.ts'
import { dueAt } from './waiting.ts'

/** Due jobs of a group that are counted at most. */
const maxCounted = raw('10000')
const due = (job: string) => dueAt(raw(`${job}.due_at`))

/** The queue in a schema. */
export function postgresQueue(db: Database, notify: Notify, listener: Listener | null): Queue {
  const { run, t } = db
  const repaired = repairer(db)
  const claim = claimer(db)
  return {
    takesLeases: true,
    async add(jobs) {
      if (jobs.length === 0) return []
      const ids = new Set<string>()
      const first = jobs.filter(({ id }) => !ids.has(id) && ids.add(id)) // of jobs with the same id the first counts
      const rows = await run(sql`
        with given as materialized (
          ${rowsOf(first, ({ id }) => id, jobColumns)}
        ),
        ${added(
          db,
          sql`
          select g.id, g.group_id, g.due_at, coalesce(l.lease_until, 0) as held_until, l.lease_token as token
          from given g left join ${granted(db, sql`select *, group_id as endpoint_id from given`)} l on l.id = g.id`,
          sql`
          select q.group_id, max(g.workspace), min(${due('q')}) from queued q join given g on g.id = q.id and g.group_id = q.group_id
          where q.token is null group by q.group_id`,
        )}
        select id from queued where token is not null`)
      db.passed(jobs.length)
      if (rows.length < jobs.length) await notify('jobs')
      return rows.map((row) => row['id'] as string)
    },

    async claim(options) {
      if (options.limit <= 0) return []
      await repaired(options.now)
      const claims = await claim(options)
      db.passed(claims.length)
      return claims
    },

    async extend(claims, until) {
      if (claims.length === 0) return []
      const rows = await run(sql`
        with locked as (${lockedHolds(db, claims)})
        update ${t.jobs} j set held_until = ${until}::bigint from locked where j.id = locked.id
        returning j.id, j.token`)
      const tokens = new Map(rows.map((row) => [row['id'], row['token']]))
      return claims.filter(({ id, token }) => tokens.get(id) !== token).map(({ id }) => id)
    },

    async release(claims) {
      if (claims.length === 0) return
      await release(db, lockedHolds(db, claims))
      await notify('jobs')
    },

    async complete(claims) {
      if (claims.length === 0) return
      await run(sql`
        with locked as (${lockedHolds(db, claims)}),
        completed as (
          delete from ${t.jobs} j using locked where j.id = locked.id returning j.id, j.workspace, j.group_id, j.due_at, j.apart
        )
        -- The attempt stays open.
        insert into ${t.open_attempts} (id, workspace, endpoint_id, scheduled_at, apart)
        select id, workspace, group_id, ${due('c')}, apart from completed c
        where workspace is not null and exists (select from ${t.attempts} a where a.id = c.id)
        on conflict do nothing`)
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

    async resume(groups) {
      if (groups.length === 0) return
      // The line of the workspace may stand at the end of the pause: the hint brings it forward.
      await run(sql`
        with ended as (
          update ${t.groups} set paused_until = 0 where id = any(array(
            select id from ${t.groups} where id = any(${groups}::text[]) and paused_until > 0 order by id for update
          ))
          returning id, workspace, next_at
        )
        insert into ${t.hints} (group_id, workspace, due_at)
        select id, workspace, next_at from ended where next_at is not null`)
      await notify('jobs')
    },

    async pausedUntil(group, now) {
      const [row] = await run(sql`
        select paused_until from ${t.groups} where id = ${group}::text and paused_until > ${now}::bigint`)
      return row === undefined ? null : number(row['paused_until'])
    },

    async stats(now) {
      const [row] = await run(sql`
        select count(*) as size,
          min(${due('j')}) filter (where ${due('j')} <= ${now}::bigint and held_until <= ${now}::bigint) as oldest
        from ${t.jobs} j`)
      return { size: number(row!['size']), oldestDueAt: numberOrNull(row!['oldest']) } // an aggregate is one row
    },

    async dueOf(group, now) {
      const [row] = await run(sql`
        select count(*) as due from (
          select from ${t.jobs} j
          where group_id = ${group}::text and ${due('j')} <= ${now}::bigint and held_until <= ${now}::bigint
          limit ${maxCounted}
        ) j`)
      return number(row!['due']) // an aggregate is one row
    },

    nextDueAt: () => nextDueAt(db),

    ...(listener && {
      onAdded: (wake) => listener.on((news, where) => news === 'jobs' && wake(where)),
      listening: () => listener.isWell(),
    }),
  }
}

/** How a job is held from the start. */
export const leaseColumns: Columns<{ readonly lease?: Lease }> = {
  lease_token: ['text', ({ lease }) => lease?.token],
  lease_from: ['bigint', ({ lease }) => lease?.from],
  lease_until: ['bigint', ({ lease }) => lease?.until],
}

/** Of a query (id, endpoint_id, `leaseColumns`) the leases that jobs get: none while the endpoint is paused. */
export function granted({ t }: Database, query: Sql): Sql {
  return sql`(
    select p.id, p.lease_token, p.lease_until from (${query}) p
    where p.lease_token is not null
      and (select true from ${t.groups} g where g.id = p.endpoint_id and g.paused_until > p.lease_from) is not true
  )`
}

const jobColumns: Columns<Job> = {
  workspace: ['id', ({ workspace }) => workspace],
  group_id: ['id', ({ group }) => group],
  due_at: ['bigint', rankOf],
  ...leaseColumns,
}

/**
 * Statements of a `with` that add the jobs of a query (id, group_id, `due_at`: their rank, held_until, token), those known
 * already left out. `hints` is a query of what they say to claims (group_id, workspace, due_at): nothing of jobs that are held.
 * `areOpen`: they are the open attempts as well, and the query says workspace and apart too. `areNew`: none is known, else the
 * statement fails.
 */
export function added({ t }: Database, jobs: Sql, hints: Sql, { areOpen = false, areNew = false } = {}): Sql {
  const columns = raw(`id, group_id, due_at, held_until, token${areOpen ? ', workspace, apart' : ''}`)
  const known = areOpen
    ? raw(
        'on conflict (id) do update set workspace = excluded.workspace, apart = excluded.apart where j.workspace is null',
      )
    : raw('on conflict do nothing')
  return sql`
    queued as (
      insert into ${t.jobs} as j (${columns})
      select ${columns} from (${jobs}) q order by id
      ${areNew ? nothing : known} returning id, group_id, due_at, token
    ),
    hinted as (
      insert into ${t.hints} (group_id, workspace, due_at) ${hints}
    )`
}
