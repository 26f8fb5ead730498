import type { Inbox, Message, PutAnswer, Taken } from '../../src/contracts/inbox.ts'
import { aloneFunctions, refusal } from './alone.ts'
import { announcer } from './announce.ts'
import type { Connection } from './client.ts'
import { putChannel } from './keys.ts'
import type { Ear } from './listen.ts'
import { chunks, entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * `{tag}:inbox:` holds
 *
 *     stream    stream  messages waiting and held, in the order in which they were put: id, row (JSON without data), data
 *     messages  hash    id -> "<entry> <tries> <token>" of each; the token is - until it is first taken
 *     held      zset    ids of those that were taken, by the end of their lease
 *     dead      hash    id -> {"reason":..., "message":..., "data":...}
 *
 * The group `workers` reads the stream. A consumer of it is one take, named by its token, and is there as long as it has
 * messages; with those that are done the stream is trimmed. A group judges idleness by the server's clock, and the
 * contract asks for the caller's, so leases stand beside it. Everything in the stream is still to be stored: where the
 * group is missing, a new one begins at the start.
 */
const inboxFunctions = `
local inbox, group = KEYS[1] .. ':inbox:', 'workers'
local stream = inbox .. 'stream'

local function find(id)
  local message = redis.call('HGET', inbox .. 'messages', id)
  if message then return string.match(message, '^(%S+) (%S+) (%S+)$') end
end

local function dismiss(consumers)
  for consumer in pairs(consumers) do
    if #redis.call('XPENDING', stream, group, '-', '+', 1, consumer) == 0 then
      redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer)
    end
  end
end

local function remove(ids, entries, consumers)
  if #ids == 0 then return end
  local acknowledged = redis.call('XACK', stream, group, unpack(entries))
  redis.call('XDEL', stream, unpack(entries))
  redis.call('HDEL', inbox .. 'messages', unpack(ids))
  redis.call('ZREM', inbox .. 'held', unpack(ids))
  -- None is acknowledged where the group is missing, and its consumers with it.
  if acknowledged > 0 then dismiss(consumers) end
end

-- Reads pairs of id and token from the arguments on. Answers ids, entries and consumers of those that are held so.
local function heldFrom(first)
  local ids, entries, consumers = {}, {}, {}
  for i = first, #ARGV, 2 do
    local entry, _, token = find(ARGV[i])
    if token == ARGV[i + 1] then
      ids[#ids + 1] = ARGV[i]
      entries[#entries + 1] = entry
      consumers[token] = true
    end
  end
  return ids, entries, consumers
end
`

/** ARGV: id, row, data of each message. Answers of each why it was refused, or ''. */
const put = script(
  `${aloneFunctions}${inboxFunctions}
local function store(id, row, data)
  if redis.call('HEXISTS', inbox .. 'dead', id) == 0 and redis.call('HEXISTS', inbox .. 'messages', id) == 0 then
    local entry = redis.call('XADD', stream, '*', 'id', id, 'row', row, 'data', data)
    redis.call('HSET', inbox .. 'messages', id, entry .. ' 0 -')
  end
end
local reply = {}
for i = 1, #ARGV, 3 do
  local refused = alone(store, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  reply[#reply + 1] = refused or ''
end
return reply`,
  { again: true },
)

/**
 * Lapsed ones first, since they are older than those that nobody took yet; of lapsed ones it looks at 500. A group reads
 * a new message before it knows its size: one that does not fit waits among the lapsed, where the next take finds it.
 *
 * ARGV: limit, now, end of the lease, token, the most bytes, bytes taken before. Answers the bytes taken now, then row,
 * data and tries of each message.
 */
const take = script(
  `${inboxFunctions}
local limit, now, lease, token = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local most, bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local length = redis.call('XLEN', stream)
if length == 0 then return { ARGV[6] } end
local pending = redis.pcall('XPENDING', stream, group)
if pending.err then
  if not string.find(pending.err, 'NOGROUP', 1, true) then return pending end
  -- Something is deleted first: a script that has freed memory may go on where there is none.
  redis.call('DEL', inbox .. 'held')
  redis.call('XGROUP', 'CREATE', stream, group, '0')
  pending = { 0 }
end

local reply, taken, full, leaving = { '' }, 0, false, { [token] = true }
local function hasRoom(data)
  full = bytes > 0 and bytes + #data > most
  return not full
end
local function note(id, entry, tries, ends)
  redis.call('HSET', inbox .. 'messages', id, entry .. ' ' .. tries .. ' ' .. token)
  redis.call('ZADD', inbox .. 'held', ends, id)
end
local function hand(id, entry, tries, row, data)
  note(id, entry, tries, lease)
  for _, value in ipairs({ row, data, tostring(tries) }) do reply[#reply + 1] = value end
  taken, bytes = taken + 1, bytes + #data
end

local lapsed = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', inbox .. 'held', '-inf', now, 'LIMIT', 0, 500)) do
  local entry, tries, before = find(id)
  local ms, n = string.match(entry, '^(%d+)-(%d+)$')
  lapsed[#lapsed + 1] = { id = id, entry = entry, tries = tries + 1, before = before, ms = tonumber(ms), n = tonumber(n) }
end
table.sort(lapsed, function(a, b)
  if a.ms == b.ms then return a.n < b.n end
  return a.ms < b.ms
end)
for _, each in ipairs(lapsed) do
  if taken == limit then break end
  local found = redis.call('XRANGE', stream, each.entry, each.entry)[1]
  if found and not hasRoom(found[2][6]) then break end
  leaving[each.before] = true
  if found then
    redis.call('XCLAIM', stream, group, token, 0, each.entry, 'RETRYCOUNT', each.tries, 'FORCE', 'JUSTID')
    hand(each.id, each.entry, each.tries, found[2][4], found[2][6])
  else
    -- Somebody trimmed the stream by hand.
    remove({ each.id }, { each.entry }, {})
  end
end

for _ = 1, full and 0 or math.min(limit - taken, length - pending[1]) do
  local read = redis.call('XREADGROUP', 'GROUP', group, token, 'COUNT', 1, 'STREAMS', stream, '>')
  if not read then break end
  local entry, fields = unpack(read[1][2][1])
  local id, row, data = fields[2], fields[4], fields[6]
  local _, tries = find(id)
  if not hasRoom(data) then
    note(id, entry, tries or 0, 0)
    break
  end
  hand(id, entry, (tries or 0) + 1, row, data)
end
dismiss(leaving)
reply[1] = string.format('%.0f', bytes)
return reply`,
  // The first answer's messages, if it was lost, wait for their lease to end.
  { again: true },
)

/** ARGV: id and token of each message. */
const done = script(
  `${inboxFunctions}
remove(heldFrom(1))
return {}`,
  { again: true },
)

/** ARGV: the reason as JSON, then id and token of each message. */
const bury = script(
  `${inboxFunctions}
local ids, entries, consumers = heldFrom(2)
for i, id in ipairs(ids) do
  local found = redis.call('XRANGE', stream, entries[i], entries[i])[1]
  if found then
    local row, data = found[2][4], cjson.encode(found[2][6])
    redis.call('HSET', inbox .. 'dead', id, '{"reason":' .. ARGV[1] .. ',"message":' .. row .. ',"data":' .. data .. '}')
  end
end
remove(ids, entries, consumers)
return {}`,
  { again: true },
)

export function redisInbox(connection: Connection, tag: string, ear: Ear): Inbox {
  const { announce } = announcer(connection, putChannel(tag))
  const holds = (taken: readonly Taken[]) => taken.flatMap(({ id, token }) => [id, token])

  return {
    async put(messages) {
      const answers: PutAnswer[] = []
      for (const part of chunks(messages)) {
        const args = part.flatMap(({ data, ...row }) => [row.id, JSON.stringify(row), data])
        for (const refused of await run(connection, put, tag, args)) {
          answers.push(refused === '' ? { kind: 'stored' } : { kind: 'rejected', cause: refusal(refused) })
        }
      }
      if (messages.length > 0) announce()
      return answers
    },
    async take({ limit, maxBytes, leaseMs, now }) {
      const taken: Taken[] = []
      const token = crypto.randomUUID()
      let bytes = '0'
      while (taken.length < limit) {
        const wanted = Math.min(limit - taken.length, entriesPerScript)
        const reply = await run(connection, take, tag, [wanted, now, now + leaseMs, token, maxBytes, bytes])
        bytes = reply[0]!
        const rows = rowsOf(reply.slice(1), 3)
        for (const [row, data, tries] of rows as readonly [string, string, string][]) {
          taken.push({ ...(JSON.parse(row) as Omit<Message, 'data'>), data, token, tries: Number(tries) }) // written by put
        }
        if (rows.length < wanted) break
      }
      return taken
    },
    async done(taken) {
      for (const part of chunks(taken)) await run(connection, done, tag, holds(part))
    },
    async bury(taken, reason) {
      for (const part of chunks(taken)) await run(connection, bury, tag, [JSON.stringify(reason), ...holds(part)])
    },
    async size() {
      return Number(await connection.send('XLEN', [`${tag}:inbox:stream`], true))
    },
    ...(ear.able && { onPut: (wake: () => void) => ear.listen(putChannel(tag), () => wake()) }),
  }
}
