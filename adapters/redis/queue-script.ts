/**
 * What scripts that touch the queue share. `{tag}:queue:` holds
 *
 *     jobs           hash    job -> "<due_at> <token> <group>", every job; the token is - until it is first held
 *     group:<group>  zset    waiting jobs of a group by due_at (and id, which is how Redis orders equal scores)
 *     heads          hash    group -> its head, "<job> <group>" of its first waiting job
 *     ready          zset    the heads of groups that are not paused, by due_at; a claim steps over a group by reading its name here
 *     blocked        zset    the heads of paused groups, so that a claim never meets them
 *     paused         zset    groups by the end of their pause
 *     held           zset    held jobs by the end of their lease
 *
 * A lapsed job waits again and keeps its token until somebody takes it: so its holder can still lengthen the hold.
 */
export const queueFunctions = `
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
