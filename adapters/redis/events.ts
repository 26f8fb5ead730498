import type { EventQuery, Events, IngestAnswer, IngestEntry } from '../../src/contracts/storage/events.ts'
import { isEventAstray } from '../../src/core/id-bounds.ts'
import { type EventRow, eventOf, withData } from './event-row.ts'
import { aloneFunctions, refusal } from './entry-by-entry.ts'
import { attemptsArgs } from './attempt-args.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { workspaceNumber } from './collection.ts'
import { hasPlainName } from './event-script.ts'
import { isEventListed, whereIn } from './filters.ts'
import { type Listing, listing, listOf, pageOf } from './page.ts'
import { redisTimeline } from './timeline.ts'
import { removalFunctions } from './removal-script.ts'
import { entriesPerScript, rowsOf, run, script } from './scripts.ts'
import { areNew, isWide, partsOf, writeParts } from './wide-events.ts'

/** The most text that one run of a script is given, in UTF-16 units. */
const textPerScript = 4 * 1024 * 1024

/**
 * ARGV: whether to enqueue; then of each entry workspace, revision, id, row, data, "unique" or '', unique_id, type,
 * created_at, trace or '', token or '', "astray" or '', the number of attempts and that of parts; of each attempt id, endpoint,
 * due, created, planned, "astray" or ''; and parts with attempts that are written later: see wide-events.ts. Answers of each entry
 * its kind, then row and data of the event that existed; of a rejected entry why.
 */
