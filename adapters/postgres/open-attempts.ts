import type { NewAttempt, PlannedAttempt } from '../../src/contracts/storage/attempts.ts'
import { lowRank } from '../../src/core/job-rank.ts'
import { isAstray } from '../../src/core/id-bounds.ts'
import type { Database } from './database.ts'
import { added } from './queue.ts'
import { type Columns, rowsOf } from '../sql/columns.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'

/** Attempts to be made as rows of the table, but for their workspaces. */
export function newAttempts<Attempt extends NewAttempt>(
  attempts: readonly Attempt[],
  columns: Columns<Attempt> = {},
): Sql {
  return rowsOf(attempts, ({ id }) => id, { ...attemptColumns, ...columns })
}

const attemptColumns: Columns<NewAttempt> = {
  event_id: ['id', ({ event_id }) => event_id],
  endpoint_id: ['id', ({ endpoint_id }) => endpoint_id],
  attempt_number: ['int', ({ attempt_number }) => attempt_number],
  trigger_mode: ['text', ({ trigger_mode }) => trigger_mode],
  scheduled_at: ['bigint', ({ scheduled_at }) => scheduled_at],
  created_at: ['bigint', ({ created_at }) => created_at],
  astray: ['boolean', (attempt) => isAstray(attempt) || null],
}

/**
 * Parts of a `with` that open the attempts of a query (workspace and the columns of `newAttempts`), with their jobs unless
 * `jobs` is null; those whose id exists already are left out. `made` answers the ids of those that are not. `byHand`: the query also
 * tells which are the first of their event and endpoint. `follow`: they follow attempts that failed. `low`: the ids of those whose
 * jobs are of low priority. `leases`: a query that tells which jobs are held from the start (id and `leaseColumns`).
 * `areNew`: none is stored, else the statement fails; to look for what stands against a row takes a fifth of an insert.
 */
export function openAttempts(
  db: Database,
  attempts: Sql,
  jobs: JobsOfAttempts,
  { byHand = false, follow = false, low = [], leases = null, areNew = false }: OpenOptions = {},
): Sql {
  const { t } = db
  const columns = raw(
    `id, workspace, event_id, endpoint_id, attempt_number, trigger_mode, scheduled_at, created_at, astray${byHand ? ', first' : ''}`,
  )
  const apart = raw(byHand ? 'true' : follow ? 'false' : 'null::boolean')
  const opened = sql`,
    opened as (
      insert into ${t.open_attempts} (id, workspace, endpoint_id, scheduled_at, apart)
      select id, workspace, endpoint_id, scheduled_at, ${apart} from made
      on conflict do nothing
    )`
  return sql`
    made as (
      insert into ${t.attempts} (${columns})
      select ${columns}
      from (${attempts}) a order by id
      ${areNew ? nothing : raw('on conflict do nothing')} returning id, workspace, endpoint_id, scheduled_at
    )${jobs === 'same row' ? nothing : opened}${jobs === null ? nothing : queued(db, jobs, { apart, low, leases, areNew })}`
}

/** The jobs of the attempts that were made. */
function queued(
  db: Database,
  jobs: 'beside' | 'same row',
  { apart, low, leases, areNew }: Required<Pick<OpenOptions, 'low' | 'leases' | 'areNew'>> & { apart: Sql },
): Sql {
  const rank =
    low.length === 0
      ? raw('m.scheduled_at')
      : sql`m.scheduled_at + case when m.id = any(${low}::text[]) then ${raw(String(lowRank))} else 0 end`
  const lease =
    leases === null
      ? raw('0 as held_until, null::text as token')
      : raw('coalesce(l.lease_until, 0) as held_until, l.lease_token as token')
  const made = leases === null ? raw('from made m') : sql`from made m left join ${leases} l on l.id = m.id`
  const open = jobs === 'same row' ? sql`, m.workspace, ${apart} as apart` : nothing
  return sql`, ${added(
    db,
    sql`select m.id, m.endpoint_id as group_id, ${rank} as due_at, ${lease}${open} ${made}`,
    sql`
      select m.endpoint_id, (select id from ${db.t.workspaces} w where w.key = m.workspace), min(m.scheduled_at)
      ${made} ${leases === null ? nothing : raw('where l.lease_token is null')} group by m.endpoint_id, m.workspace`,
    { areOpen: jobs === 'same row', areNew },
  )}`
}

/** Where the jobs of new attempts go: nowhere, beside the open attempts, or into the same rows. */
export type JobsOfAttempts = null | 'beside' | 'same row'

/** Where they go, if the engine's own queue shall hold them. */
export async function jobsOfAttempts(db: Database, enqueue: boolean): Promise<JobsOfAttempts> {
  return !enqueue ? null : (await db.oneRow.isOn(db)) ? 'same row' : 'beside'
}

interface OpenOptions {
  readonly byHand?: boolean
  readonly follow?: boolean
  readonly low?: readonly string[]
  readonly leases?: Sql | null
  readonly areNew?: boolean
}

/** The ids of attempts whose jobs are of low priority. */
export function lowOf(attempts: readonly PlannedAttempt[]): readonly string[] {
  return attempts.filter(({ priority }) => priority === 'low').map(({ id }) => id)
}
