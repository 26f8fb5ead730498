import type { AttemptSought, EventHead, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { timeOfId } from '../../src/core/id.ts'
import { slackMs } from '../../src/core/id-bounds.ts'
import { number, numberOrNull } from '../sql/values.ts'
import { hasAstray, idsOfTimes } from './astray.ts'
import type { Database } from './database.ts'
import { equals, within } from '../sql/page.ts'
import { all, raw, type Sql, sql } from '../sql/sql.ts'

/** Events that are walked by time before an index is asked: where what is sought is dense, they are enough. */
const walkedFirst = raw('500')
/** Open attempts, and attempts of an endpoint, whose events are looked up. */
const maxLookedUp = 1_000
/** Attempts of an endpoint among which a page is looked for, at first and at last. */
const firstWindow = 100
const maxWindow = 10_000

type Heads = Promise<readonly EventHead[]>

/** Events in the order of time. With `having` they are found by attempts where few events have such an attempt. */
export async function timeline(db: Database, workspaceId: string, query: TimelineQuery): Heads {
  const { having } = query
  if (having === undefined) return read(db, eventsOf(db, workspaceId, query), query)
  const { status, exhausted, retried } = having
  const last = (stands: readonly string[]) => read(db, standing(db, workspaceId, query, { stands }), query)
  if (status === 'FAILED') return last(exhausted === true ? ['FAILED'] : ['FAILED', 'RETRYING'])
  if (status === 'CANCELED') return last(['CANCELED'])
  if (status === 'OPEN' && retried === true) {
    const ids = await openEvents(db, workspaceId, having)
    const others =
      ids === null
        ? await read(db, standing(db, workspaceId, query, { stands: ['FAILED', 'CANCELED'], isOpen: true }), query)
        : await ofIds(db, workspaceId, query, ids)
    return merged([await last(['RETRYING']), others], query)
  }

  const near = await read(db, walked(db, workspaceId, query, having, 'near'), query)
  if (near.length >= query.limit) return near
  if (status === undefined) return ofEndpoint(db, workspaceId, query, having)
  const ids = status === 'OPEN' ? await openEvents(db, workspaceId, having) : null
  return ids === null ? read(db, walked(db, workspaceId, query, having), query) : ofIds(db, workspaceId, query, ids)
}

/** Reads heads of events, `e` in `from`. */
async function read({ ask }: Database, from: Sql, { descending, limit }: TimelineQuery): Heads {
  const rows = await ask(sql`
    select e.id, e.event_type, e.unique_id, e.created_at from ${from}
    order by ${inOrder('e.created_at', 'e.id', descending)} limit ${limit}::int`)
  return rows.map((row) => ({
    id: row['id'] as string,
    event_type: row['event_type'] as string,
    unique_id: row['unique_id'] as string | null,
    created_at: number(row['created_at']),
  }))
}

function inOrder(time: string, id: string, descending: boolean): Sql {
  const direction = descending ? 'desc' : 'asc'
  return raw(`${time} ${direction}, ${id} ${direction}`)
}

const keyOf = ({ t }: Database, workspaceId: string) =>
  sql`(select key from ${t.workspaces} where id = ${workspaceId}::text)`

/** Events that meet all but `having`. */
function eventsOf(db: Database, workspaceId: string, query: TimelineQuery, more: readonly Sql[] = []): Sql {
  const { ids } = query
  return sql`${db.t.events} e where ${all([
    sql`e.workspace = ${keyOf(db, workspaceId)}`,
    ...(ids === undefined ? [] : [sql`e.id = any(${ids}::text[])`]),
    ...equals(raw('e.event_type'), query.event_type),
    ...placed('e.created_at', 'e.id', query),
    ...more,
  ])}`
}

/** The conditions of time and place. The index of events knows the time alone. */
function placed(time: string, id: string, { created_at, from, descending }: TimelineQuery): readonly Sql[] {
  const bounds = within(raw(time), created_at)
  if (from === null) return bounds
  const beyond = raw(descending ? '<' : '>')
  const at = sql`${from.created_at}::bigint`
  return [
    ...bounds,
    sql`${raw(time)} ${beyond}= ${at}
      and (${raw(time)} ${beyond} ${at} or ${raw(id)} ${beyond}${raw(from.inclusive ? '=' : '')} ${from.id}::text)`,
  ]
}

async function ofIds(db: Database, workspaceId: string, query: TimelineQuery, ids: readonly string[]): Heads {
  if (ids.length === 0) return []
  return read(db, eventsOf(db, workspaceId, query, [sql`e.id = any(${ids}::text[])`]), query)
}

/** Events by the last outcomes of their deliveries, where these are no successes. `isOpen`: and another try is open. */
function standing(
  db: Database,
  workspaceId: string,
  query: TimelineQuery,
  { stands, isOpen = false }: { stands: readonly string[]; isOpen?: boolean },
): Sql {
  const { t } = db
  const { endpoint_id, response_status } = query.having!
  const open = sql`exists (
    select from ${t.attempts} a join ${t.open_attempts} n on n.id = a.id
    where a.event_id = o.event_id and a.endpoint_id = o.endpoint_id
  )`
  return sql`(
    select distinct x.event_id from unnest(${stands}::text[]) s (stands) cross join lateral (
      select distinct on (o.event_at, o.event_id) o.event_id from ${t.outcomes} o
      where o.stands = s.stands and o.workspace = ${keyOf(db, workspaceId)} and ${all([
        ...equals(raw('o.endpoint_id'), endpoint_id),
        ...equals(raw('o.event_type'), query.event_type),
        ...(response_status === undefined ? [] : [sql`o.response_status = ${response_status}::int`]),
        ...(query.ids === undefined ? [] : [sql`o.event_id = any(${query.ids}::text[])`]),
        ...placed('o.event_at', 'o.event_id', query),
        ...(isOpen ? [open] : []),
      ])}
      order by ${inOrder('o.event_at', 'o.event_id', query.descending)} limit ${query.limit}::int
    ) x
  ) y join ${t.events} e on e.id = y.event_id`
}

/** Events by time, each with an attempt that is sought; `near`: the nearest alone are looked at. */
function walked(
  db: Database,
  workspaceId: string,
  query: TimelineQuery,
  { endpoint_id, status, retried }: AttemptSought,
  how: 'near' | readonly Sql[] = [],
): Sql {
  const { t } = db
  const failed = sql`exists (
    select from ${t.attempts} f join ${t.outcomes} o on o.attempt_id = f.id
    where f.event_id = a.event_id and f.endpoint_id = a.endpoint_id and o.status = 'FAILED'
  )`
  const has = sql`exists (
    select from ${t.attempts} a ${status === 'OPEN' ? sql`join ${t.open_attempts} n on n.id = a.id` : raw('')}
    where a.event_id = e.id and ${all([
      ...equals(raw('a.endpoint_id'), endpoint_id),
      ...(retried === false ? [sql`not ${failed}`] : []),
    ])}
  )`
  if (how !== 'near') return eventsOf(db, workspaceId, query, [...how, has])
  return sql`(
    select e.* from ${eventsOf(db, workspaceId, query)}
    order by ${inOrder('e.created_at', 'e.id', query.descending)} limit ${walkedFirst}
  ) e where ${has}`
}

/**
 * The events of open attempts that follow no other; null where these are many. Each attempt is looked up by itself: of a table
 * that was large a moment ago PostgreSQL would read all pages.
 */
async function openEvents(
  { ask, t }: Database,
  workspaceId: string,
  { endpoint_id }: AttemptSought,
): Promise<readonly string[] | null> {
  const next = (before: Sql) => sql`
    select o.id from ${t.open_attempts} o where ${all([
      before,
      sql`o.workspace = (select key from ${t.workspaces} where id = ${workspaceId}::text) and o.follows is not true`,
      ...equals(raw('o.endpoint_id'), endpoint_id),
    ])} order by o.id desc limit 1`
  const rows = await ask(sql`
    with recursive open (id) as (
      (${next(raw('true'))})
      union all
      select (${next(sql`o.id < open.id`)}) from open where open.id is not null
    ),
    few as materialized (select id from open where id is not null limit ${maxLookedUp + 1}::int)
    select a.event_id from few s cross join lateral (select event_id from ${t.attempts} where id = s.id) a`)
  return rows.length > maxLookedUp ? null : rows.map((row) => row['event_id'] as string)
}

/**
 * Events with an attempt of an endpoint. Where the first attempt of an event and the endpoint was made with the event, ids of
 * attempts come in the order of events. Others are looked up: those that were first made by hand, and events of before the
 * oldest attempt that is kept.
 */
async function ofEndpoint(db: Database, workspaceId: string, query: TimelineQuery, having: AttemptSought): Heads {
  const { ask, t } = db
  const { descending, created_at, from, limit } = query
  const mine = sql`a.workspace = ${keyOf(db, workspaceId)} and a.endpoint_id = ${having.endpoint_id!}::text` // or it has a status
  const byHand = await ask(
    sql`select a.event_id from ${t.attempts} a where ${mine} and a.first limit ${maxLookedUp + 1}::int`,
  )
  if (byHand.length > maxLookedUp || (await hasAstray(db, workspaceId))) {
    return read(db, walked(db, workspaceId, query, having), query)
  }
  const [oldest] = await ask(sql`
    select min(a.created_at) as time from ${t.attempts} a where a.workspace = ${keyOf(db, workspaceId)}`)
  const time = numberOrNull(oldest!['time']) // a minimum is one row
  if (time === null) return []
  const before = sql`e.created_at < ${time}::bigint`
  const older = () => read(db, walked(db, workspaceId, query, having, [before]), query)
  const place = from === null ? undefined : descending ? { lte: from.created_at } : { gte: from.created_at }
  const ids = byHand.map((row) => row['event_id'] as string)
  const first = descending ? [] : await older()
  for (let window = firstWindow; window < maxWindow; window *= 4) {
    const rows = await ask(sql`
      select a.id, a.event_id from ${t.attempts} a
      where ${all([mine, raw('a.attempt_number = 1'), ...idsOfTimes(created_at, place)])}
      order by a.id ${raw(descending ? 'desc' : 'asc')} limit ${window}::int`)
    const found = await ofIds(db, workspaceId, query, [...ids, ...rows.map((row) => row['event_id'] as string)])
    if (rows.length < window) return merged([first, found, descending ? await older() : []], query)
    // Of events beyond this time not all attempts were read.
    const end = timeOfId(rows.at(-1)!['id'] as string)! // none is astray
    const sure = found.filter(({ created_at: at }) => (descending ? at > end + slackMs : at < end - slackMs))
    if (first.length + sure.length >= limit) return merged([first, sure], query)
  }
  return read(db, walked(db, workspaceId, query, having), query)
}

/** The nearest of all, each once. */
function merged(lists: readonly (readonly EventHead[])[], { descending, limit }: TimelineQuery): readonly EventHead[] {
  const heads = [...new Map(lists.flat().map((head) => [head.id, head])).values()]
  heads.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
  return (descending ? heads.toReversed() : heads).slice(0, limit)
}