const ingest = script(
  `${aloneFunctions}${attemptFunctions}
local touched, begun = {}, nil

-- Removes what was written of an event, however much that is.
local function undo(i, attempts)
  if not begun then return end
  local room, name, key = begun.room, begun.name, tag .. ':event:' .. begun.name
  local index = tag .. ':room:' .. room .. ':attempts'
  for _, attempt in ipairs(attempts) do
    local id, endpoint = attempt.id, attempt.endpoint
    redis.pcall('DEL', tag .. ':attempt:' .. id)
    for _, each in ipairs({ index, index .. ':endpoint:' .. endpoint, index .. ':status:OPEN', index .. ':astray', tag .. ':open' }) do
      redis.pcall('ZREM', each, id)
    end
    redis.pcall('ZREM', key .. ':attempts', id)
    pcall(unlist, room, name, id, endpoint, 'OPEN', attempt.created, attempt.due, 'pending')
    redis.pcall('HDEL', queue .. 'jobs', id)
    redis.pcall('ZREM', queue .. 'held', id)
    -- A group that cannot be read cannot be filed anew.
    if type(redis.pcall('ZREM', queue .. 'group:' .. endpoint, id)) == 'table' then touched[endpoint] = nil end
  end
  redis.pcall('DEL', key)
  pcall(dropUnwritten, name)
  redis.pcall('ZREM', tag .. ':idle', name)
  redis.pcall('ZREM', tag .. ':room:' .. room .. ':events', ARGV[i + 2])
  redis.pcall('ZREM', tag .. ':room:' .. room .. ':events:astray', ARGV[i + 2])
  redis.pcall('ZREM', tag .. ':room:' .. room .. ':events:type:' .. ARGV[i + 7], ARGV[i + 2])
  if ARGV[i + 5] == 'unique' then redis.pcall('HDEL', tag .. ':room:' .. room .. ':unique-ids', ARGV[i + 6]) end
end

local function judge(i, attempts, parts)
  local workspace, revision, id, row, data, unique = unpack(ARGV, i, i + 5)
  local room = roomOf(workspace)
  if not room then return 'stale' end
  local name = nameOfEvent(id)
  local key = tag .. ':event:' .. name
  local there = redis.call('HMGET', key, 'room', 'row', 'data', 'token')
  local token = ARGV[i + 10]
  local isOfCall = there[2] == row and there[3] == data
  if token ~= '' then isOfCall = there[4] == token end
  if there[1] == room and isOfCall then return 'stored' end
  local seen = unique == 'unique' and redis.call('HGET', tag .. ':room:' .. room .. ':unique-ids', ARGV[i + 6])
  if seen then
    return 'duplicate', unpack(redis.call('HMGET', tag .. ':event:' .. nameIn(seen), 'row', 'data'))
  end
  if there[1] then return 'id_taken' end
  if redis.call('HGET', tag .. ':room:' .. room, 'revision') ~= revision then return 'stale' end
  for _, attempt in ipairs(attempts) do
    if redis.call('EXISTS', tag .. ':attempt:' .. attempt.id) == 1 then
      return 'rejected', 'attempt id ' .. attempt.id .. ' is taken'
    end
    if not (isTime(attempt.due) and isTime(attempt.created)) then return 'rejected', 'a time is not a number' end
  end
  if not isTime(ARGV[i + 8]) then return 'rejected', 'a time is not a number' end
  begun = { room = room, name = name }
  redis.call('HSET', key, 'room', room, 'row', row, 'data', data, 'type', ARGV[i + 7], 'created', ARGV[i + 8], 'open', #parts > 0 and 1 or 0)
  if ARGV[i + 9] ~= '' then redis.call('HSET', key, 'trace', ARGV[i + 9]) end
  if token ~= '' then redis.call('HSET', key, 'token', token) end
  redis.call('ZADD', tag .. ':room:' .. room .. ':events', 0, id)
  redis.call('ZADD', tag .. ':room:' .. room .. ':events:type:' .. ARGV[i + 7], 0, id)
  if ARGV[i + 11] ~= '' then redis.call('ZADD', tag .. ':room:' .. room .. ':events:astray', ARGV[i + 8], id) end
  if unique == 'unique' then
    redis.call('HSET', key, 'unique_id', ARGV[i + 6])
    redis.call('HSET', tag .. ':room:' .. room .. ':unique-ids', ARGV[i + 6], name)
  end
  if #parts > 0 then
    redis.call('RPUSH', tag .. ':unwritten:' .. name, unpack(parts))
    redis.call('ZADD', tag .. ':unfinished', ARGV[i + 8], name)
  elseif #attempts == 0 then
    redis.call('ZADD', tag .. ':idle', ARGV[i + 8], name)
  end
  local held = {}
  for _, attempt in ipairs(attempts) do
    local how = addAttempt(room, name, attempt, ARGV[1] == '1' and touched, workspace, ARGV[i + 8])
    if how == 'held' then held[#held + 1] = attempt.id end
  end
  return 'stored', table.concat(held, ' ')
end
local reply, i = {}, 2
while i <= #ARGV do
  local attempts, parts = {}, {}
  for n = 1, tonumber(ARGV[i + 12]) do attempts[n] = attemptAt(ARGV, i + 8 + n * 6) end
  local behind = i + 14 + #attempts * 6
  for n = 1, tonumber(ARGV[i + 13]) do parts[n] = ARGV[behind + n - 1] end
  begun = nil
  local refused, kind, row, data = alone(judge, i, attempts, parts)
  if refused then
    undo(i, attempts)
    kind, row = 'rejected', refused
  end
  reply[#reply + 1] = kind
  reply[#reply + 1] = row or ''
  reply[#reply + 1] = data or ''
  i = behind + #parts
end
placeAll(touched)
return reply`,
  { again: true },
)

/** ARGV: workspace, id. Answers row and data, or nothing. */
const get = script(
  `${attemptFunctions}
local event = redis.call('HMGET', tag .. ':event:' .. nameOfEvent(ARGV[2]), 'room', 'row', 'data')
if not event[1] or event[1] ~= roomOf(ARGV[1]) then return {} end
return { event[2], event[3] }`,
  { again: true },
)

