import { inRange } from '../../src/core/time-range.ts'
import type { EventHead, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { timeOfId, timePrefix } from '../../src/core/id.ts'
import { eventSlackMs, type IdBounds, isEventAstray } from '../../src/core/id-bounds.ts'
import type { Connection } from './client.ts'
import { workspaceNumber } from './collection.ts'
import { eventFunctions } from './event-script.ts'
import { eventRow, whereIn } from './filters.ts'
import { narrowest, type Walk } from './narrowed.ts'
import { listing } from './page.ts'
import { chunks, run, script } from './scripts.ts'

// Redis has no index of events by time, and most events need none: their ids tell it. Those whose ids do not stand in an
// index of their own. The timeline is both, merged: see narrowed.ts.

/** ARGV: room, ids. Answers the row of each event that exists. */
const rows = script(
  `${eventFunctions}
local reply = {}
for i = 2, #ARGV do
  local event = redis.call('HMGET', tag .. ':event:' .. nameOfEvent(ARGV[i]), 'room', 'row')
  if event[1] == ARGV[1] then reply[#reply + 1] = event[2] end
end
return reply`,
  { again: true },
)

export async function redisTimeline(
  connection: Connection,
  tag: string,
  workspaceId: string,
  query: TimelineQuery,
): Promise<readonly EventHead[]> {
  const { descending, limit, ids } = query
  const order = (a: EventHead, b: EventHead): number => {
    const upwards = a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
    return descending ? -upwards : upwards
  }
  if (ids !== undefined) {
    const room = await workspaceNumber(connection, tag, workspaceId)
    if (room === null) return []
    const named = await headsOf(connection, tag, room, [...new Set(ids)])
    return named
      .filter((head) => isListed(head, query))
      .toSorted(order)
      .slice(0, limit)
  }
  const found = await narrowest(connection, tag, workspaceId, query)
  if (found === null) return []
  const { room, walk } = found
  const ours = byId(connection, tag, room, walk, query, order)
  const others = byTime(connection, tag, room, walk, query)
  const heads: EventHead[] = []
  // An event may come more than once.
  const add = (head: EventHead) => void (head.id !== heads.at(-1)?.id && heads.push(head))
  let [our, other] = [await ours.next(), await others.next()]
  while (heads.length < limit && !(our.done && other.done)) {
    if (other.done || (!our.done && order(our.value, other.value) < 0)) {
      add(our.value!) // one of the two exists
      our = await ours.next()
    } else {
      add(other.value)
      other = await others.next()
    }
  }
  return heads
}

/** Events whose ids, or those of their attempts, tell their time, in the order of time. An event is answered once no other can come before it. */
async function* byId(
  connection: Connection,
  tag: string,
  room: string,
  { ids }: Walk,
  query: TimelineQuery,
  order: (a: EventHead, b: EventHead) => number,
): AsyncGenerator<EventHead, undefined> {
  if (ids === null) return undefined
  const { name, kind, where } = ids
  const { created_at, descending, limit } = query
  const listed = listing<{ readonly id: string; readonly head: EventHead }>(connection, tag, {
    index: `room:${room}:${name}`,
    where: [...where, ...whereIn('created', created_at)],
    within: endOf(query),
    exact: true,
    kind,
    fields: [kind === 'event' ? 'row' : eventRow],
    parse: (id, [row]) => (row === '' ? null : { id, head: headOf(row!) }),
  })
  let waiting: EventHead[] = []
  for await (const batch of listed.walk(startOf(query), !descending, limit + 1, 0)) {
    let walked: number | null = null
    for (const { id, head } of batch) {
      if (isEventAstray({ id, created_at: head.created_at })) continue
      walked = timeOfId(id)
      if (isListed(head, query)) waiting.push(head)
    }
    if (walked === null) continue
    const reached = walked
    waiting.sort(order)
    // Times of those to come are not after their ids' times, and not more than the slack before.
    const ready = waiting.filter((head) =>
      descending ? head.created_at > reached : head.created_at < reached - eventSlackMs,
    )
    waiting = waiting.slice(ready.length)
    yield* ready
  }
  yield* waiting
  return undefined
}

/** Where to stop: beyond it no id has a time of the range. */
function endOf({ created_at = {}, descending }: TimelineQuery): IdBounds {
  const { eq, gt, gte, lt, lte } = created_at
  const lowest = [eq, gt, gte].filter((time) => time !== undefined)
  const highest = [eq, lt, lte].filter((time) => time !== undefined)
  return {
    from: descending && lowest.length > 0 ? timePrefix(Math.max(...lowest)) : null,
    to: !descending && highest.length > 0 ? timePrefix(Math.min(...highest) + eventSlackMs + 1) : null,
  }
}

/** An id strictly before all ids to be looked at. */
function startOf({ created_at = {}, from, descending }: TimelineQuery): string | null {
  const bounds = descending
    ? [created_at.eq, created_at.lt, created_at.lte, from?.created_at]
    : [created_at.eq, created_at.gt, created_at.gte, from?.created_at]
  const times = bounds.filter((time) => time !== undefined)
  if (times.length === 0) return null
  return timePrefix(descending ? Math.min(...times) + eventSlackMs + 1 : Math.max(...times))
}

/** The other events, which Redis holds in the order of time, some of them with attempts behind a space. */
async function* byTime(
  connection: Connection,
  tag: string,
  room: string,
  { times }: Walk,
  query: TimelineQuery,
): AsyncGenerator<EventHead, undefined> {
  if (times === null) return undefined
  const { created_at: { eq, gt, gte, lt, lte } = {}, from, descending, limit } = query
  const lowest = [eq, gt, gte, descending ? undefined : from?.created_at].filter((time) => time !== undefined)
  const highest = [eq, lt, lte, descending ? from?.created_at : undefined].filter((time) => time !== undefined)
  const low = lowest.length === 0 ? '-inf' : String(Math.max(...lowest))
  const high = highest.length === 0 ? '+inf' : String(Math.min(...highest))
  const [command, ...ends] = descending ? ['ZREVRANGEBYSCORE', high, low] : ['ZRANGEBYSCORE', low, high]
  for (let skipped = 0; ; skipped += limit) {
    const args = [`${tag}:room:${room}:${times}`, ...ends, 'LIMIT', String(skipped), String(limit)]
    const members = (await connection.send(command, args, true)) as readonly string[] // as documented
    const ids = new Set(members.map((member) => member.split(' ', 1)[0]!))
    for (const head of await headsOf(connection, tag, room, [...ids])) if (isListed(head, query)) yield head
    if (members.length < limit) return undefined
  }
}

async function headsOf(
  connection: Connection,
  tag: string,
  room: string,
  ids: readonly string[],
): Promise<readonly EventHead[]> {
  const heads: EventHead[] = []
  for (const part of chunks(ids)) heads.push(...(await run(connection, rows, tag, [room, ...part])).map(headOf))
  return heads
}

function headOf(row: string): EventHead {
  const { id, event_type, unique_id, created_at } = JSON.parse(row) as EventHead // written by ingest
  return { id, event_type, unique_id, created_at }
}

function isListed({ id, event_type, created_at }: EventHead, query: TimelineQuery): boolean {
  const { from, descending } = query
  if (query.event_type !== undefined && event_type !== query.event_type) return false
  if (!inRange(created_at, query.created_at)) return false
  if (from === null) return true
  if (created_at === from.created_at && id === from.id) return from.inclusive
  const isAfter = created_at > from.created_at || (created_at === from.created_at && id > from.id)
  return isAfter !== descending
}
