import type { Inbox, Message, PutAnswer, Taken } from '../../src/contracts/inbox.ts'
import { LostLeases } from '../../src/core/lost-leases.ts'
import { aloneFunctions, refusal } from './entry-by-entry.ts'
import { announcer } from './announce.ts'
import type { Connection } from './client.ts'
import { takeOver } from './inbox-of-version-before.ts'
import { putChannel } from './keys.ts'
import type { Listener } from './listener.ts'
import { chunks, entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * `{tag}:inbox:` holds
 *
 *     kept              hash    id -> "<received_at> <tries> <token> <workspace>" of each message; the token is - until it is first taken
 *     rows              hash    id -> the message as JSON, without its data
 *     data              hash    id -> data
 *     line:<workspace>  zset    ids of messages that wait, by received_at (and id)
 *     lines             zset    workspaces with such messages, by id
 *     holds             zset    ids of messages that were taken, by the end of their lease
 *     dead              hash    id -> {"reason":..., "message":..., "data":...}
 *
 * The version before had one stream for all workspaces. See inbox-before.ts.
 */
const inboxFunctions = `
local inbox = KEYS[1] .. ':inbox:'

-- Answers received_at, tries, token and workspace.
local function find(id)
  local message = redis.call('HGET', inbox .. 'kept', id)
  if message then return string.match(message, '^(%S+) (%S+) (%S+) (.*)$') end
end

local function wait(id, at, workspace)
  redis.call('ZADD', inbox .. 'line:' .. workspace, at, id)
  redis.call('ZADD', inbox .. 'lines', 0, workspace)
end

local function leave(ids, workspace)
  local line = inbox .. 'line:' .. workspace
  redis.call('ZREM', line, unpack(ids))
  if redis.call('EXISTS', line) == 0 then redis.call('ZREM', inbox .. 'lines', workspace) end
end

-- Of a message that is held: it waits again, and that was no try.
local function giveBack(id, at, tries, workspace)
  redis.call('HSET', inbox .. 'kept', id, at .. ' ' .. (tries - 1) .. ' - ' .. workspace)
  wait(id, at, workspace)
  redis.call('ZREM', inbox .. 'holds', id)
end

local function forget(id)
  for _, name in ipairs({ 'kept', 'rows', 'data' }) do redis.call('HDEL', inbox .. name, id) end
end

-- A script that began with a command that frees memory may go on where memory is full.
local function begin()
  redis.call('HDEL', inbox .. 'kept', '')
end

-- Removes messages that are held by pairs of id and token from the argument on, after it was called with each.
local function letGo(from, each)
  for i = from, #ARGV, 2 do
    local id = ARGV[i]
    local _, _, token, workspace = find(id)
    if token == ARGV[i + 1] then
      if each then each(id) end
      forget(id)
      if redis.call('ZREM', inbox .. 'holds', id) == 0 then leave({ id }, workspace) end
    end
  end
end
`

/**
 * ARGV: id, workspace, received_at, row, data, token and end of the lease of each message, both '' where it has none. Answers of each
 * '' or 'held', or why it was refused.
 */
const put = script(
  `${aloneFunctions}${inboxFunctions}
local begun
local function store(id, workspace, at, row, data, token, lease)
  begun = false
  if not isTime(at) then error({ err = 'a time is not a number' }) end
  for _, name in ipairs({ 'dead', 'kept', 'messages' }) do
    if redis.call('HEXISTS', inbox .. name, id) == 1 then return end
  end
  begun = true
  local isHeld = token ~= ''
  redis.call('HSET', inbox .. 'kept', id, at .. (isHeld and ' 1 ' .. token or ' 0 -') .. ' ' .. workspace)
  redis.call('HSET', inbox .. 'rows', id, row)
  redis.call('HSET', inbox .. 'data', id, data)
  if isHeld then redis.call('ZADD', inbox .. 'holds', lease, id) else wait(id, at, workspace) end
end
local reply = {}
for i = 1, #ARGV, 7 do
  local id, token = ARGV[i], ARGV[i + 5]
  local refused = alone(store, unpack(ARGV, i, i + 6))
  if refused and begun then
    for _, name in ipairs({ 'kept', 'rows', 'data' }) do redis.pcall('HDEL', inbox .. name, id) end
    redis.pcall('ZREM', inbox .. 'line:' .. ARGV[i + 1], id)
    redis.pcall('ZREM', inbox .. 'holds', id)
  end
  local isHeld = not refused and token ~= '' and select(3, find(id)) == token
  reply[#reply + 1] = refused or (isHeld and 'held' or '')
end
return reply`,
  { again: true },
)

/**
 * A take that arrives twice, since its first answer did not come, answers the messages that it took the first time. It
 * looks at 500 lapsed holds at most.
 *
 * ARGV: limit, now, end of the lease, token, the most bytes, bytes taken before, the workspace after which to begin, and
 * the workspaces to leave out. Answers the bytes taken now and the workspace taken from last, then row, data and tries of each message.
 */
const take = script(
  `${inboxFunctions}
local limit, now, lease, token = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local most, bytes, last = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local repeated = { '', last }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', inbox .. 'holds', lease, lease)) do
  local _, tries, holder, workspace = find(id)
  if holder == token then
    local data = redis.call('HGET', inbox .. 'data', id) or ''
    bytes, repeated[2] = bytes + #data, workspace
    for _, value in ipairs({ redis.call('HGET', inbox .. 'rows', id) or '', data, tries }) do
      repeated[#repeated + 1] = value
    end
  end
end
if #repeated > 2 then
  repeated[1] = string.format('%.0f', bytes)
  return repeated
end
-- A message always stands in a line or among the holds, wherever a script breaks off.
local lapsed = redis.call('ZRANGEBYSCORE', inbox .. 'holds', '-inf', now, 'LIMIT', 0, 500)
if #lapsed > 0 then begin() end
for _, id in ipairs(lapsed) do
  local at, _, _, workspace = find(id)
  if at then wait(id, at, workspace) end
  redis.call('ZREM', inbox .. 'holds', id)
end
${takeOver}
local leftOut, names = {}, {}
for i = 8, #ARGV do leftOut[ARGV[i]] = true end

-- Adds the workspaces of a range, in their order, until there are as many as messages to take.
local function walk(from, to)
  local most = limit + #ARGV - 7
  for _, name in ipairs(redis.call('ZRANGEBYLEX', inbox .. 'lines', from, to, 'LIMIT', 0, most)) do
    if #names == limit then return end
    if not leftOut[name] then names[#names + 1] = name end
  end
end
walk(last == '' and '-' or '(' .. last, '+')
if last ~= '' then walk('-', '[' .. last) end

local size, offers, order = math.ceil(limit / math.max(1, #names)), {}, {}
for i, name in ipairs(names) do offers[i] = { workspace = name, ids = {}, place = 0, leaving = {} } end

-- The next message that a workspace offers, with its tries. An id that only a line holds belongs to a message that was
-- removed by hand.
local function advance(offer)
  while true do
    offer.place = offer.place + 1
    if offer.place > #offer.ids then
      local from = #offer.ids
      for _, id in ipairs(redis.call('ZRANGE', inbox .. 'line:' .. offer.workspace, from, from + size - 1)) do
        offer.ids[#offer.ids + 1] = id
      end
    end
    local id = offer.ids[offer.place]
    if not id then return end
    local at, tries = find(id)
    if at then return id, at, tries end
    offer.leaving[#offer.leaving + 1] = id
  end
end

local open, full = offers, false
while #open > 0 and #order < limit and not full do
  local rest = {}
  for _, offer in ipairs(open) do
    if #order == limit or full then break end
    local id, at, tries = advance(offer)
    if id then
      local length = redis.call('HSTRLEN', inbox .. 'data', id)
      full = bytes > 0 and bytes + length > most
      if not full then
        bytes, last = bytes + length, offer.workspace
        offer.leaving[#offer.leaving + 1] = id
        order[#order + 1] = { id = id, kept = at .. ' ' .. (tries + 1) .. ' ' .. token .. ' ' .. last, tries = tries + 1 }
        rest[#rest + 1] = offer
      end
    end
  end
  open = rest
end

local reply = { string.format('%.0f', bytes), last }
if #order > 0 then begin() end
for _, each in ipairs(order) do
  redis.call('HSET', inbox .. 'kept', each.id, each.kept)
  redis.call('ZADD', inbox .. 'holds', lease, each.id)
  reply[#reply + 1] = redis.call('HGET', inbox .. 'rows', each.id) or ''
  reply[#reply + 1] = redis.call('HGET', inbox .. 'data', each.id) or ''
  reply[#reply + 1] = tostring(each.tries)
end
for _, offer in ipairs(offers) do
  if #offer.leaving > 0 then leave(offer.leaving, offer.workspace) end
end
return reply`,
  { again: true },
)

/**
 * ARGV: token and end of the lease of a take that got no answer. The messages of that take wait again, and that was no
 * try.
 */
const giveBack = script(
  `${inboxFunctions}
begin()
for _, id in ipairs(redis.call('ZRANGEBYSCORE', inbox .. 'holds', ARGV[2], ARGV[2])) do
  local at, tries, token, workspace = find(id)
  if token == ARGV[1] then giveBack(id, at, tries, workspace) end
end
return {}`,
  { again: true },
)
const giveBackEveryMs = 500

/** ARGV: id and token of each message. */
const done = script(
  `${inboxFunctions}
letGo(1)
return {}`,
  { again: true },
)

/** ARGV: id and token of each message. */
const release = script(
  `${inboxFunctions}
begin()
for i = 1, #ARGV, 2 do
  local at, tries, token, workspace = find(ARGV[i])
  if token == ARGV[i + 1] then giveBack(ARGV[i], at, tries, workspace) end
end
return {}`,
  { again: true },
)

/** ARGV: the reason as JSON, then id and token of each message. */
const bury = script(
  `${inboxFunctions}
letGo(2, function(id)
  local row, data = redis.call('HGET', inbox .. 'rows', id), cjson.encode(redis.call('HGET', inbox .. 'data', id))
  redis.call('HSET', inbox .. 'dead', id, '{"reason":' .. ARGV[1] .. ',"message":' .. row .. ',"data":' .. data .. '}')
end)
return {}`,
  { again: true },
)

/** Answers the number of messages. */
const size = script(
  `${inboxFunctions}
return { tostring(redis.call('HLEN', inbox .. 'kept') + redis.call('XLEN', inbox .. 'stream')) }`,
  { again: true },
)

function putAnswerOf(answer: string): PutAnswer {
  if (answer === '') return { kind: 'stored' }
  if (answer === 'held') return { kind: 'stored', held: true }
  return { kind: 'rejected', cause: refusal(answer) }
}

export function redisInbox(connection: Connection, tag: string, listener: Listener): Inbox {
  const { announce } = announcer(connection, putChannel(tag))
  const holds = (taken: readonly Taken[]) => taken.flatMap(({ id, token }) => [id, token])
  /** The workspace that the last take ended with. */
  let last = ''
  const lost = new LostLeases(giveBackEveryMs)

  return {
    async put(messages) {
      const answers: PutAnswer[] = []
      for (const part of chunks(messages)) {
        const args = part.flatMap(({ data, lease, ...row }) => {
          return [
            row.id,
            row.workspaceId,
            row.received_at,
            JSON.stringify(row),
            data,
            lease?.token ?? '',
            lease?.until ?? '',
          ]
        })
        for (const answer of await run(connection, put, tag, args)) answers.push(putAnswerOf(answer))
      }
      if (messages.some(({ lease }) => lease === undefined)) announce()
      return answers
    },
    async take({ limit, maxBytes, leaseMs, now, leaveOut = new Set() }) {
      for (const { token, until } of lost.due(now)) await run(connection, giveBack, tag, [token, until])
      const taken: Taken[] = []
      const tokens: string[] = []
      let bytes = '0'
      while (taken.length < limit) {
        const wanted = Math.min(limit - taken.length, entriesPerScript)
        const token = crypto.randomUUID()
        tokens.push(token)
        const args = [wanted, now, now + leaseMs, token, maxBytes, bytes, last, ...leaveOut]
        const reply = await run(connection, take, tag, args).catch((cause: unknown) => {
          for (const each of tokens) lost.add({ token: each, until: now + leaseMs })
          throw cause
        })
        ;[bytes, last] = reply as [string, string, ...string[]] // as the script answers
        const rows = rowsOf(reply.slice(2), 3)
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
    async release(taken) {
      for (const part of chunks(taken)) await run(connection, release, tag, holds(part))
      if (taken.length > 0) announce()
    },
    async bury(taken, reason) {
      for (const part of chunks(taken)) await run(connection, bury, tag, [JSON.stringify(reason), ...holds(part)])
    },
    async size() {
      const [count] = await run(connection, size, tag, [])
      return Number(count)
    },
    ...(listener.able && { onPut: (wake: () => void) => listener.listen(putChannel(tag), () => wake()) }),
  }
}
