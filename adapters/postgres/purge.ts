import type { Storage } from '../../src/contracts/storage.ts'
import { number } from '../sql/values.ts'
import { isOpenAttempt } from './conditions.ts'
import type { Database } from './database.ts'
import { servedForMs } from './claim-round.ts'
import { pastRaces } from './ask-again.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'

/** Outcomes counted for the circuit breaker are stored for a week, in minutes. */
const keptMinutes = 10_080
/** On a slow disk a thousand rows may take long. */
const unhurried = { answerMs: 20_000 }
/** The most small rows of a kind that go at once. */
const tidied = raw('1000')

/** Removes rows in small statements. Each statement leaves consistent rows: an event is removed after its attempts. */
export async function purge(
  db: Database,
  { eventsBefore, attemptsBefore, limit, workspaceId }: Parameters<Storage['purge']>[0],
): Promise<number> {
  const { run, t } = db
  let removed = 0
  const left = () => sql`${limit - removed}::int`
  const remove = async (statement: () => Sql): Promise<void> => {
    if (removed >= limit) return
    const [row] = await pastRaces(db, () => run(statement(), unhurried))
    removed += number(row!['removed']) // a count is one row
  }
  // Subqueries stand where joins would do, as in queue.ts: the planner then reads by index. And `is not true` stands
  // where `is null` would do: for `is null` the planner expects one row in two hundred, and would rather read all old
  // rows than a few in order.
  const attempts = (ids: Sql) => sql`
    with doomed as materialized (${ids}),
    closed as (delete from ${t.open_attempts} where id = any(array(select id from doomed))),
    unqueued as (delete from ${t.jobs} where id = any(array(select id from doomed)) and workspace is not null),
    unsaid as (delete from ${t.outcomes} where attempt_id = any(array(select id from doomed))),
    gone as (delete from ${t.attempts} where id = any(array(select id from doomed)) returning id)
    select count(*) as removed from gone`
  /**
   * Whoever adds an attempt to an event by hand locks the event meanwhile, and leaves a row that this statement must
   * have seen. Other attempts follow an attempt that exists.
   */
  const events = (ids: Sql) => sql`
    with doomed as materialized (
      select e.id from ${t.events} e
      where e.id = any(array(${ids})) and (select 1 from ${t.attempts} a where a.event_id = e.id limit 1) is null
      for update skip locked
    ),
    forgotten as (delete from ${t.revisited} where event_id = any(array(select id from doomed))),
    gone as (
      delete from ${t.events} where id = any(array(select id from doomed)) returning id, workspace, unique_id
    ),
    freed as (
      delete from ${t.unique_ids} u using gone g
      where u.workspace = g.workspace and u.unique_id = g.unique_id and u.event_id = g.id
    )
    select count(*) as removed from gone`

  const buried = (table: Sql) => sql`
    select x.id from ${t.graves} g
    cross join lateral (
      select id from ${table} where workspace = g.workspace order by workspace, id limit ${left()}
    ) x limit ${left()}`
  if (workspaceId === undefined) {
    await remove(() => attempts(buried(t.attempts)))
    await remove(() => events(buried(t.events)))
    await forgetSums(db)
    await closeGraves(db)
  }

  if (eventsBefore !== null) {
    const idle = () => sql`
      select x.id from ${t.workspaces} w
      cross join lateral (
        select e.id from ${t.events} e
        where e.workspace = w.key and e.created_at < ${eventsBefore}::bigint and (
          select true from ${t.attempts} a where a.event_id = e.id and ${isOpenAttempt(db, raw('a.id'))} limit 1
        ) is not true
        order by e.created_at limit ${left()}
      ) x
      ${workspaceId === undefined ? nothing : sql`where w.id = ${workspaceId}::text`}
      limit ${left()}`
    await remove(() =>
      attempts(sql`
      select a.id from ${t.attempts} a where a.event_id = any(array(${idle()})) limit ${left()}`),
    )
    await remove(() => events(idle()))
  }
  if (attemptsBefore !== null) {
    await remove(() =>
      attempts(sql`
      select x.id from ${t.workspaces} w
      cross join lateral (
        select a.id from ${t.attempts} a
        where a.workspace = w.key and a.created_at < ${attemptsBefore}::bigint
          and not ${isOpenAttempt(db, raw('a.id'))}
        order by a.created_at limit ${left()}
      ) x
      limit ${left()}`),
    )
  }
  if (removed === 0 && workspaceId === undefined) await tidy(db)
  return removed
}

