import { lowRank, maxLow } from '../../src/core/job-rank.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import type { Round } from './claim-round.ts'
import { unseen } from './conditions.ts'
import type { Database } from './database.ts'

// `due_at` of a job says where it stands in its group (`rankOf`): jobs of low priority lie beyond `lowRank`. So the
// index by group and due time gives both kinds in order, and no job pays for a second index.

/** When a job falls due, by where it stands. */
export function dueAt(at: Sql): Sql {
  return sql`(${at} & ${raw(String(lowRank - 1))})`
}

/** Of the jobs `j` of a group those that wait and are due in a range of time, in their order. */
function waiting(
  { t }: Database,
  { now }: Round,
  { group, dueFrom, idFrom = raw("''"), dueBy, isLow }: Ask,
): { from: Sql; order: Sql } {
  // What a group has is to be read in order, however deep its backlog is. PostgreSQL sorts all of it instead where it expects
  // one or two jobs, or nearly all jobs of the table. Of a range of one column it expects that little, so the range
  // begins with a pair. There are no statistics of groups (migration 14).
  const from = isLow ? sql`greatest(${dueFrom}, 0) + ${unseen(lowRank, 'bigint')}` : dueFrom
  const range = sql`(j.due_at, j.id) >= (${from}, ${idFrom}) and j.due_at <= ${unseen(isLow ? dueBy + lowRank : dueBy, 'bigint')}`
  return {
    from: sql`from ${t.jobs} j where j.group_id = ${group} and ${range} and (j.held_until > ${unseen(now, 'bigint')}) is not true`,
    order: raw('order by j.due_at, j.id'),
  }
}

interface Ask extends Place {
  readonly dueBy: number
  readonly isLow: boolean
}

/** Where to look for jobs that wait. */
interface Place {
  readonly group: Sql
  /** No job of the group that waits is due before. What lies before is not read: places of jobs that are held, or gone. */
  readonly dueFrom: Sql
  /** Nor is one that is due at that time and whose id is smaller. */
  readonly idFrom?: Sql
}

/** The part of a `with` that `inUse` reads, with the comma behind it: groups may be many, so JSON is parsed once for all of them. */
export function slotsInUse({ groups, low }: Round): Sql {
  return groups === '{}' && low === '{}'
    ? nothing
    : sql`slots as materialized (select ${groups}::text::jsonb as groups, ${low}::text::jsonb as low),`
}

/** The slots of a group that this caller has in use, or uses for jobs of low priority. */
function inUse(round: Round, which: 'groups' | 'low', group: Sql): Sql {
  return round[which] === '{}' ? raw('0') : sql`coalesce(((select ${raw(which)} from slots) ->> ${group})::bigint, 0)`
}

/**
 * A query of the jobs that a group offers, in order: `id`, `due_at` (where it stands), `at` (its place in the table).
 * `locked`: each job is locked as it is read; jobs that others have locked are passed over.
 */
export function offered(db: Database, round: Round, place: Place, { locked = false } = {}): Sql {
  const { group } = place
  const lock = locked ? raw('for update skip locked') : nothing
  const room = sql`${unseen(round.cap, 'bigint')} - ${inUse(round, 'groups', group)}`
  const part = (isLow: boolean, limit: Sql) => {
    const { from, order } = waiting(db, round, { ...place, dueBy: round.now, isLow })
    return sql`select * from (select j.id, j.due_at, j.ctid as at ${from} ${order} limit ${limit} ${lock}) j`
  }
  return sql`
    select id, due_at, at from (${part(false, room)} union all ${part(true, lowRoom(round, group))}) j limit ${room}`
}

/** The slots of a group that are left for jobs of low priority. */
function lowRoom(round: Round, group: Sql): Sql {
  return sql`greatest(0, ${unseen(maxLow(round.cap), 'bigint')} - ${inUse(round, 'low', group)})`
}

/**
 * The oldest due job of a group as `oldest (due_at, id)`, of whatever priority; nothing where the group has none to give.
 * What follows a query's `from`.
 */
export function oldestDue(db: Database, round: Round, place: Place): Sql {
  const first = (isLow: boolean) => {
    const { from, order } = waiting(db, round, { ...place, dueBy: round.now, isLow })
    return sql`(select ${isLow ? dueAt(raw('j.due_at')) : raw('j.due_at')} as due_at, j.id ${from} ${order} limit 1)`
  }
  const isLowFirst = raw('usual.due_at is null or (low.due_at, low.id) < (usual.due_at, usual.id)')
  return sql`
    left join lateral ${first(false)} usual on true
    left join lateral ${first(true)} low on true
    cross join lateral (
      select case when low.id is null or usual.id is null and ${lowRoom(round, place.group)} = 0
        then 'usual' when ${isLowFirst} then 'low' else 'usual' end as which
    ) w
    cross join lateral (
      select case w.which when 'low' then low.due_at else usual.due_at end as due_at,
        case w.which when 'low' then low.id else usual.id end as id
    ) oldest`
}

/** When the oldest waiting job of a group falls due, but for jobs whose ids a query answers: a query of one row. */
export function nextWaiting(db: Database, round: Round, place: Place, but: Sql): Sql {
  const first = (isLow: boolean) => {
    const { from, order } = waiting(db, round, { ...place, dueBy: lowRank - 1, isLow })
    return sql`(select ${dueAt(raw('j.due_at'))} ${from} and (j.id in (${but})) is not true ${order} limit 1)`
  }
  // With a limit it is asked once, however often the answer is used.
  return sql`select least(${first(false)}, ${first(true)}) as due_at limit 1`
}
