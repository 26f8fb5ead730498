import { raw, type Sql, sql } from '../sql/sql.ts'
import { numberOrNull } from '../sql/values.ts'
import type { Database } from './database.ts'
import { dueAt } from './waiting.ts'

/** Workspaces, and held jobs, that come first and are looked at one by one. */
const lines = 32
const holds = 250

/**
 * When the next waiting job may be claimed; null where none waits. Reads as much however many jobs and groups wait, and all hints, which
 * each claim works in. Lines are read by their turns, as claims do: what is due comes first, and the others stand where they fall due, or
 * before. Where more workspaces or held jobs wait than are looked at, the first of the others says the least that can be: then the answer
 * may be too early.
 */
export async function nextDueAt({ run, t }: Database): Promise<number | null> {
  const firstOf = (workspace: Sql): Sql => sql`(
    select g.ready_at from ${t.groups} g where g.workspace = ${workspace} and g.ready_at is not null order by g.ready_at limit 1)`
  const [row] = await run(sql`
    with near as materialized (
      select workspace, turn, row_number() over (order by turn) > ${raw(String(lines))} as is_bound
      from (select workspace, greatest(ready_at, served_at) as turn from ${t.lines} where ready_at is not null) l
      order by turn limit ${raw(String(lines + 1))}
    ),
    held as materialized (
      select group_id, held_until, greatest(${dueAt(raw('j.due_at'))}, held_until) as at,
        row_number() over (order by held_until) > ${raw(String(holds))} as is_bound
      from ${t.jobs} j where held_until > 0 order by held_until limit ${raw(String(holds + 1))}
    )
    select min(at) as next_at from (
      select case when is_bound then turn else ${firstOf(raw('n.workspace'))} end as at from near n
      union all select held_until from held where is_bound
      union all
      select greatest(w.at, g.paused_until) from (
        select group_id, due_at as at from ${t.hints} union all select group_id, at from held where not is_bound
      ) w left join ${t.groups} g on g.id = w.group_id
    ) w`)
  return numberOrNull(row!['next_at']) // an aggregate is one row
}