/** A transaction that began before the deletion of a workspace may still add to the workspace. */
async function closeGraves({ run, t }: Database): Promise<void> {
  await run(sql`
    delete from ${t.graves} g
    where g.dug_by < pg_snapshot_xmin(pg_current_snapshot())
      and not exists (select from ${t.events} e where e.workspace = g.workspace)
      and not exists (select from ${t.attempts} a where a.workspace = g.workspace)
      and not exists (select from ${t.minute_sums} s where s.workspace = g.workspace)
      and not exists (select from ${t.hour_sums} s where s.workspace = g.workspace)
      and not exists (select from ${t.day_sums} s where s.workspace = g.workspace)
      and not exists (select from ${t.counted_types} s where s.workspace = g.workspace)
      and not exists (select from ${t.streaks} s where s.workspace = g.workspace)`)
}

/** Sums of deleted workspaces, which nobody may read any more. They are no rows that a caller of `purge` knows of. */
async function forgetSums({ run, t }: Database): Promise<void> {
  const gone = (table: Sql) => sql`
    delete from ${table} where ctid = any(array(
      select x.ctid from ${t.graves} g
      cross join lateral (select s.ctid from ${table} s where s.workspace = g.workspace limit ${tidied}) x
      limit ${tidied}
    ))`
  await run(
    sql`
    with minutes as (${gone(t.minute_sums)}), hours as (${gone(t.hour_sums)}), days as (${gone(t.day_sums)}),
      types as (${gone(t.counted_types)}), streaks as (${gone(t.streaks)})
    select 1`,
    unhurried,
  )
}

/**
 * Small rows that nothing asks for any more: old counts, what the queue and the limiter keep of rows that are
 * gone, and lines of workspaces that had no work for an hour.
 */
async function tidy({ run, t }: Database): Promise<void> {
  await run(sql`
    delete from ${t.tallies} where minute < (select max(minute) from ${t.tallies}) - ${keptMinutes}::bigint`)
  await run(sql`
    delete from ${t.groups} where id = any(array(
      select g.id from ${t.groups} g
      where g.next_at is null
        and not exists (select from ${t.endpoints} e where e.id = g.id)
        and not exists (select from ${t.hints} h where h.group_id = g.id)
        and (select 1 from ${t.jobs} j where j.group_id = g.id limit 1) is null
      limit ${tidied} for update of g skip locked
    ))`)
  await run(sql`
    delete from ${t.lines} where workspace = any(array(
      select l.workspace from ${t.lines} l
      where l.ready_at is null and coalesce(l.served_at, 0) < (select max(served_at) from ${t.lines}) - ${servedForMs}::bigint
        and not exists (select from ${t.groups} g where g.workspace = l.workspace and g.ready_at is not null)
        and not exists (select from ${t.hints} h where h.workspace = l.workspace)
      limit ${tidied} for update of l skip locked
    ))`)
  await run(sql`
    delete from ${t.limits} where key = any(array(
      select l.key from ${t.limits} l
      where not exists (select from ${t.endpoints} e where 'endpoint:' || e.id = l.key)
        and not exists (select from ${t.sources} s where 'source:' || s.id = l.key)
        and not exists (select from ${t.workspaces} w where 'workspace:' || w.id = l.key)
      limit ${tidied} for update of l skip locked
    ))`)
}
