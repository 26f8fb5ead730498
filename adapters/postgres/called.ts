import { isOpen, isWaiting, type Round } from './asked.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from './sql.ts'

/**
 * The part of a claim that finds the oldest due job (`head_at`, `head_id`) of groups that may have one: those of a query
 * (id, workspace, next_at, deep), those that hints name, and those of lapsed holds. `next_at` is null but for the first.
 */
export function called({ t }: Database, round: Round, groups: Sql): Sql {
  const { now } = round
  return sql`
    head as materialized (
      select c.*, oldest.due_at as head_at, oldest.id as head_id
      from (
        select id, max(workspace) as workspace, max(next_at) as next_at, bool_or(deep) as deep
        from (
          ${groups}
          union all
          select n.group_id, coalesce(n.workspace, g.workspace, ''), null, false
          from (
            select group_id, workspace from hint where due_at <= ${now}::bigint
            union all
            select group_id, null from ${t.jobs} where held_until > 0 and held_until <= ${now}::bigint
          ) n
          left join lateral (select workspace, paused_until from ${t.groups} where id = n.group_id limit 1) g on true
          where ${isOpen(round, raw('n.group_id'))} and coalesce(g.paused_until, 0) <= ${now}::bigint
        ) named group by id
      ) c
      left join lateral (
        select j.due_at, j.id from ${t.jobs} j where ${isWaiting(round, raw('c.id'))} order by j.due_at, j.id limit 1
      ) oldest on true
    )`
}