/** ARGV: workspace, unique_id. Answers the row of the event, or nothing. */
const byUniqueId = script(
  `${attemptFunctions}
local room = roomOf(ARGV[1])
local event = room and redis.call('HGET', tag .. ':room:' .. room .. ':unique-ids', ARGV[2])
local row = event and redis.call('HGET', tag .. ':event:' .. nameIn(event), 'row')
return { row or nil }`,
  { again: true },
)

/** ARGV: id. Answers the data, or nothing. */
const dataOf = script(
  `${attemptFunctions}
return { redis.call('HGET', tag .. ':event:' .. nameOfEvent(ARGV[1]), 'data') or nil }`,
  { again: true },
)

/** ARGV: workspace, the most rows, ids. Answers how many events went, and how many ids are done. */
const erase = script(
  `${attemptFunctions}${removalFunctions}
local room, touched, erased, done = roomOf(ARGV[1]), {}, 0, #ARGV - 2
limit = tonumber(ARGV[2])

local function removeJob(id)
  local _, holder, group = findJob(id)
  if not group then return end
  redis.call('HDEL', queue .. 'jobs', id)
  redis.call('ZREM', queue .. 'held', id)
  redis.call('ZREM', queue .. 'group:' .. group, id)
  touch(touched, group, holder)
end

for i = 3, #ARGV do
  local name = nameOfEvent(ARGV[i])
  local key = tag .. ':event:' .. name
  if room and redis.call('HGET', key, 'room') == room then
    if gone < limit and not isHash(key .. ':attempts') then
      for _, attempt in ipairs(redis.call('ZRANGE', key .. ':attempts', 0, limit - gone - 1)) do removeJob(attempt) end
    end
    if gone < limit then removeEvent(name) end
    if redis.call('EXISTS', key) == 1 then
      done = i - 3
      break
    end
    erased = erased + 1
  end
end
placeAll(touched)
return { tostring(erased), tostring(done) }`,
  { again: false },
)

/** An event may have thousands of attempts: the event goes with the last of them. */
const rowsPerScript = 200

export function redisEvents(connection: Connection, tag: string, announce: () => void): Events {
  const candidates = async (workspaceId: string, query: EventQuery): Promise<Listing<EventRow>> => {
    const { event_type, unique_id, created_at, ingested_at } = query
    const wanted = (row: EventRow) => (isEventListed(row, query) ? row : null)
    if (unique_id !== undefined) {
      const [json] = await run(connection, byUniqueId, tag, [workspaceId, unique_id])
      return listOf(json === undefined ? null : wanted(JSON.parse(json) as EventRow)) // written by ingest
    }
    const room = await workspaceNumber(connection, tag, workspaceId)
    return listing<EventRow>(connection, tag, {
      index: `room:${room}:events${event_type === undefined ? '' : `:type:${event_type}`}`,
      where: whereIn('created', created_at),
      exact: ingested_at === undefined,
      kind: 'event',
      fields: ['row'],
      parse: (_id, [json]) => (json === '' ? null : wanted(JSON.parse(json!) as EventRow)), // written by ingest
    })
  }

  /** Writes the attempts of an event that is stored; also of one that an earlier call began to store. */
  const whole = async ({ event }: IngestEntry, answer: IngestAnswer): Promise<IngestAnswer> => {
    if (answer.kind !== 'stored') return answer
    const held = await writeParts(connection, tag, event.id)
    return held.length === 0 ? answer : { kind: 'stored', held }
  }

  return {
    async ingest(entries, { enqueue }) {
      const encoder = new TextEncoder()
      const answers: IngestAnswer[] = []
      for (const part of batches(entries)) {
        const [first] = part as readonly [IngestEntry] // no part is empty
        const inParts = isWide(first) && (await areNew(connection, tag, first.attempts))
        const args = part.flatMap((entry) => argsOf(entry, encoder, inParts ? partsOf(entry.attempts, enqueue) : null))
        const reply = await run(connection, ingest, tag, [enqueue ? 1 : 0, ...args])
        const stored = rowsOf(reply, 3).map(answerOf)
        answers.push(...(isWide(first) ? [await whole(first, stored[0]!)] : stored))
      }
      if (enqueue && entries.some((entry, i) => someWait(entry, answers[i]!))) announce()
      return answers
    },

    async get(workspaceId, id) {
      const [row, data] = await run(connection, get, tag, [workspaceId, id])
      return row === undefined ? null : eventOf(row, data!)
    },

    timeline: (workspaceId, query) => redisTimeline(connection, tag, workspaceId, query),

    async erase(workspaceId, ids) {
      let erased = 0
      for (let left = [...new Set(ids)]; left.length > 0;) {
        const [count, done] = await run(connection, erase, tag, [
          workspaceId,
          rowsPerScript,
          ...left.slice(0, rowsPerScript),
        ])
        erased += Number(count)
        left = left.slice(Number(done))
      }
      return erased
    },

    async list(workspaceId, query) {
      const page = await pageOf(await candidates(workspaceId, query), query, ({ bytes }) => bytes)
      const data = await Promise.all(
        page.rows.map(async ({ id }) =>
          hasPlainName(id)
            ? connection.send('HGET', [`${tag}:event:${id}`, 'data'], true)
            : (await run(connection, dataOf, tag, [id]))[0],
        ),
      )
      // An event purged between the two reads is left out.
      const rows = page.rows.flatMap(({ bytes: _, ...event }, i) => {
        const text = data[i]
        return typeof text === 'string' ? [withData(event, text)] : []
      })
      return { ...page, rows }
    },
  }
}

