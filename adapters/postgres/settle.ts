import type { Claim } from '../../src/contracts/queue.ts'
import type { PlannedAttempt, Settled, Settlement } from '../../src/contracts/storage/attempts.ts'
import { noteText } from '../../src/core/notes.ts'
import { json, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { isRefusal } from './errors.ts'
import { type JobsOfAttempts, jobsOfAttempts, lowOf, newAttempts, openAttempts } from './open-attempts.ts'
import { lockedHolds } from './release.ts'
import { type Columns, idsIn, joinedIds, rowsOf } from '../sql/columns.ts'
import { storable } from '../sql/rows.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import type { Tables } from './tables.ts'

/**
 * Closes attempts, each once, with all that follows, in one statement. A batch that the engine refuses is halved until
 * the settlement at fault stands alone; that settlement is written without what was captured, since an outcome is never
 * lost. If the engine refuses that too, nothing of it is written.
 */
export async function settle(
  db: Database,
  settlements: readonly Settlement[],
  enqueue: boolean,
): Promise<readonly Settled[]> {
  const answers = await settleInParts(db, settlements, enqueue)
  const seen = new Set<string>()
  return settlements.map(({ attempt }, i) => {
    if (seen.has(attempt.id)) return { settled: false, disabled: false }
    seen.add(attempt.id)
    return answers[i]! // an answer for each
  })
}

async function settleInParts(
  db: Database,
  settlements: readonly Settlement[],
  enqueue: boolean,
): Promise<readonly Settled[]> {
  try {
    return await settleTogether(db, settlements, enqueue)
  } catch (error) {
    if (db.bound || !isRefusal(error)) throw error
    if (settlements.length === 1) {
      const bare = settlements.map((each) => ({ ...each, error_message: null, request: null, response: null }))
      return await settleTogether(db, bare, enqueue).catch((refused: unknown) => {
        if (!isRefusal(refused)) throw refused
        return [{ settled: false, disabled: false, refused }]
      })
    }
    const half = settlements.length >> 1
    return [
      ...(await settleInParts(db, settlements.slice(0, half), enqueue)),
      ...(await settleInParts(db, settlements.slice(half), enqueue)),
    ]
  }
}

async function settleTogether(
  db: Database,
  settlements: readonly Settlement[],
  enqueue: boolean,
): Promise<readonly Settled[]> {
  if (settlements.length === 0) return []
  // Of two settlements of one attempt in a batch the first counts.
  const first = new Map<string, Settlement>()
  for (const settlement of settlements) {
    if (!first.has(settlement.attempt.id)) first.set(settlement.attempt.id, settlement)
  }
  const answers = new Map<unknown, Settled>()
  let left: readonly Settlement[] = [...first.values()]
  const jobs = await jobsOfAttempts(db, enqueue)
  // Attempts of the other form were made before step 18 of the schema, or while another queue held the jobs.
  for (const form of jobs === 'same row' ? (['same row', 'apart'] as const) : (['apart', 'same row'] as const)) {
    if (left.length === 0) break
    for (const row of await db.run(closing(db, left, form, jobs))) {
      for (const id of idsIn(row['ids'])) answers.set(id, { settled: true, disabled: row['disabled'] === true }) // these come last
    }
    left = left.filter(({ attempt }) => !answers.has(attempt.id))
  }
  if (left.length > 0) for (const [id, answer] of await settledBefore(db, left)) answers.set(id, answer)
  if (enqueue && settlements.length > first.size) await complete(db, settlements)
  return settlements.map(({ attempt }) => answers.get(attempt.id) ?? { settled: false, disabled: false })
}

/**
 * The statement that closes attempts that are open in one form. Where the queue is the engine's own it completes the claims too:
 * those of the attempts that it closes, and with `apart` those of attempts that were closed before.
 */
function closing(db: Database, given: readonly Settlement[], form: 'same row' | 'apart', jobs: JobsOfAttempts): Sql {
  const { t } = db
  const nexts = given.flatMap(({ attempt, next }) => (next === null ? [] : [{ ...next, follows: attempt.id }]))
  const followUps = sql`,
    ${openAttempts(
      db,
      sql`select n.*, c.workspace
        from (${newAttempts(nexts, followed)}) n
        join closed c on c.id = n.follows`,
      jobs,
      { follow: true, low: lowOf(nexts) },
    )}`
  const isAnyDisabled = given.some(({ disable }) => disable !== null)
  return sql`
    with given as materialized (
      ${rowsOf(given, ({ attempt }) => attempt.id, form === 'apart' ? outcomeColumns : { ...outcomeColumns, ...claimColumns })}
    ),
    ${form === 'apart' ? closedApart(db, jobs === null ? [] : claimsOf(given)) : closedWithJobs(db, jobs !== null)},
    ended as (
      insert into ${t.outcomes} (attempt_id, workspace, status, exhausted, attempted_at, settled_at, error_code,
        error_message, request_method, request_url, request_headers, request_body, request_from_event,
        response_status, response_latency, response_headers, response_body)
      select c.id, c.workspace, status, exhausted, attempted_at, settled_at, error_code, error_message, request_method,
        request_url, request_headers, request_body, request_from_event, response_status, response_latency,
        response_headers, response_body
      from closed c join given g on g.id = c.id
      order by c.id
    )${nexts.length > 0 ? followUps : nothing}${isAnyDisabled ? disabling(db) : nothing}${
      given.some(isLater) ? superseding(db) : nothing
    }${given.some(({ counted }) => counted !== null) ? noting(db, given) : nothing}
    select ${joinedIds} as ids, false as disabled from closed
    ${isAnyDisabled ? sql`union all select ${joinedIds}, true from (select by as id from disabled) d` : nothing}`
}

/** Parts of the `with` that close attempts of `open_attempts`, and complete claims. */
function closedApart(db: Database, claims: readonly Claim[]): Sql {
  const { t } = db
  const completed = sql`,
    locked as (${lockedHolds(db, claims)}),
    completed as (delete from ${t.jobs} j using locked where j.id = locked.id and j.workspace is null)`
  return sql`
    open as (${opened(t.open_attempts, t)}),
    closed as (
      delete from ${t.open_attempts} o using open where o.id = open.id returning o.id, o.workspace
    )${claims.length > 0 ? completed : nothing}`
}

/**
 * Parts of the `with` that close attempts which are jobs. A job that somebody else holds stays a job until the holder completes
 * it; so do all where another queue is used.
 */
function closedWithJobs({ t }: Database, isOwnQueue: boolean): Sql {
  const isDone = isOwnQueue ? raw('g.claim_token is not distinct from o.token') : raw('false')
  return sql`
    open as (${opened(t.jobs, t, sql`, ${isDone} as is_done`)}),
    completed as (
      delete from ${t.jobs} j using open where j.id = open.id and open.is_done returning j.id, j.workspace
    ),
    kept as (
      update ${t.jobs} j set workspace = null, apart = null from open where j.id = open.id and not open.is_done
      returning j.id, open.workspace
    ),
    closed as (select id, workspace from completed union all select id, workspace from kept)`
}

/** The rows of a table that are the open attempts given, locked in the order of ids. */
function opened(table: Sql, t: Tables, more: Sql = nothing): Sql {
  return sql`
    select o.id, o.workspace${more} from ${table} o
    join given g on g.id = o.id
    join ${t.workspaces} w on w.key = o.workspace and w.id = g.workspace_id
    where o.id = any(array(select id from given))
    order by o.id for update of o`
}

function claimsOf(settlements: readonly Settlement[]): readonly Claim[] {
  return settlements.flatMap(({ claim }) => claim ?? [])
}

/** Completes the claims of attempts that were closed. */
async function complete(db: Database, settlements: readonly Settlement[]): Promise<void> {
  await db.run(sql`
    with locked as (${lockedHolds(db, claimsOf(settlements))})
    delete from ${db.t.jobs} j using locked where j.id = locked.id and j.workspace is null`)
}

function answersOf(rows: readonly Row[]): Map<unknown, Settled> {
  return new Map(rows.map((row) => [row['id'], { settled: true, disabled: row['disabled'] === true }]))
}

/** Which attempts these very settlements closed, by an earlier call. */
async function settledBefore({ run, t }: Database, settlements: readonly Settlement[]): Promise<Map<unknown, Settled>> {
  const given = settlements.map(({ attempt, workspaceId, status, attempted_at, settled_at, next, disable }) => ({
    id: attempt.id,
    workspace_id: workspaceId,
    endpoint_id: attempt.endpoint_id,
    status,
    attempted_at,
    settled_at,
    next_id: next?.id,
    disable: disable !== null,
  }))
  const rows = await run(sql`
    with given as materialized (
      select * from jsonb_to_recordset(${json(given)}::text::jsonb)
        as g (id text collate "C", workspace_id text collate "C", endpoint_id text collate "C", status text,
          attempted_at bigint, settled_at bigint, next_id text collate "C", disable boolean)
    )
    select o.attempt_id as id, g.disable and coalesce((
        select not e.enabled and e.updated_at = g.settled_at from ${t.endpoints} e
        where e.id = g.endpoint_id and e.workspace = o.workspace
      ), false) as disabled
    from ${t.outcomes} o
    join given g on g.id = o.attempt_id
    where o.attempt_id = any(array(select id from given))
      and o.workspace = (select key from ${t.workspaces} w where w.id = g.workspace_id)
      and o.status = g.status and o.settled_at = g.settled_at and o.attempted_at is not distinct from g.attempted_at
      and (g.next_id is null or (select true from ${t.attempts} a where a.id = g.next_id))`)
  return answersOf(rows)
}

/** Parts of the `with` that disable the endpoints that still have the url that was judged, and say by which attempt. */
function disabling({ t }: Database): Sql {
  return sql`,
    judged as (
      select distinct on (e.id) e.id, e.workspace, g.id as by, g.disable_url, g.settled_at
      from closed c join given g on g.id = c.id
      join ${t.endpoints} e on e.id = g.endpoint_id and e.workspace = c.workspace
      where e.enabled and e.url = g.disable_url
      order by e.id, g.n
    ),
    raised as (
      update ${t.workspaces} w set revision = nextval('${t.revision_numbers}')
      where w.key in (select workspace from judged) returning w.key, w.revision
    ),
    disabled as (
      update ${t.endpoints} e set enabled = false, updated_at = j.settled_at, revision = r.revision
      from judged j join raised r on r.key = j.workspace
      where e.id = j.id and e.enabled and e.url = j.disable_url
      returning j.by
    )`
}

/** Whether an attempt to the same endpoint may have ended before. */
function isLater({ attempt: { attempt_number, trigger_mode } }: Settlement): boolean {
  return attempt_number > 1 || trigger_mode === 'MANUAL'
}

/**
 * Outcomes that are the last of their delivery no longer. That a delivery is retried stands until the follow-up ends. A row
 * that others hold is superseded or removed by them.
 */
function superseding({ t }: Database): Sql {
  return sql`,
    superseded as (
      update ${t.outcomes} set stands = null where attempt_id = any(array(
        select o.attempt_id
        from closed c join given g on g.id = c.id
        join ${t.attempts} a on a.event_id = g.event_id and a.endpoint_id = g.endpoint_id and a.id < g.id
        join ${t.outcomes} o on o.attempt_id = a.id
        where o.stands is not null and (o.stands <> 'RETRYING' or a.attempt_number < g.attempt_number)
        for update of o skip locked
      ))
    )`
}

/** A row with the notes of all that was closed, for the fold to count. */
function noting({ t }: Database, given: readonly Settlement[]): Sql {
  const disabled = given.some(({ disable }) => disable !== null)
    ? sql`, case when c.id in (select by from disabled) then ',1' end`
    : nothing
  return sql`,
    noted as (
      insert into ${t.notes} (noted)
      select string_agg(concat('[', c.workspace, ',', g.counted${disabled}, ']'), ',')
      from closed c join given g on g.id = c.id
      where g.counted is not null having count(*) > 0
    )`
}

const outcomeColumns: Columns<Settlement> = {
  n: ['int', (_, n) => n],
  workspace_id: ['id', ({ workspaceId }) => workspaceId],
  endpoint_id: ['id', ({ attempt }) => attempt.endpoint_id],
  status: ['text', ({ status }) => status],
  exhausted: ['boolean', ({ exhausted }) => exhausted],
  attempted_at: ['bigint', ({ attempted_at }) => attempted_at],
  settled_at: ['bigint', ({ settled_at }) => settled_at],
  error_code: ['text', ({ error_code }) => error_code],
  error_message: ['text', ({ error_message }) => storable(error_message)],
  request_method: ['text', ({ request }) => request?.method],
  request_url: ['text', ({ request }) => storable(request?.url)],
  request_headers: ['text', ({ request }) => request?.headers && storable(json(request.headers))],
  request_body: ['text', ({ request }) => storable(request?.body)],
  request_from_event: ['boolean', ({ request }) => request?.fromEvent],
  response_status: ['int', ({ response }) => response?.status],
  response_latency: ['float8', ({ response }) => response?.latency],
  response_headers: ['text', ({ response }) => response?.headers && storable(json(response.headers))],
  response_body: ['text', ({ response }) => storable(response?.body)],
  disable_url: ['text', ({ disable }) => disable?.url],
  counted: ['text', (settlement) => settlement.counted && storable(noteText(settlement, settlement.counted))],
  event_id: ['id', (settlement) => (isLater(settlement) ? settlement.attempt.event_id : null)],
  attempt_number: ['int', (settlement) => (isLater(settlement) ? settlement.attempt.attempt_number : null)],
}

const claimColumns: Columns<Settlement> = { claim_token: ['text', ({ claim }) => claim?.token] }

const followed: Columns<PlannedAttempt & { readonly follows: string }> = { follows: ['id', ({ follows }) => follows] }
