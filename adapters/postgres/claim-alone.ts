import { shareFactor } from '../../src/core/fair-share.ts'
import type { Choice, Round } from './claim-round.ts'
import { closedGroups, isOpen, unseen } from './conditions.ts'
import { called } from './claim-heads.ts'
import type { Database } from './database.ts'
import { raw, sql } from '../sql/sql.ts'
import { offered } from './waiting.ts'

/**
 * Chooses jobs of a single workspace, if no other workspace is in line: else none, and `met` is 2. That is what most claims are, and
 * costs half of what turns cost.
 */
export function alone(db: Database, round: Round, workspace: string): Choice {
  const { t } = db
  const { now, groupsEach } = round
  const most = raw('(select jobs from most)')
  return {
    parts: sql`${closedGroups(round)}
    ${called(
      db,
      round,
      sql`
      select id, workspace, next_at from (
        select id, workspace, next_at from ${t.groups} g
        where g.workspace = ${unseen(workspace, 'text')} and g.ready_at <= ${unseen(now, 'bigint')} and ${isOpen(round, raw('g.id'))}
        order by g.ready_at limit ${unseen(groupsEach, 'int')}
      ) g`,
    )},
    most as materialized (
      select case when (
        select true from ${t.lines} l
        where greatest(l.ready_at, l.served_at) <= ${unseen(now, 'bigint')} and l.ready_at is not null
          and l.workspace <> ${unseen(workspace, 'text')} order by greatest(l.ready_at, l.served_at) limit 1
      ) is not true and (
        select true from head where head_at is not null and workspace <> ${workspace}::text limit 1
      ) is not true then ${maxOf(round, workspace)}::bigint end as jobs
    )`,
    // Rows are locked as they are asked for, so no more than what is taken.
    taken: sql`
      select h.workspace, h.id as group_id, h.head_at, h.head_id, job.id, job.due_at, job.at
      from (
        select workspace, id, head_at, head_id from head where head_at is not null and ${most} > 0
        order by head_at, head_id limit ${unseen(round.limit, 'int')}
      ) h
      cross join lateral (
        ${offered(db, round, { group: raw('h.id'), dueFrom: raw('h.head_at'), idFrom: raw('h.head_id') }, { locked: true })}
      ) job
      limit coalesce(${most}, 0)`,
    order: raw('t.head_at, t.head_id, t.due_at, t.id'),
    summary: sql`
      select case when ${most} is null then 2 else 1 end as met, null as until, coalesce(case
          when (select count(*) from head where next_at is not null) >= ${unseen(groupsEach, 'bigint')} then ${most}
          else least(${most}, (select count(*) from head where head_at is not null))
        end, 0) as planned`,
  }
}

/** The most jobs that a workspace may get while it is alone. */
function maxOf({ limit, free, used }: Round, workspace: string): number {
  const slots = used.get(workspace) ?? 0
  const max = Math.floor((shareFactor * (free + 1) - slots) / (shareFactor + 1))
  return Math.min(limit, Math.max(slots === 0 ? 1 : 0, max))
}