function argsOf(
  { workspaceId, revision, event, attempts, trace, token }: IngestEntry,
  encoder: TextEncoder,
  parts: readonly string[] | null,
): (string | number)[] {
  const { id, event_type, data, ingested_at, unique_id, created_at, updated_at } = event
  const bytes = encoder.encode(data).byteLength
  const row = JSON.stringify({
    id,
    event_type,
    ingested_at,
    unique_id,
    created_at,
    updated_at,
    bytes,
  } satisfies EventRow)
  const unique = unique_id === null ? ['', ''] : ['unique', unique_id]
  const head = [
    workspaceId,
    revision,
    id,
    row,
    data,
    ...unique,
    event_type,
    created_at,
    trace ?? '',
    token ?? '',
    isEventAstray(event) ? 'astray' : '',
    parts === null ? attempts.length : 0,
    parts?.length ?? 0,
  ]
  return [...head, ...(parts ?? attemptsArgs(attempts).flat())]
}

function answerOf([kind, row, data]: readonly string[]): IngestAnswer {
  switch (kind) {
    case 'duplicate':
      return { kind, event: eventOf(row!, data!) }
    case 'rejected':
      return { kind, cause: refusal(row!) }
    case 'stored':
      return row === '' ? { kind } : { kind, held: row!.split(' ') }
    default:
      return { kind: kind as 'id_taken' | 'stale' } // the rest of what the script says
  }
}

/** Whether jobs of an entry wait to be claimed. */
function someWait({ attempts }: IngestEntry, answer: IngestAnswer): boolean {
  return answer.kind === 'stored' && attempts.length > (answer.held?.length ?? 0)
}

/** Parts of a batch that fit one run each. An entry is never split, and a wide one is alone. */
function batches(entries: readonly IngestEntry[]): readonly (readonly IngestEntry[])[] {
  const parts: IngestEntry[][] = []
  let rows = Infinity
  let text = Infinity
  for (const entry of entries) {
    rows += isWide(entry) ? Infinity : 1 + entry.attempts.length
    text += entry.event.data.length
    if (rows > entriesPerScript || text > textPerScript) {
      parts.push([])
      rows = isWide(entry) ? Infinity : 1 + entry.attempts.length
      text = entry.event.data.length
    }
    parts.at(-1)!.push(entry)
  }
  return parts
}
