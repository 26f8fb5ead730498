import type { Storage } from '../../src/contracts/storage.ts'
import { type Database, number } from './database.ts'
import { type Sql, sql } from './sql.ts'

/** Outcomes counted for the circuit breaker are kept for a week, in minutes. */
const keptMinutes = 10_080

/** Removes rows in small statements, each of which leaves a whole: an event goes after its attempts. */
export async function purge(
  { run, t }: Database,
  { eventsBefore, attemptsBefore, limit }: Parameters<Storage['purge']>[0],
): Promise<number> {
  let removed = 0
  const left = () => sql`${limit - removed}::int`
  const remove = async (statement: () => Sql): Promise<void> => {
    if (removed >= limit) return
    const [row] = await run(statement())
    removed += number(row!['removed']) // a count is one row
  }
  const attempts = (ids: Sql) => sql`
    with doomed as materialized (${ids}),
    closed as (delete from ${t.open_attempts} o using doomed d where o.id = d.id),
    unsaid as (delete from ${t.outcomes} o using doomed d where o.attempt_id = d.id),
    gone as (delete from ${t.attempts} a using doomed d where a.id = d.id returning a.id)
    select count(*) as removed from gone`
  /** Whoever adds an attempt to an event holds it locked meanwhile. */
  const events = (ids: Sql) => sql`
    with doomed as materialized (
      select e.id from ${t.events} e
      where e.id in (${ids}) and not exists (select from ${t.attempts} a where a.event_id = e.id)
      for update skip locked
    ),
    gone as (delete from ${t.events} e using doomed d where e.id = d.id returning e.id, e.workspace, e.unique_id),
    freed as (
      delete from ${t.unique_ids} u using gone g
      where u.workspace = g.workspace and u.unique_id = g.unique_id and u.event_id = g.id
    )
    select count(*) as removed from gone`

  const buried = (table: Sql) => sql`
    select x.id from ${t.graves} g
    cross join lateral (select id from ${table} where workspace = g.workspace limit ${left()}) x limit ${left()}`
  await remove(() => attempts(buried(t.attempts)))
  await remove(() => events(buried(t.events)))
  // A transaction that began before the deletion may still add to the workspace.
  await run(sql`
    delete from ${t.graves} g
    where g.dug_by < pg_snapshot_xmin(pg_current_snapshot())
      and not exists (select from ${t.events} e where e.workspace = g.workspace)`)

  if (eventsBefore !== null) {
    const idle = () => sql`
      select x.id from ${t.workspaces} w
      cross join lateral (
        select e.id, e.created_at from ${t.events} e
        where e.workspace = w.key and e.created_at < ${eventsBefore}::bigint and not exists (
          select from ${t.attempts} a join ${t.open_attempts} o on o.id = a.id where a.event_id = e.id
        )
        order by e.created_at limit ${left()}
      ) x
      order by x.created_at, x.id limit ${left()}`
    await remove(() =>
      attempts(sql`
      select a.id from ${t.attempts} a where a.event_id in (${idle()}) limit ${left()}`),
    )
    await remove(() => events(idle()))
  }
  if (attemptsBefore !== null) {
    await remove(() =>
      attempts(sql`
      select x.id from ${t.workspaces} w
      cross join lateral (
        select a.id, a.created_at from ${t.attempts} a
        where a.workspace = w.key and a.created_at < ${attemptsBefore}::bigint
          and not exists (select from ${t.open_attempts} o where o.id = a.id)
        order by a.created_at limit ${left()}
      ) x
      order by x.created_at, x.id limit ${left()}`),
    )
  }
  await run(sql`
    delete from ${t.tallies} where minute < (select max(minute) from ${t.tallies}) - ${keptMinutes}::bigint`)
  return removed
}
