import type { Inbox, Message, Taken } from '../../src/contracts/inbox.ts'
import { announcer } from './announce.ts'
import type { Connection } from './client.ts'
import { putChannel } from './keys.ts'
import type { Ear } from './listen.ts'
import { chunks, entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * `{tag}:inbox:` holds
 *
 *     messages  hash    id -> the message as JSON, waiting and held
 *     waiting   zset    ids by received_at
 *     held      zset    ids by the end of their lease
 *     holds     hash    id -> "<received_at> <tries> <token>" of those taken at least once
 *     dead      hash    id -> {"reason":..., "message":...}
 *
 * A stream with a consumer group would judge holds by the server's clock and could not give a message back at its old
 * place; the contract asks for the caller's clock and for the oldest first.
 */
const inboxFunctions = `
local inbox = KEYS[1] .. ':inbox:'

local function findHold(id)
  local hold = redis.call('HGET', inbox .. 'holds', id)
  if hold then return string.match(hold, '^(%S+) (%S+) (%S+)$') end
end

local function remove(id)
  redis.call('HDEL', inbox .. 'messages', id)
  redis.call('HDEL', inbox .. 'holds', id)
  if redis.call('ZREM', inbox .. 'held', id) == 0 then redis.call('ZREM', inbox .. 'waiting', id) end
end
`

/** ARGV: id, received_at, JSON of each message. */
const put = script(
  `${inboxFunctions}
for i = 1, #ARGV, 3 do
  local id = ARGV[i]
  if redis.call('HEXISTS', inbox .. 'dead', id) == 0 and redis.call('HSETNX', inbox .. 'messages', id, ARGV[i + 2]) == 1 then
    redis.call('ZADD', inbox .. 'waiting', ARGV[i + 1], id)
  end
end
return {}`,
  { again: true },
)

/**
 * Lapsed holds come back first, at most 500 a run.
 *
 * ARGV: limit, now, end of the lease, token. Answers JSON and tries of each message.
 */
const take = script(
  `${inboxFunctions}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', inbox .. 'held', '-inf', ARGV[2], 'LIMIT', 0, 500)) do
  redis.call('ZREM', inbox .. 'held', id)
  redis.call('ZADD', inbox .. 'waiting', (findHold(id)), id)
end
local reply = {}
local waiting = redis.call('ZRANGE', inbox .. 'waiting', 0, tonumber(ARGV[1]) - 1, 'WITHSCORES')
for i = 1, #waiting, 2 do
  local id = waiting[i]
  local _, tries = findHold(id)
  tries = tostring((tonumber(tries) or 0) + 1)
  redis.call('ZREM', inbox .. 'waiting', id)
  redis.call('ZADD', inbox .. 'held', ARGV[3], id)
  redis.call('HSET', inbox .. 'holds', id, waiting[i + 1] .. ' ' .. tries .. ' ' .. ARGV[4])
  reply[#reply + 1] = redis.call('HGET', inbox .. 'messages', id)
  reply[#reply + 1] = tries
end
return reply`,
  // The first answer's messages, if it was lost, wait for their lease to end.
  { again: true },
)

/** ARGV: id and token of each message. */
const done = script(
  `${inboxFunctions}
for i = 1, #ARGV, 2 do
  local _, _, token = findHold(ARGV[i])
  if token == ARGV[i + 1] then remove(ARGV[i]) end
end
return {}`,
  { again: true },
)

/** ARGV: the reason as JSON, then id and token of each message. */
const bury = script(
  `${inboxFunctions}
for i = 2, #ARGV, 2 do
  local id = ARGV[i]
  local _, _, token = findHold(id)
  if token == ARGV[i + 1] then
    local message = redis.call('HGET', inbox .. 'messages', id)
    redis.call('HSET', inbox .. 'dead', id, '{"reason":' .. ARGV[1] .. ',"message":' .. message .. '}')
    remove(id)
  end
end
return {}`,
  { again: true },
)

export function redisInbox(connection: Connection, tag: string, ear: Ear): Inbox {
  const announce = announcer(() => connection.send('PUBLISH', [putChannel(tag), ''], false))
  const holds = (taken: readonly Taken[]) => taken.flatMap(({ id, token }) => [id, token])

  return {
    async put(messages) {
      for (const part of chunks(messages)) {
        await run(
          connection,
          put,
          tag,
          part.flatMap((message) => [message.id, message.received_at, JSON.stringify(message)]),
        )
      }
      if (messages.length > 0) announce()
    },
    async take({ limit, leaseMs, now }) {
      const taken: Taken[] = []
      while (taken.length < limit) {
        const wanted = Math.min(limit - taken.length, entriesPerScript)
        const token = crypto.randomUUID()
        const rows = rowsOf(await run(connection, take, tag, [wanted, now, now + leaseMs, token]), 2)
        for (const [json, tries] of rows as readonly [string, string][]) {
          taken.push({ ...(JSON.parse(json) as Message), token, tries: Number(tries) }) // written by put
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
      return Number(await connection.send('HLEN', [`${tag}:inbox:messages`], true))
    },
    ...(ear.able && { onPut: (wake: () => void) => ear.listen(putChannel(tag), () => wake()) }),
  }
}
