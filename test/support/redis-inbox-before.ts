/**
 * The inbox on Redis of the version before workspaces took turns: its scripts, word for word, for tests of both versions side
 * by side on one store.
 */
import type { Inbox, Message, Taken } from '../../src/contracts/inbox.ts'
import type { TestClient } from './redis.ts'

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

const put = `${inboxFunctions}
for i = 1, #ARGV, 3 do
  local id = ARGV[i]
  if redis.call('HEXISTS', inbox .. 'dead', id) == 0 and redis.call('HEXISTS', inbox .. 'messages', id) == 0 then
    local entry = redis.call('XADD', stream, '*', 'id', id, 'row', ARGV[i + 1], 'data', ARGV[i + 2])
    redis.call('HSET', inbox .. 'messages', id, entry .. ' 0 -')
  end
end
return {}`

const take = `${inboxFunctions}
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
return reply`

const done = `${inboxFunctions}
remove(heldFrom(1))
return {}`

const bury = `${inboxFunctions}
local ids, entries, consumers = heldFrom(2)
for i, id in ipairs(ids) do
  local found = redis.call('XRANGE', stream, entries[i], entries[i])[1]
  if found then
    local row, data = found[2][4], cjson.encode(found[2][6])
    redis.call('HSET', inbox .. 'dead', id, '{"reason":' .. ARGV[1] .. ',"message":' .. row .. ',"data":' .. data .. '}')
  end
end
remove(ids, entries, consumers)
return {}`

/** A process of that version. */
export function inboxBefore({ command }: TestClient, namespace: string) {
  const run = async (text: string, ...args: (string | number)[]) =>
    (await command('EVAL', text, '1', `{${namespace}}`, ...args.map(String))) as string[] // as every script answers
  const holds = (taken: readonly Taken[]) => taken.flatMap(({ id, token }) => [id, token])
  return {
    async put(messages: readonly Message[]): Promise<void> {
      await run(put, ...messages.flatMap(({ data, ...row }) => [row.id, JSON.stringify(row), data]))
    },
    async take({ limit, maxBytes, leaseMs, now }: Parameters<Inbox['take']>[0]): Promise<Taken[]> {
      const token = crypto.randomUUID()
      const [, ...rest] = await run(take, limit, now, now + leaseMs, token, maxBytes, '0')
      return Array.from({ length: rest.length / 3 }, (_, i) => {
        const [row, data, tries] = rest.slice(3 * i, 3 * i + 3) as [string, string, string]
        return { ...(JSON.parse(row) as Omit<Message, 'data'>), data, token, tries: Number(tries) }
      })
    },
    done: (taken: readonly Taken[]) => run(done, ...holds(taken)),
    bury: (taken: readonly Taken[], reason: string) => run(bury, JSON.stringify(reason), ...holds(taken)),
  }
}
