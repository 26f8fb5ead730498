import type { AttemptSought, EventHead, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { timeOfId } from '../../src/core/id.ts'
import { slackMs } from '../../src/core/id-bounds.ts'
import { number, numberOrNull } from '../sql/values.ts'
import { hasAstray, idsOfTimes } from './astray.ts'
import { isOpenAttempt } from './conditions.ts'
import type { Database } from './database.ts'
import { equals, within } from '../sql/page.ts'
import { all, nothing, raw, type Sql, sql } from '../sql/sql.ts'

/** Events that are walked by time where many come in a minute: where what is sought is dense, they are enough. */
const walkedFirst = raw('500')
/** Attempts that were made by hand whose events are looked up. */
const maxLookedUp = 1_000
/** More attempts than these are not read for a page. */
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
    const ids = await fewEvents(db, byHand(db, workspaceId, having))
    const others =
      ids === null
        ? await read(db, standing(db, workspaceId, query, { stands: ['FAILED', 'CANCELED'], isOpen: true }), query)
        : await ofIds(db, workspaceId, query, ids)
    return merged([await last(['RETRYING']), others], query)
  }

  return status === 'SUCCESSFUL'
    ? read(db, walked(db, workspaceId, query, having), query)
    : byIds(db, workspaceId, query, having)
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
  // The index of an endpoint is never to be passed over for that of a workspace.
  const workspace = raw(endpoint_id === undefined ? 'o.workspace' : 'o.workspace + 0')
  const open = sql`exists (
    select from ${t.attempts} a
    where a.event_id = o.event_id and a.endpoint_id = o.endpoint_id and ${isOpenAttempt(db, raw('a.id'))}
  )`
  return sql`(
    select distinct x.event_id from unnest(${stands}::text[]) s (stands) cross join lateral (
      select distinct on (o.event_at, o.event_id) o.event_id from ${t.outcomes} o
      where o.stands = s.stands and ${workspace} = ${keyOf(db, workspaceId)} and ${all([
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
  // Each event is looked up: a join may read a table that was large a moment ago.
  const has = sql`(
    select true from ${t.attempts} a
    where a.event_id = e.id and ${all([
      ...equals(raw('a.endpoint_id'), endpoint_id),
      ...(status === 'OPEN' ? [isOpenAttempt(db, raw('a.id'))] : []),
      ...(retried === false ? [sql`not ${failed}`] : []),
    ])} limit 1
  )`
  if (how !== 'near') return eventsOf(db, workspaceId, query, [...how, has])
  return sql`(
    select e.* from ${eventsOf(db, workspaceId, query)}
    order by ${inOrder('e.created_at', 'e.id', query.descending)} limit ${walkedFirst}
  ) e where ${has}`
}

/** The events of some attempts, of `a`; null where these are many. */
async function fewEvents({ ask }: Database, attempts: Sql): Promise<readonly string[] | null> {
  const rows = await ask(sql`select a.event_id from ${attempts} limit ${maxLookedUp + 1}::int`)
  return rows.length > maxLookedUp ? null : rows.map((row) => row['event_id'] as string)
}

/** Attempts that were made by hand, open ones or the first of an event and the endpoint. */
function byHand(
  db: Database,
  workspaceId: string,
  { endpoint_id, status }: AttemptSought,
  apart = raw('o.apart'),
): Sql {
  const { t } = db
  const mine = equals(raw('a.endpoint_id'), endpoint_id)
  return status === 'OPEN'
    ? sql`${t.open_anywhere} o join ${t.attempts} a on a.id = o.id
      where ${all([sql`o.workspace = ${keyOf(db, workspaceId)} and ${apart}`, ...mine])}`
    : sql`${t.attempts} a where ${all([sql`a.workspace = ${keyOf(db, workspaceId)} and a.first`, ...mine])}`
}

/** Attempts that were made with their events, in the order of ids, which is that of events. */
function madeWithEvents(
  db: Database,
  workspaceId: string,
  { created_at, from, descending, having }: TimelineQuery,
  window: number,
): Sql {
  const { t } = db
  const { endpoint_id, status } = having!
  const place = from === null ? undefined : descending ? { lte: from.created_at } : { gte: from.created_at }
  const conditions = [
    sql`a.workspace = ${keyOf(db, workspaceId)}`,
    ...equals(raw('a.endpoint_id'), endpoint_id),
    ...idsOfTimes(created_at, place),
  ]
  const order = raw(descending ? 'desc' : 'asc')
  if (status !== 'OPEN') {
    return sql`
      select a.id, a.event_id from ${t.attempts} a where ${all(conditions)} and a.attempt_number = 1
      order by a.id ${order} limit ${window}::int`
  }
  // Each by itself: of a table that was large a moment ago PostgreSQL would read all pages.
  const next = (beyond: Sql) => sql`
    select a.id from ${t.open_anywhere} a where ${all(conditions)} and a.apart is null ${beyond}
    order by a.id ${order} limit 1`
  return sql`
    with recursive open (id) as (
      (${next(nothing)})
      union all
      select (${next(sql`and a.id ${raw(descending ? '<' : '>')} open.id`)}) from open where open.id is not null
    ),
    few as materialized (select id from open where id is not null limit ${window}::int)
    select f.id, (select event_id from ${t.attempts} a where a.id = f.id) as event_id from few f order by f.id ${order}`
}

/**
 * Events with an open attempt, or an attempt of an endpoint, by the order of ids. Others are looked up: those with an attempt
 * that was made by hand, and events of before the oldest attempt that is kept.
 */
async function byIds(db: Database, workspaceId: string, query: TimelineQuery, having: AttemptSought): Heads {
  const { descending, limit, event_type } = query
  const walk = (how?: 'near') => read(db, walked(db, workspaceId, query, having, how), query)
  // Of a type few events are near in any case.
  const ofType = event_type === undefined ? [] : await walk('near')
  if (ofType.length >= limit) return ofType
  const part = (window: number) => db.ask(madeWithEvents(db, workspaceId, query, window))
  let window = limit * (having.status === 'OPEN' ? 2 : 3)
  const [others, isAstray, firstPart] = await Promise.all([
    fewEvents(db, byHand(db, workspaceId, having)),
    hasAstray(db, workspaceId),
    part(window),
  ])
  if (others === null || isAstray) return walk()
  const older = () => beforeAttempts(db, workspaceId, query, having)
  const first = descending ? [] : await older()
  for (let rows = firstPart; ; rows = await part((window *= 4))) {
    const ids = [...others, ...rows.map((row) => row['event_id'] as string)]
    const found = await ofIds(db, workspaceId, query, ids)
    if (rows.length < window) return merged([first, found, descending ? await older() : []], query)
    // Of events beyond this time not all attempts were read.
    const end = timeOfId(rows.at(-1)!['id'] as string)! // none is astray
    const sure = found.filter(({ created_at: at }) => (descending ? at > end + slackMs : at < end - slackMs))
    if (first.length + sure.length >= limit) return merged([first, sure], query)
    const near = rows === firstPart && event_type === undefined ? await walk('near') : []
    if (near.length >= limit) return near
    if (window * 4 > maxWindow) return walk()
  }
}

/** Events whose first attempts may be purged: open attempts that follow them are looked up. */
async function beforeAttempts(db: Database, workspaceId: string, query: TimelineQuery, having: AttemptSought): Heads {
  const { t } = db
  const workspace = keyOf(db, workspaceId)
  // Open attempts are kept, however old.
  const [oldest] = await db.ask(sql`
    select a.created_at as time from ${t.attempts} a
    where a.workspace = ${workspace} and (select true from ${t.outcomes} o where o.attempt_id = a.id)
    order by a.created_at limit 1`)
  const before = sql`e.created_at < ${numberOrNull(oldest?.['time'] ?? null) ?? Number.MAX_SAFE_INTEGER}::bigint`
  const near = await db.ask(
    sql`select 1 from ${t.events} e where e.workspace = ${workspace} and ${before} order by e.created_at limit 1`,
  )
  if (near.length === 0) return []
  const ids = having.status === 'OPEN' ? await fewEvents(db, byHand(db, workspaceId, having, raw('not o.apart'))) : null
  return ids === null
    ? read(db, walked(db, workspaceId, query, having, [before]), query)
    : ofIds(db, workspaceId, query, ids)
}

/** The nearest of all, each once. */
function merged(lists: readonly (readonly EventHead[])[], { descending, limit }: TimelineQuery): readonly EventHead[] {
  const heads = [...new Map(lists.flat().map((head) => [head.id, head])).values()]
  heads.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
  return (descending ? heads.toReversed() : heads).slice(0, limit)
}
