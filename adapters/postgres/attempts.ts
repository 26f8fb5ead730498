import type { AttemptQuery, Attempts, PlannedAttempt } from '../../src/contracts/storage/attempts.ts'
import { type IdBounds, idBounds, idOfDue, slackMs } from '../../src/core/id-bounds.ts'
import { minuteMs, startOf } from '../../src/core/periods.ts'
import { number } from '../sql/values.ts'
import { attemptOf } from './attempt-rows.ts'
import { hasAstray, idsWithin } from './astray.ts'
import { isTried } from './conditions.ts'
import type { Database } from './database.ts'
import { type JobsOfAttempts, jobsOfAttempts, lowOf, newAttempts, openAttempts } from './open-attempts.ts'
import { equals, pageOf, within } from '../sql/page.ts'
import { deliveryOf, loading } from './loading.ts'
import { overdue } from './overdue.ts'
import { settle } from './settle.ts'
import { all, nothing, raw, type Sql, sql } from '../sql/sql.ts'
import type { Tables } from './tables.ts'
import type { Notify } from './notify.ts'

const attemptColumns = raw(
  `a.id, a.event_id, a.endpoint_id, a.attempt_number, a.trigger_mode, a.scheduled_at, a.created_at`,
)
const outcomeColumns = raw(`o.status, o.exhausted, o.attempted_at, o.settled_at, o.error_code, o.error_message,
  o.request_method, o.request_url, o.request_from_event, o.response_status, o.response_latency`)
const capturedColumns = raw('o.request_headers, o.request_body, o.response_headers, o.response_body')

