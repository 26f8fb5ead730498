import type { OfEventsQuery, StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import { isBefore, type Place } from '../../src/core/delivery.ts'
import { parseAttempt } from './attempt-lists.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { chunks, entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * Walks the attempts of events, event by event in the order given, ids upwards. An attempt that is answered whole counts as four.
 *
 * ARGV: workspace, endpoint or '', the most attempts, the bound of ids in the first event, ids of events. Answers how many events
 * were walked to their end, and the bound beyond which the next one goes on; then number of the event, endpoint and id of each attempt,
 * and its status, planned, ended and type, '' where the event has many.
 */
const places = script(
  `${attemptFunctions}
local room, wanted, most, from, reply, count = roomOf(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], { '', '-' }, 0

local function answer(...)
  for _, value in ipairs({ ... }) do reply[#reply + 1] = value end
end
for i = 5, #ARGV do
  local name = nameOfEvent(ARGV[i])
  local key = tag .. ':event:' .. name
  local index, event = key .. ':attempts', redis.call('HMGET', key, 'room', 'type')
  local ids, isFew, last = {}, true, from
  if room and event[1] == room and not isHash(index) then
    isFew = wanted ~= '' or redis.call('ZCARD', index) <= 32
    if wanted ~= '' then ids = attemptsTo(room, name, wanted, from)
    else ids = redis.call('ZRANGEBYLEX', index, from, '+', 'LIMIT', 0, most - count) end
  end
  for _, id in ipairs(ids) do
    if count >= most then break end
    last, count = '(' .. id, count + (isFew and 4 or 1)
    if isFew then
      local row = redis.call('HMGET', tag .. ':attempt:' .. id, 'endpoint', 'status', 'planned', 'ended')
      answer(tostring(i - 5), row[1] or '', id, row[2] or '', row[3] or '', row[4] or '', event[2])
    else
      answer(tostring(i - 5), redis.call('HGET', tag .. ':attempt:' .. id, 'endpoint') or '', id, '', '', '', '')
    end
  end
  if count >= most then
    reply[1], reply[2] = tostring(i - 5), last
    return reply
  end
  from = '-'
end
reply[1] = tostring(#ARGV - 4)
return reply`,
  { again: true },
)

/** ARGV: workspace, ids. Answers id, status, planned, ended and type of each attempt that exists. */
const rows = script(
  `${attemptFunctions}
local reply, room = {}, roomOf(ARGV[1])
for i = 2, #ARGV do
  local attempt = redis.call('HMGET', tag .. ':attempt:' .. ARGV[i], 'status', 'planned', 'ended', 'event', 'room')
  local type = attempt[5] and attempt[5] == room and redis.call('HGET', tag .. ':event:' .. nameIn(attempt[4]), 'type')
  if type then
    for _, value in ipairs({ ARGV[i], attempt[1], attempt[2], attempt[3] or '', type }) do reply[#reply + 1] = value end
  end
end
return reply`,
  { again: true },
)

/** The most attempts that a run of a script is asked for. */
const placesPerScript = 1000
const rowsPerScript = 100

/** An attempt of an event, and its row if that was answered. */
interface Found extends Place {
  readonly row: StoredAttempt | null
}

/** See `Attempts.ofEvents`. Redis has attempts in the order of their ids alone, so those of an event are put in order here. */
export async function attemptsOfEvents(
  connection: Connection,
  tag: string,
  workspaceId: string,
  eventIds: readonly string[],
  { endpointId = '', after = null, descending = false, limit }: OfEventsQuery,
): Promise<readonly StoredAttempt[]> {
  const bound = after && { endpoint_id: after[0], id: after[1] }
  const isAsked = (place: Place): boolean =>
    bound === null || (descending ? isBefore(place, bound) : isBefore(bound, place))
  const inOrder = (own: readonly Found[]): readonly Found[] =>
    own.filter(isAsked).toSorted((a, b) => (isBefore(a, b) === descending ? 1 : -1))
  const found: Found[] = []
  let own: Found[] = []
  let event = 0
  let walked = 0
  let from = '-'
  while (walked < eventIds.length && found.length < limit) {
    const part = eventIds.slice(walked, walked + entriesPerScript)
    const most = Math.min(4 * limit, placesPerScript)
    const [ended, beyond, ...read] = await run(connection, places, tag, [workspaceId, endpointId, most, from, ...part])
    for (const [number, endpoint_id, id, ...row] of rowsOf(read, 7)) {
      const next = walked + Number(number)
      if (next !== event) {
        found.push(...inOrder(own))
        own = []
        event = next
      }
      own.push({ endpoint_id: endpoint_id!, id: id!, row: row[0] === '' ? null : parseAttempt(row) }) // as answered
    }
    walked += Number(ended)
    from = beyond!
  }
  found.push(...inOrder(own))
  const chosen = found.slice(0, limit)
  const loaded = new Map<string, StoredAttempt>()
  const missing = chosen.filter(({ row }) => row === null).map(({ id }) => id)
  for (const part of chunks(missing, rowsPerScript)) {
    const reply = await run(connection, rows, tag, [workspaceId, ...part])
    for (const [id, ...row] of rowsOf(reply, 5)) loaded.set(id!, parseAttempt(row))
  }
  return chosen.flatMap(({ id, row }) => row ?? loaded.get(id) ?? []) // what was removed meanwhile is left out
}
