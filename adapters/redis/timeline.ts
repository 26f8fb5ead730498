import { inRange } from '../../src/core/time-range.ts'
import type { EventHead, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { timeOfId, timePrefix } from '../../src/core/id.ts'
import { eventSlackMs, type IdBounds, isEventAstray } from '../../src/core/id-bounds.ts'
import type { Connection } from './client.ts'
import { workspaceNumber } from './collection.ts'
import { eventFunctions } from './event-script.ts'
import { eventRow, eventType, whereIn, whereIs } from './filters.ts'
import { narrowest, type NarrowWalk } from './narrowed.ts'
import { listing, mostElements } from './page.ts'
import { rowFunctions } from './row-script.ts'
import { chunks, entriesPerScript, run, script } from './scripts.ts'

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

/**
 * ARGV: room, name of the sorted set, "up" or "down", first and last score, how many members to skip, how many events, the most
 * elements to come upon, type or '', then conditions. Members are events, some with an attempt behind a space. Answers how many
 * members to skip next, '' at the end, then the row of each event of the type whose attempt meets the conditions.
 */
const readTimes = script(
  `${eventFunctions}${rowFunctions}
local room, down, from, to, skip = ARGV[1], ARGV[3] == 'down', ARGV[4], ARGV[5], tonumber(ARGV[6])
local count, most, type = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]
local index, conditions = tag .. ':room:' .. room .. ':' .. ARGV[2], conditionsAt(10)
local reply, size, last, isEnd = { '' }, count, nil, false

local function isAsked(event, name, attempt)
  if type ~= '' and redis.call('HGET', event, 'type') ~= type then return false end
  if attempt == '' then return hasWanted(name, conditions) end
  local key = tag .. ':attempt:' .. attempt
  namedKey, named = key, name
  return wanted(key, attempt, conditions)
end
repeat
  local members = redis.call(down and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE', index, from, to, 'LIMIT', skip, size)
  isEnd = #members < size
  for at, member in ipairs(members) do
    looked, skip = looked + 1, skip + 1
    local id, attempt = string.match(member, '^([^ ]*) ?(.*)$')
    if id ~= last then
      local name = nameOfEvent(id)
      local key = tag .. ':event:' .. name
      local event = isAsked(key, name, attempt) and redis.call('HMGET', key, 'room', 'row') or {}
      if event[1] == room then reply[#reply + 1], last = event[2], id end
    end
    if #reply > count or looked >= most then
      isEnd = isEnd and at == #members
      break
    end
  end
  size = math.min(2 * size, 250, most - looked)
until isEnd or #reply > count or looked >= most
if not isEnd then reply[1] = tostring(skip) end
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
  const ours = byId(connection, tag, found, query, order)
  const others = byTime(connection, tag, found, query)
  const heads: EventHead[] = []
  let [our, other] = await Promise.all([ours.next(), others.next()])
  while (!(our.done && other.done)) {
    const isOurs = other.done || (!our.done && order(our.value, other.value) < 0)
    const head = isOurs ? our.value! : other.value! // one of the two exists
    // An event may come more than once.
    if (head.id !== heads.at(-1)?.id) heads.push(head)
    // What follows is not read before it is needed.
    if (heads.length === limit) break
    if (isOurs) our = await ours.next()
    else other = await others.next()
  }
  return heads
}

/** Events whose ids, or those of their attempts, tell their time, in the order of time. An event is answered once no other can come before it. */
async function* byId(
  connection: Connection,
  tag: string,
  { room, ids, sought }: NarrowWalk,
  query: TimelineQuery,
  order: (a: EventHead, b: EventHead) => number,
): AsyncGenerator<EventHead, undefined> {
  if (ids === null) return undefined
  const { name, kind, where } = ids
  const { created_at, descending, event_type, limit } = query
  const times = whereIn('created', created_at)
  const listed = listing<{ readonly id: string; readonly head: EventHead }>(connection, tag, {
    index: `room:${room}:${name}`,
    where: kind === 'event' ? times : [...where, ...times, ...whereIs(eventType, event_type), ...sought],
    having: kind === 'event' ? sought : [],
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
  { room, times, part, sought }: NarrowWalk,
  query: TimelineQuery,
): AsyncGenerator<EventHead, undefined> {
  if (times === null) return undefined
  const { created_at: { eq, gt, gte, lt, lte } = {}, from, descending, event_type = '', limit } = query
  const lowest = [eq, gt, gte, descending ? undefined : from?.created_at].filter((time) => time !== undefined)
  const highest = [eq, lt, lte, descending ? from?.created_at : undefined].filter((time) => time !== undefined)
  const low = lowest.length === 0 ? '-inf' : Math.max(...lowest)
  const high = highest.length === 0 ? '+inf' : Math.min(...highest)
  const ends = descending ? ['down', high, low] : ['up', low, high]
  let skipped = '0'
  // Twice as many as their part, since they may be denser here. One more, since the event of `from` may be left out.
  for (
    let count = 1 + Math.min(limit, Math.ceil(2 * limit * part) + 1);
    ;
    count = Math.min(4 * count, entriesPerScript)
  ) {
    const window = [skipped, count, mostElements, event_type]
    const args = [room, times, ...ends, ...window, sought.length, ...sought.flat()]
    const [next, ...found] = await run(connection, readTimes, tag, args)
    for (const head of found.map(headOf)) if (isListed(head, query)) yield head
    if (next === '') return undefined
    skipped = next!
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