export function postgresAttempts(db: Database, notify: Notify): Attempts {
  const { run, ask, t } = db

  /**
   * Bounds of ids that follow from the times asked for, unless the workspace has an attempt whose id says nothing of
   * the attempt's time.
   */
  async function idsOf(workspaceId: string, query: AttemptQuery): Promise<TimedIds> {
    const { created_at, scheduled_at, scheduled_at_by_hand } = query
    const bounds = idBounds({
      ...(created_at !== undefined && { created_at }),
      ...(scheduled_at !== undefined && scheduled_at_by_hand === undefined && { scheduled_at }),
    })
    const due = scheduled_at === undefined || scheduled_at_by_hand !== undefined ? null : idOfDue(scheduled_at)
    if (bounds.from === null && bounds.to === null && due === null) return none
    return (await hasAstray(db, workspaceId)) ? none : { ...bounds, due }
  }

  return {
    async load(ids) {
      const rows = await run(sql`
        select l.* from unnest(${ids}::text[]) g (id) cross join lateral (${loading(db, raw('g.id'))}) l`)
      const deliveries = new Map(rows.map((row) => [row['id'] as string, deliveryOf(row)]))
      return ids.flatMap((id) => deliveries.get(id) ?? [])
    },

    async settle(settlements, { enqueue }) {
      const answers = await settle(db, settlements, enqueue)
      const disabled = settlements.filter((_, i) => answers[i]?.disabled)
      // An attempt that falls due later is found by this process, and by any process that polls then.
      const followed = settlements.some(
        ({ next, settled_at }, i) => answers[i]?.settled && next !== null && next.scheduled_at <= settled_at,
      )
      await notify(
        ...disabled.map(({ workspaceId }) => ({ workspaceId })),
        ...(enqueue && followed ? (['jobs'] as const) : []),
      )
      return answers
    },

    async add(workspaceId, attempts, { enqueue, first = false }) {
      if (attempts.length === 0) return []
      const made = new Set<unknown>()
      const jobs = await jobsOfAttempts(db, enqueue)
      const addLeft = async (): Promise<void> => {
        const left = attempts.filter(({ id }) => !made.has(id))
        for (const row of await run(adding(db, workspaceId, left, jobs, first))) made.add(row['id'])
      }
      await addLeft()
      if (enqueue && made.size > 0) await notify('jobs')
      const there = async (): Promise<void> => {
        const left = attempts.map(({ id }) => id).filter((id) => !made.has(id))
        if (left.length === 0) return
        const rows = await run(sql`
          select a.id from ${t.attempts} a join ${t.workspaces} w on w.key = a.workspace
          where w.id = ${workspaceId}::text and a.id = any(${left}::text[])`)
        for (const row of rows) made.add(row['id'])
      }
      await there()
      // Another attempt became the first of the same event and endpoint at the same moment. Now that attempt is seen.
      if (!first && made.size < attempts.length) await addLeft()
      return attempts.map(({ id }) => made.has(id))
    },

    async get(workspaceId, id) {
      const [row] = await run(sql`
        select ${attemptColumns}, ${outcomeColumns}, ${capturedColumns}, ${eventType(t)} as event_type
        from ${t.attempts} a
        join ${t.workspaces} w on w.key = a.workspace
        left join ${t.outcomes} o on o.attempt_id = a.id
        where w.id = ${workspaceId}::text and a.id = ${id}::text`)
      return row === undefined ? null : attemptOf(row)
    },

    async list(workspaceId, query) {
      const { status, unique_id, response_status } = query
      const workspace = sql`(select key from ${t.workspaces} where id = ${workspaceId}::text)`
      const finished = status !== undefined && status !== 'OPEN'
      const sameIds = finished ? [raw('o.attempt_id')] : status === 'OPEN' ? [raw('open.id')] : []
      const ofEvent = query.event_id !== undefined || unique_id !== undefined
      const byTime = ofEvent ? none : await idsOf(workspaceId, query)
      return pageOf(
        db,
        {
          columns: sql`${attemptColumns}, ${outcomeColumns}, ${eventType(t)} as event_type`,
          from: (
            upwards,
          ) => sql`${byTime.due === null ? t.attempts : dueOf(db, workspace, query, byTime.due, upwards)} a
            ${finished || byTime.due === null ? sql`${raw(finished ? '' : 'left')} join ${t.outcomes} o on o.attempt_id = a.id` : outcomeOf(t)}
            ${status === 'OPEN' ? sql`join ${t.open_anywhere} open on open.id = a.id` : nothing}`,
          where: all([
            sql`a.workspace = ${workspace}`,
            ...(finished ? [sql`o.workspace = ${workspace} and o.status = ${status}::text`] : []),
            ...(status === 'OPEN' ? [sql`open.workspace = ${workspace}`] : []),
            ...equals(raw('a.event_id'), query.event_id),
            ...(unique_id === undefined
              ? []
              : [
                  sql`a.event_id = (select u.event_id from ${t.unique_ids} u
                    where u.workspace = ${workspace} and u.unique_id = ${unique_id}::text)`,
                ]),
            ...equals(raw('a.endpoint_id'), query.endpoint_id),
            ...equals(raw('a.trigger_mode'), query.trigger_mode),
            ...equals(raw('o.error_code'), query.error_code),
            ...(response_status === undefined ? [] : [sql`o.response_status = ${response_status}::int`]),
            ...(query.final === undefined ? [] : [sql`${isFinal} is ${raw(query.final ? 'true' : 'not true')}`]),
            ...equals(eventType(t), query.event_type),
            ...within(raw('a.created_at'), query.created_at),
            ...dueWithin(query),
            ...within(raw('o.attempted_at'), query.attempted_at),
            ...idsWithin([raw('a.id'), ...sameIds], byTime),
          ]),
          id: raw('a.id'),
          sameIds,
        },
        query,
        attemptOf,
      )
    },

    async ofEvents(workspaceId, eventIds, { endpointId, after = null, descending = false, limit }) {
      if (eventIds.length === 0) return []
      const order = raw(descending ? 'desc' : 'asc')
      const beyond =
        after && sql`(a.endpoint_id, a.id) ${raw(descending ? '<' : '>')} (${after[0]}::text, ${after[1]}::text)`
      // Event by event: what lies beyond the limit is not read.
      const rows = await ask(sql`
        select ${attemptColumns}, ${outcomeColumns}, ${eventType(t)} as event_type
        from unnest(${eventIds}::text[]) with ordinality g (id, n) cross join lateral (
          select * from ${t.attempts} a
          where ${all([
            sql`a.event_id = g.id`,
            sql`a.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text)`,
            ...equals(raw('a.endpoint_id'), endpointId),
            ...(beyond === null ? [] : [beyond]),
          ])}
          order by a.endpoint_id ${order}, a.id ${order} limit ${limit}::int
        ) a ${outcomeOf(t)}
        order by g.n, a.endpoint_id ${order}, a.id ${order} limit ${limit}::int`)
      return rows.map(attemptOf)
    },

    async overdue(options) {
      return (await run(overdue(db, options))).map((row) => ({
        id: row['id'] as string,
        workspace: row['workspace_id'] as string,
        group: row['endpoint_id'] as string,
        due_at: number(row['scheduled_at']),
      }))
    },

    async undelivered(workspaceId, { status, event_types, endpoint_id, created_at, attempted_at, after, limit }) {
      const statuses = status === undefined ? ['FAILED', 'CANCELED'] : [status]
      const ofEvent = [
        ...within(raw('e.created_at'), created_at),
        ...(event_types === undefined ? [] : [sql`e.event_type = any(${event_types}::text[])`]),
      ]
      // Status by status, as the index has them in order: else all that ended without success would be read and sorted.
      const rows = await ask(sql`
        select x.id, x.event_id, x.endpoint_id from unnest(${statuses}::text[]) s (status) cross join lateral (
          select a.id, a.event_id, a.endpoint_id
          from ${t.outcomes} o join ${t.attempts} a on a.id = o.attempt_id
          where o.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text) and ${all([
            sql`o.status = s.status and o.status <> 'SUCCESSFUL' and (o.status = 'CANCELED' or o.exhausted)`,
            sql`a.trigger_mode <> 'TEST'`,
            ...(after === null ? [] : [sql`o.attempt_id > ${after}::text`]),
            ...equals(raw('a.endpoint_id'), endpoint_id),
            ...within(raw('o.attempted_at'), attempted_at),
            ...(ofEvent.length === 0
              ? []
              : [sql`(select true from ${t.events} e where e.id = a.event_id and ${all(ofEvent)} limit 1)`]),
            sql`(
              select true from ${t.attempts} later
              where later.event_id = a.event_id and later.endpoint_id = a.endpoint_id and later.id > a.id
              limit 1
            ) is null`,
          ])}
          order by o.attempt_id limit ${limit}::int
        ) x
        order by x.id limit ${limit}::int`)
      return rows.map((row) => ({
        attemptId: row['id'] as string,
        event_id: row['event_id'] as string,
        endpoint_id: row['endpoint_id'] as string,
      }))
    },

    async missing(workspaceId, { endpoint_id, created_at, after, limit }) {
      const rows = await ask(sql`
        with looked as materialized (
          select e.id, e.event_type from ${t.events} e
          where e.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text)
            and ${all([...(after === null ? [] : [sql`e.id > ${after}::text`]), ...within(raw('e.created_at'), created_at)])}
          order by e.id limit ${limit + 1}::int
        )
        select l.id, l.event_type, ${isTried(db, raw('l.id'), sql`${endpoint_id}::text`)} as tried
        from looked l order by l.id`)
      const looked = rows.slice(0, limit)
      const untried = looked.filter((row) => row['tried'] === false)
      return {
        events: untried.map((row) => ({ id: row['id'] as string, event_type: row['event_type'] as string })),
        next: rows.length <= limit ? null : (looked.at(-1)?.['id'] as string),
      }
    },

    async tallies(since) {
      const from = startOf(since, minuteMs)
      const rows = await run(sql`
        select w.id, c.endpoint_id, sum(c.total) as total, sum(c.failed) as failed
        from ${t.workspaces} w cross join lateral (
          select s.endpoint_id, s.succeeded + s.failed as total, s.failed from ${t.minute_sums} s
          where s.workspace = w.key and s.time >= ${from}::bigint and s.succeeded + s.failed > 0
          union all
          -- What the version before counts.
          select o.endpoint_id, o.total, o.failed from ${t.tallies} o
          where o.workspace = w.key and o.minute >= ${from / minuteMs}::bigint
        ) c
        group by w.id, c.endpoint_id`)
      return rows.map((row) => ({
        workspaceId: row['id'] as string,
        endpointId: row['endpoint_id'] as string,
        total: number(row['total']),
        failed: number(row['failed']),
      }))
    },
  }
}

