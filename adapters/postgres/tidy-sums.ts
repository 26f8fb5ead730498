import type { Statistics } from '../../src/contracts/storage/statistics.ts'
import { countNames } from '../../src/core/counts.ts'
import { dayMs } from '../../src/core/periods.ts'
import { number } from '../sql/values.ts'
import { type Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

const columns = raw(countNames.join(', '))
const summed = raw(countNames.map((name) => `sum(${name})`).join(', '))
const added = raw(countNames.map((name) => `${name} = s.${name} + excluded.${name}`).join(', '))
const unhurried = { answerMs: 20_000 }

/** Removes old sums, and makes days of old hours: each statement takes hours away and adds them to their days. */
export async function tidySums(
  { run, t }: Database,
  { minutesBefore, hoursBefore, daysBefore, limit }: Parameters<Statistics['tidy']>[0],
): Promise<number> {
  let gone = 0
  const old = (table: Sql, before: number): Sql => sql`
    array(
      select x.ctid from ${t.workspaces} w
      cross join lateral (
        select s.ctid from ${table} s where s.workspace = w.key and s.time < ${before}::bigint
        order by s.workspace, s.time limit ${limit - gone}::int for update skip locked
      ) x
      limit ${limit - gone}::int
    )`
  const count = async (statement: () => Sql): Promise<void> => {
    if (gone >= limit) return
    const [row] = await run(statement(), unhurried)
    gone += number(row!['gone']) // a count is one row
  }
  const removing = (table: Sql, before: number) => () =>
    sql`
    with gone as (delete from ${table} where ctid = any(${old(table, before)}) returning 1)
    select count(*) as gone from gone`

  await count(removing(t.minute_sums, minutesBefore))
  await count(
    () => sql`
    with gone as (delete from ${t.hour_sums} where ctid = any(${old(t.hour_sums, hoursBefore)}) returning *),
    days as (
      insert into ${t.day_sums} as s (workspace, time, endpoint_id, event_type, ${columns})
      select workspace, time - time % ${raw(String(dayMs))}, endpoint_id, event_type, ${summed}
      from gone group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (workspace, time, endpoint_id, event_type) do update set ${added}
    )
    select count(*) as gone from gone`,
  )
  await count(removing(t.day_sums, daysBefore))
  await run(sql`delete from ${t.counted_types} where counted_at < ${daysBefore}::bigint`, unhurried)
  await run(
    sql`
    delete from ${t.streaks} s
    where not exists (select from ${t.endpoints} e where e.id = s.endpoint_id and e.workspace = s.workspace)`,
    unhurried,
  )
  return gone
}
