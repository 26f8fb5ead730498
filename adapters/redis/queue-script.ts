/**
 * What scripts that touch the queue share. `{tag}:queue:` holds
 *
 *     jobs           hash    job -> "<due_at> <token> <group>", every job; the token is - until it is first held
 *     group:<group>  zset    waiting jobs of a group by due_at (and id, which is how Redis orders equal scores)
 *     heads          hash    group -> its first waiting job
 *     ready          zset    the heads of groups that are not paused, by due_at
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
  local head = redis.call('HGET', queue .. 'heads', group)
  if head and head ~= first[1] then
    redis.call('ZREM', index, head)
    redis.call('HDEL', queue .. 'heads', group)
  end
  if first[1] then
    redis.call('ZADD', index, first[2], first[1])
    redis.call('HSET', queue .. 'heads', group, first[1])
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
