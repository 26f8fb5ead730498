/**
 * The queue on Redis of the version before workspaces took turns: its scripts, word for word, for tests of both versions
 * side by side on one store.
 */
import type { TestClient } from './redis.ts'

const functions = `
local queue = KEYS[1] .. ':queue:'

local function place(group)
  local first = redis.call('ZRANGE', queue .. 'group:' .. group, 0, 0, 'WITHSCORES')
  local index = queue .. (redis.call('ZSCORE', queue .. 'paused', group) and 'blocked' or 'ready')
  local before = redis.call('HGET', queue .. 'heads', group)
  local head = first[1] and first[1] .. ' ' .. group
  if before and before ~= head then
    redis.call('ZREM', index, before)
    redis.call('HDEL', queue .. 'heads', group)
  end
  if head then
    redis.call('ZADD', index, first[2], head)
    redis.call('HSET', queue .. 'heads', group, head)
  end
end

local function placeAll(groups)
  for group in pairs(groups) do place(group) end
end

local function addJob(id, group, due, touched)
  if redis.call('HSETNX', queue .. 'jobs', id, due .. ' - ' .. group) == 1 then
    redis.call('ZADD', queue .. 'group:' .. group, due, id)
    touched[group] = true
  end
end

local function findJob(id)
  local job = redis.call('HGET', queue .. 'jobs', id)
  if job then return string.match(job, '^(%S+) (%S+) (.*)$') end
end

local function completeJob(id, token, touched)
  local due, holder, group = findJob(id)
  if holder ~= token then return end
  redis.call('HDEL', queue .. 'jobs', id)
  if redis.call('ZREM', queue .. 'held', id) == 0 then
    redis.call('ZREM', queue .. 'group:' .. group, id)
    touched[group] = true
  end
end
`

const add = `${functions}
local touched = {}
for i = 1, #ARGV, 3 do addJob(ARGV[i], ARGV[i + 1], ARGV[i + 2], touched) end
placeAll(touched)
return {}`

const claim = `${functions}
local limit, cap, now, lease, token = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local busy = {}
for _, group in ipairs(cjson.decode(ARGV[6])) do busy[group] = cap end
for i = 7, #ARGV, 2 do busy[ARGV[i]] = tonumber(ARGV[i + 1]) end

for _, group in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'paused', '-inf', now, 'LIMIT', 0, 250)) do
  redis.call('ZREM', queue .. 'paused', group)
  local head = redis.call('HGET', queue .. 'heads', group)
  if head then redis.call('ZREM', queue .. 'blocked', head) end
  place(group)
end
local touched = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', '-inf', now, 'LIMIT', 0, 250)) do
  local due, _, group = findJob(id)
  redis.call('ZREM', queue .. 'held', id)
  redis.call('ZADD', queue .. 'group:' .. group, due, id)
  touched[group] = true
end
placeAll(touched)

local taken, offset = {}, 0
while limit > 0 do
  local heads = redis.call('ZRANGEBYSCORE', queue .. 'ready', '-inf', now, 'LIMIT', offset, 250)
  if #heads == 0 then break end
  offset = offset + #heads
  for _, head in ipairs(heads) do
    local group = string.sub(head, string.find(head, ' ', 1, true) + 1)
    local room = math.min(cap - (busy[group] or 0), limit)
    if room > 0 then
      local ids = redis.call('ZRANGEBYSCORE', queue .. 'group:' .. group, '-inf', now, 'LIMIT', 0, room)
      taken[#taken + 1] = { group, ids }
      limit = limit - #ids
      if limit == 0 then break end
    end
  end
end

local reply = {}
for _, part in ipairs(taken) do
  local group, ids = part[1], part[2]
  local jobs, holds = {}, {}
  for _, id in ipairs(ids) do
    local due = findJob(id)
    jobs[#jobs + 1] = id
    jobs[#jobs + 1] = due .. ' ' .. token .. ' ' .. group
    holds[#holds + 1] = lease
    holds[#holds + 1] = id
    reply[#reply + 1] = id
    reply[#reply + 1] = group
    reply[#reply + 1] = due
  end
  redis.call('ZREM', queue .. 'group:' .. group, unpack(ids))
  redis.call('HSET', queue .. 'jobs', unpack(jobs))
  redis.call('ZADD', queue .. 'held', unpack(holds))
  place(group)
end
return reply`

const extend = `${functions}
local until_, touched, lost = ARGV[1], {}, {}
for i = 2, #ARGV, 2 do
  local id = ARGV[i]
  local _, holder, group = findJob(id)
  if holder ~= ARGV[i + 1] then
    lost[#lost + 1] = id
  else
    if redis.call('ZREM', queue .. 'group:' .. group, id) == 1 then touched[group] = true end
    redis.call('ZADD', queue .. 'held', until_, id)
  end
end
placeAll(touched)
return lost`

const release = `${functions}
local touched = {}
for i = 1, #ARGV, 2 do
  local id = ARGV[i]
  local due, holder, group = findJob(id)
  if holder == ARGV[i + 1] then
    redis.call('HSET', queue .. 'jobs', id, due .. ' - ' .. group)
    redis.call('ZREM', queue .. 'held', id)
    redis.call('ZADD', queue .. 'group:' .. group, due, id)
    touched[group] = true
  end
end
placeAll(touched)
return {}`

const complete = `${functions}
local touched = {}
for i = 1, #ARGV, 2 do completeJob(ARGV[i], ARGV[i + 1], touched) end
placeAll(touched)
return {}`

const pause = `${functions}
for i = 1, #ARGV, 2 do
  local group = ARGV[i]
  redis.call('ZADD', queue .. 'paused', 'GT', ARGV[i + 1], group)
  local head = redis.call('HGET', queue .. 'heads', group)
  if head then redis.call('ZREM', queue .. 'ready', head) end
  place(group)
end
return {}`

export interface HeldBefore {
  readonly id: string
  readonly group: string
  readonly token: string
}

/** A process of that version. */
export function queueBefore({ command }: TestClient, namespace: string) {
  const run = async (text: string, ...args: (string | number)[]) =>
    (await command('EVAL', text, '1', `{${namespace}}`, ...args.map(String))) as string[] // as every script answers
  const holds = (claims: readonly HeldBefore[]) => claims.flatMap(({ id, token }) => [id, token])
  return {
    async add(jobs: readonly { id: string; group: string; due_at: number }[]) {
      await run(add, ...jobs.flatMap(({ id, group, due_at }) => [id, group, due_at]))
    },
    async claim(limit: number, cap: number, leaseMs: number, now: number): Promise<HeldBefore[]> {
      const token = crypto.randomUUID()
      const reply = await run(claim, limit, cap, now, now + leaseMs, token, '[]')
      return Array.from({ length: reply.length / 3 }, (_, i) => ({
        id: reply[3 * i]!,
        group: reply[3 * i + 1]!,
        token,
      }))
    },
    extend: (claims: readonly HeldBefore[], until: number) => run(extend, until, ...holds(claims)),
    release: (claims: readonly HeldBefore[]) => run(release, ...holds(claims)),
    complete: (claims: readonly HeldBefore[]) => run(complete, ...holds(claims)),
    pause: (group: string, until: number) => run(pause, group, until),
  }
}
