import type { Round } from './claim-round.ts'
import { isOpen, unseen } from './conditions.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import { namedBy } from './release.ts'
import { oldestDue } from './waiting.ts'

/**
 * The part of a claim that finds the oldest due job (`head_at`, `head_id`) of groups that may have such a job: the
 * groups of a query (id, workspace, next_at), groups that hints name, and groups with lapsed holds. `next_at` is null
 * except for groups of the query. No job that waits is due before `from_at`, or a hint says so that this claim does not see.
 */
export function called(db: Database, round: Round, groups: Sql): Sql {
  const { t } = db
  const now = unseen(round.now, 'bigint')
  // Arrays, since the planner takes them to be short, however large the tables are.
  return sql`
    ready as materialized (
      select array_agg(id) as ids, array_agg(workspace) as workspaces, array_agg(next_at) as times
      from (${groups}) g
    ),
    head as materialized (
      select c.*, oldest.due_at as head_at, oldest.id as head_id
      from (
        select id, max(workspace) as workspace, max(next_at) as next_at, min(from_at) as from_at
        from (
          select r.id, r.workspace, r.next_at, r.next_at as from_at
          from ready cross join lateral unnest(ready.ids, ready.workspaces, ready.times) r (id, workspace, next_at)
          union all
          select n.group_id, coalesce(n.workspace, g.workspace, ''), null, least(n.due_at, g.next_at)
          from (
            select h.group_id, h.workspace, h.due_at
            from hint cross join lateral unnest(hint.groups, hint.workspaces, hint.times) h (group_id, workspace, due_at)
            where h.due_at <= ${now}
            union all
            select l.group_id, l.workspace, ${unseen(Number.MIN_SAFE_INTEGER, 'bigint')}
            from (
              select array_agg(group_id) as groups, array_agg(${namedBy(raw('token'))}) as workspaces
              from ${t.jobs} where held_until > 0 and held_until <= ${now}
            ) lapsed cross join lateral unnest(lapsed.groups, lapsed.workspaces) l (group_id, workspace)
          ) n
          left join lateral (select workspace, next_at, paused_until from ${t.groups} where id = n.group_id limit 1) g on true
          where ${isOpen(round, raw('n.group_id'))} and coalesce(g.paused_until, 0) <= ${now}
        ) named group by id
      ) c
      ${oldestDue(db, round, { group: raw('c.id'), dueFrom: raw('c.from_at') })}
    )`
}
