import type { Claim, Queue } from '../../src/contracts/queue.ts'
import { announcer } from './announce.ts'
import type { Connection } from './client.ts'
import { addedChannel } from './keys.ts'
import type { Ear } from './listen.ts'
import { queueFunctions } from './queue-script.ts'
import { chunks, rowsOf, run, script } from './scripts.ts'

/** ARGV: id, group, due_at of each job. */
const add = script(
  `${queueFunctions}
local touched = {}
for i = 1, #ARGV, 3 do addJob(ARGV[i], ARGV[i + 1], ARGV[i + 2], touched) end
placeAll(touched)
return {}`,
  { again: true },
)

/** The most jobs that one run claims. A larger limit takes several, each of which begins with the oldest group again. */
const jobsPerClaim = 1000

/**
 * Pauses that are over and holds that lapsed come back first, at most 250 of each a run. Then groups in order: one that
 * is at its cap is stepped over, and of those there are no more than the caller names.
 *
 * ARGV: limit, cap, now, end of the lease, token, the groups at their cap as JSON, then group and busy jobs of each other
 * busy group. Answers id, group, due_at of each job.
 */
const claim = script(
  `${queueFunctions}
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
return reply`,
  // The first answer's jobs, if it was lost, wait for their lease to end.
  { again: true },
)

/** ARGV: until, then id and token of each job. Answers the ids that are lost. */
const extend = script(
  `${queueFunctions}
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
return lost`,
  { again: true },
)

/** ARGV: id and token of each job. */
const release = script(
  `${queueFunctions}
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
return {}`,
  { again: true },
)

/** ARGV: id and token of each job. */
const complete = script(
  `${queueFunctions}
local touched = {}
for i = 1, #ARGV, 2 do completeJob(ARGV[i], ARGV[i + 1], touched) end
placeAll(touched)
return {}`,
  { again: true },
)

/** ARGV: group and end of each pause. */
const pause = script(
  `${queueFunctions}
for i = 1, #ARGV, 2 do
  local group = ARGV[i]
  redis.call('ZADD', queue .. 'paused', 'GT', ARGV[i + 1], group)
  local head = redis.call('HGET', queue .. 'heads', group)
  if head then redis.call('ZREM', queue .. 'ready', head) end
  place(group)
end
return {}`,
  { again: true },
)

/** ARGV: now. Answers the number of jobs and the oldest due time, or ''. Of lapsed holds it looks at 500. */
const stats = script(
  `${queueFunctions}
local now, oldest = tonumber(ARGV[1]), nil
local function see(due)
  due = tonumber(due)
  if due and due <= now and (not oldest or due < oldest) then oldest = due end
end
see(redis.call('ZRANGE', queue .. 'ready', 0, 0, 'WITHSCORES')[2])
see(redis.call('ZRANGE', queue .. 'blocked', 0, 0, 'WITHSCORES')[2])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', '-inf', ARGV[1], 'LIMIT', 0, 500)) do
  see((findJob(id)))
end
return { tostring(redis.call('HLEN', queue .. 'jobs')), oldest and string.format('%.0f', oldest) or '' }`,
  { again: true },
)

/** Answers the time, or nothing. Of paused groups and of held jobs it looks at the 250 that come back first. */
const nextDueAt = script(
  `${queueFunctions}
local nearest
local function see(at)
  if at and (not nearest or at < nearest) then nearest = at end
end
see(tonumber(redis.call('ZRANGE', queue .. 'ready', 0, 0, 'WITHSCORES')[2]))
local paused = redis.call('ZRANGE', queue .. 'paused', 0, 249, 'WITHSCORES')
for i = 1, #paused, 2 do
  local over = tonumber(paused[i + 1])
  if nearest and over >= nearest then break end
  local head = redis.call('HGET', queue .. 'heads', paused[i])
  if head then see(math.max(over, tonumber(redis.call('ZSCORE', queue .. 'blocked', head)))) end
end
local held = redis.call('ZRANGE', queue .. 'held', 0, 249, 'WITHSCORES')
for i = 1, #held, 2 do
  local over = tonumber(held[i + 1])
  if nearest and over >= nearest then break end
  local due, _, group = findJob(held[i])
  see(math.max(over, tonumber(due), tonumber(redis.call('ZSCORE', queue .. 'paused', group) or 0)))
end
return nearest and { string.format('%.0f', nearest) } or {}`,
  { again: true },
)

export interface RedisQueue extends Queue {
  /** Tells all processes that jobs were added, by storage for instance. */
  announce(): void
}

export function redisQueue(connection: Connection, tag: string, ear: Ear): RedisQueue {
  const announce = announcer(() => connection.send('PUBLISH', [addedChannel(tag), ''], false))
  const holds = (claims: readonly Claim[]) => claims.flatMap(({ id, token }) => [id, token])

  return {
    announce,
    async add(jobs, { wake = true } = {}) {
      for (const part of chunks(jobs)) {
        await run(
          connection,
          add,
          tag,
          part.flatMap(({ id, group, due_at }) => [id, group, due_at]),
        )
      }
      if (wake && jobs.length > 0) announce()
    },

    async claim({ limit, cap, busy, leaseMs, now }) {
      const claims: Claim[] = []
      let held = busy
      while (claims.length < limit) {
        const wanted = Math.min(limit - claims.length, jobsPerClaim)
        const token = crypto.randomUUID()
        const reply = await run(connection, claim, tag, [
          wanted,
          cap,
          now,
          now + leaseMs,
          token,
          ...busyArguments(held, cap),
        ])
        const rows = rowsOf(reply, 3) as readonly [string, string, string][]
        for (const [id, group, due] of rows) claims.push({ id, group, due_at: Number(due), token })
        if (rows.length < wanted) break
        const more = { ...held }
        for (const [, group] of rows) more[group] = (Object.hasOwn(more, group) ? more[group]! : 0) + 1
        held = more
      }
      return claims
    },

    async extend(claims, until) {
      const lost: string[] = []
      for (const part of chunks(claims)) lost.push(...(await run(connection, extend, tag, [until, ...holds(part)])))
      return lost
    },
    async release(claims) {
      for (const part of chunks(claims)) await run(connection, release, tag, holds(part))
      if (claims.length > 0) announce()
    },
    async complete(claims) {
      for (const part of chunks(claims)) await run(connection, complete, tag, holds(part))
    },
    async pause(groups) {
      for (const part of chunks(groups)) {
        await run(
          connection,
          pause,
          tag,
          part.flatMap(({ group, until }) => [group, until]),
        )
      }
    },
    async pausedUntil(group, now) {
      const until = await connection.send('ZSCORE', [`${tag}:queue:paused`, group], true)
      return until !== null && Number(until) > now ? Number(until) : null
    },
    async stats(now) {
      const [size, oldest] = await run(connection, stats, tag, [now])
      return { size: Number(size), oldestDueAt: oldest === '' ? null : Number(oldest) }
    },
    async nextDueAt() {
      const [at] = await run(connection, nextDueAt, tag, [])
      return at === undefined ? null : Number(at)
    },
    ...(ear.able && { onAdded: (wake: () => void) => ear.listen(addedChannel(tag), () => wake()) }),
  }
}

/** The groups at their cap as JSON, then group and busy jobs of each other busy group. */
function busyArguments(busy: Readonly<Record<string, number>>, cap: number): (string | number)[] {
  const closed: string[] = []
  const others: (string | number)[] = []
  for (const group of Object.keys(busy)) {
    const count = busy[group]! // its own key
    if (count >= cap) closed.push(group)
    else others.push(group, count)
  }
  return [JSON.stringify(closed), ...others]
}