const isFinal = raw(`(o.status in ('SUCCESSFUL', 'CANCELED') or o.exhausted)`)

/** The type of the event of an attempt: a row more to read for each row of a page, and no join for the planner to begin with. */
function eventType(t: Tables): Sql {
  return sql`(select e.event_type from ${t.events} e where e.id = a.event_id)`
}

interface TimedIds extends IdBounds {
  /** Attempts below this id were made long before they fell due. */
  readonly due: string | null
}

const none: TimedIds = { from: null, to: null, due: null }

/** The outcome of an attempt, looked up: as a join of parts in order PostgreSQL would read all outcomes up to them. */
function outcomeOf(t: Tables): Sql {
  return sql`left join lateral (select * from ${t.outcomes} where attempt_id = a.id limit 1) o on true`
}

/**
 * Attempts that fall due in a range: those made about then, and those made long before, each by an index. Each part is in the
 * order of ids, so that a page reads no more of the parts than it answers.
 */
function dueOf({ t }: Database, workspace: Sql, { scheduled_at }: AttemptQuery, id: string, upwards: boolean): Sql {
  const part = (condition: Sql) => sql`(
    select * from ${t.attempts}
    where ${all([sql`workspace = ${workspace}`, condition, ...within(raw('scheduled_at'), scheduled_at)])}
    order by id ${raw(upwards ? 'asc' : 'desc')}
  )`
  const isLater = sql`id < ${id}::text and scheduled_at > created_at + ${raw(String(slackMs))}`
  return sql`(${part(sql`id >= ${id}::text`)} union all ${part(isLater)})`
}

