import { lowRank } from '../../src/core/job-rank.ts'
import type { Database } from './database.ts'
import { moving } from './claim-moves.ts'
import { dueAt } from './waiting.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

const everyMs = 60_000

/**
 * Puts lines right by what groups say, before the first claim of a process and then once a minute:
 *
 * - A process of the version before knows no lines: it works hints into groups alone, and may make groups without a
 *   workspace. A group whose endpoint is gone is of workspace `''`.
 * - A process of a version that knows no priorities takes the place of a job of low priority for the time it is due at.
 * - A line is ready too early after a pause, or when two claims moved it at the same moment. Each claim passes over it.
 */
export function repairer(db: Database): (now: number) => Promise<void> {
  let last = -Infinity
  return async (now) => {
    if (Math.abs(now - last) < everyMs) return
    last = now
    await repair(db)
  }
}

async function repair({ run, t }: Database): Promise<void> {
  const workspaceOf = (group: string): Sql => sql`
    (select w.id from ${t.endpoints} e join ${t.workspaces} w on w.key = e.workspace where e.id = ${raw(group)}.id)`
  await run(sql`
    with named as (
      update ${t.groups} g set workspace = coalesce(${workspaceOf('g')}, '') where id = any(array(
        select id from ${t.groups} n where workspace is null or (workspace = '' and ${workspaceOf('n')} is not null)
        order by id for update skip locked
      ))
      returning workspace, ready_at
    ),
    misread as (
      insert into ${t.hints} (group_id, workspace, due_at)
      select id, coalesce(workspace, ''), ${dueAt(raw('next_at'))} from ${t.groups} where next_at >= ${raw(String(lowRank))}
    ),
    earliest as (
      select workspace, min(ready_at) as ready_at
      from (
        select workspace, ready_at from named
        union all select coalesce(workspace, ''), ready_at from ${t.groups}
      ) g
      where ready_at is not null group by workspace
    )
    insert into ${t.lines} as l (workspace, ready_at, version)
    select workspace, e.ready_at, coalesce(s.version, 0) + 1
    from earliest e full join ${t.lines} s using (workspace)
    where e.ready_at is distinct from s.ready_at order by workspace
    on conflict (workspace) do update set version = l.version + 1, ready_at = ${moving(raw('l'), raw('ready_at'))}`)
}