/** The statement that adds attempts to events that exist. */
function adding(
  db: Database,
  workspaceId: string,
  attempts: readonly PlannedAttempt[],
  jobs: JobsOfAttempts,
  first: boolean,
): Sql {
  const { t } = db
  const isFirst = sql`not ${isTried(db, raw('g.event_id'), raw('g.endpoint_id'))}`
  const found = sql`
    select distinct on (g.id) g.*, k.workspace, case when ${isFirst} then true end as first
    from given g join kept k on k.id = g.event_id`
  return sql`
    with given as (
      ${newAttempts(attempts)}
    ),
    -- A purge may not take an event while an attempt is added to it.
    kept as materialized (
      select e.id, e.workspace from ${t.events} e join ${t.workspaces} w on w.key = e.workspace
      where w.id = ${workspaceId}::text and e.id = any(array(select event_id from given))
      order by e.id for key share of e
    ),
    -- A purge that did not see that lock fails on this row.
    revisits as (insert into ${t.revisited} (event_id) select id from kept order by id on conflict do nothing),
    ${openAttempts(db, first ? sql`select * from (${found}) f where first` : found, jobs, { byHand: true, low: lowOf(attempts) })}
    select id from made`
}

function dueWithin({ scheduled_at, scheduled_at_by_hand: byHand }: AttemptQuery): readonly Sql[] {
  const others = within(raw('a.scheduled_at'), scheduled_at)
  if (byHand === undefined) return others
  const manual = byHand === null ? raw('false') : all(within(raw('a.scheduled_at'), byHand))
  return [sql`case when a.trigger_mode = 'MANUAL' then ${manual} else ${all(others)} end`]
}
