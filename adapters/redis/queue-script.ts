import { lowRank } from '../../src/core/job-rank.ts'

/**
 * What scripts that touch the queue share. `{tag}:queue:` holds
 *
 *     jobs              hash    job -> "<rank> <token> <group>", every job; the token is - until it is first held
 *     group:<group>     zset    waiting jobs of a group by rank (and id, which is how Redis orders equal scores)
 *     low               set     groups that may have waiting jobs of low priority
 *     places            hash    group -> where its head stands: "+<workspace> <job>" in the line of its workspace, or
 *                               "-<workspace> <job>" among the stopped; for groups that have waiting jobs
 *     line:<workspace>  zset    heads of the workspace's groups that are not paused, by due_at
 *     stopped           zset    heads of paused groups by due_at, so that a claim never meets them
 *     paused            zset    groups by the end of their pause
 *     lines             zset    workspaces by their next turn: when the first head of their line fell due, or when they were
 *                               last served, the later of the two
 *     oldest            zset    the same workspaces by when the first head of their line fell due
 *     served            zset    workspaces by when they were last served, for an hour
 *     held              zset    held jobs by the end of their lease
 *
 * The rank of a job is its due_at, and 2^51 more where its priority is low: such jobs stand behind all others of the group. A
 * head of a group is "<job> <group>" of the waiting job that falls due first; a claim steps over a group by reading its name here. A
 * token is "<random>/<workspace>": so a job that waits again knows its workspace although its group has no place. No
 * name of a key is the beginning of another name that ids are appended to, so no id makes a key of another kind.
 *
 * A lapsed job waits again, and the token stays until somebody takes the job: so the holder can still lengthen the hold.
 *
 * Stores of the version before have no places, lines and turns: processes of that version keep the heads of all groups
 * in
 *
 *     heads             hash    group -> its head
 *     ready             zset    heads of groups that are not paused, by due_at
 *     blocked           zset    heads of paused groups, by due_at
 *
 * and know nothing of workspaces. Such processes may run beside this version. Each claim takes heads over from these
 * keys. Whatever changes a group in the keys of this version removes the group's head from the old keys, since a claim
 * of the version before fails at a head without a job. Changes by the version before leave heads in lines that are out
 * of date: a claim that meets such a head files the head's group anew. The workspace of a job that they added is the
 * workspace of the attempt, if this Redis is the storage too; else it is '' until somebody adds the job again.
 *
 * Today there is one shard. The number of a shard would stand in the tag: `{posthorn:7}:queue:`.
 */
export const queueFunctions = `
local queue = KEYS[1] .. ':queue:'

-- Whether heads of the version before exist (nil until asked), and the workspaces whose line changed.
local mixed, changed = nil, {}

local function isMixed()
  if mixed == nil then mixed = redis.call('EXISTS', queue .. 'heads') == 1 end
  return mixed
end

local lowRank = ${lowRank}

local function isLow(rank)
  rank = tonumber(rank)
  return rank >= lowRank and rank < 2 * lowRank
end

-- When a job of this rank falls due.
local function dueOf(rank)
  return isLow(rank) and string.format('%.0f', tonumber(rank) - lowRank) or rank
end

-- Whether waiting jobs of low priority may exist (nil until asked).
local someLow
local function anyLow()
  if someLow == nil then someLow = redis.call('EXISTS', queue .. 'low') == 1 end
  return someLow
end

local function waitIn(group, rank, id)
  redis.call('ZADD', queue .. 'group:' .. group, rank, id)
  if isLow(rank) then
    redis.call('SADD', queue .. 'low', group)
    someLow = true
  end
end

-- Lua compares texts by the server's locale, Redis by their bytes.
local function isBefore(a, b)
  for i = 1, math.min(#a, #b) do
    local left, right = string.byte(a, i), string.byte(b, i)
    if left ~= right then return left < right end
  end
  return #a < #b
end

-- The waiting job of a group that falls due first: its id, and when.
local function oldestOf(group)
  local key = queue .. 'group:' .. group
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local id, due = first[1], first[2] and dueOf(first[2])
  if not anyLow() or id and isLow(first[2]) then return id, due end
  local low = redis.call('ZRANGEBYSCORE', key, lowRank, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if not low[1] then
    redis.call('SREM', queue .. 'low', group)
    return id, due
  end
  local lowDue = dueOf(low[2])
  local isFirst = tonumber(lowDue) < tonumber(due) or tonumber(lowDue) == tonumber(due) and isBefore(low[1], id)
  if isFirst then return low[1], lowDue end
  return id, due
end

local function findJob(id)
  local job = redis.call('HGET', queue .. 'jobs', id)
  if job then return string.match(job, '^(%S+) (%S+) (.*)$') end
end

local function workspaceOf(id)
  local _, token = findJob(id)
  local workspace = string.match(token or '', '/(.+)$')
  if workspace then return workspace end
  local room = redis.call('HGET', KEYS[1] .. ':attempt:' .. id, 'room')
  return room and redis.call('HGET', KEYS[1] .. ':room:' .. room, 'id') or ''
end

-- Commands over lists of any length: Lua hands over fewer than 8,000 values at once.
local function callEach(command, key, list)
  for from = 1, #list, 4000 do redis.call(command, key, unpack(list, from, math.min(from + 3999, #list))) end
end

local function askEach(command, key, list)
  if #list <= 4000 then return redis.call(command, key, unpack(list)) end
  local answers = {}
  for from = 1, #list, 4000 do
    local to = math.min(from + 3999, #list)
    local part = redis.call(command, key, unpack(list, from, to))
    for i = 1, to - from + 1 do answers[from + i - 1] = part[i] end
  end
  return answers
end

local function dropOldHeads(groups)
  local heads, found = {}, {}
  for i, head in ipairs(askEach('HMGET', queue .. 'heads', groups)) do
    if head then
      heads[#heads + 1] = head
      found[#found + 1] = groups[i]
    end
  end
  if #heads == 0 then return end
  callEach('ZREM', queue .. 'ready', heads)
  callEach('ZREM', queue .. 'blocked', heads)
  callEach('HDEL', queue .. 'heads', found)
end

-- What is to be written, gathered so that each key is written once: members of sorted sets by key, and fields of places.
local leaving, coming, left, filed = {}, {}, {}, {}

local function leave(key, member)
  local list = leaving[key]
  if list then list[#list + 1] = member else leaving[key] = { member } end
end

local function come(key, score, member)
  local list = coming[key]
  if list then
    list[#list + 1] = score
    list[#list + 1] = member
  else
    coming[key] = { score, member }
  end
end

local function indexOf(mark, workspace)
  if mark == '-' then return queue .. 'stopped' end
  changed[workspace] = true
  return queue .. 'line:' .. workspace
end

-- Files a group, which stood at "before", under its first waiting job, if a job waits.
local function file(group, before, job, due, isPaused, workspace)
  local mark, found, head
  if before then mark, found, head = string.match(before, '^([+-])(%S*) (%S+)$') end
  if job then
    workspace = found and found ~= '' and found or workspace or workspaceOf(job)
    local at = isPaused and '-' or '+'
    local after = at .. workspace .. ' ' .. job
    if after == before then return end
    come(indexOf(at, workspace), due, job .. ' ' .. group)
    filed[#filed + 1] = group
    filed[#filed + 1] = after
  elseif before then
    left[#left + 1] = group
  end
  if before then leave(indexOf(mark, found), head .. ' ' .. group) end
end

-- Files a line, whose first head fell due at that time, under the line's next turn.
local function fileLine(workspace, due, served)
  if due then
    come(queue .. 'lines', served and tonumber(served) > tonumber(due) and served or due, workspace)
    come(queue .. 'oldest', due, workspace)
  else
    leave(queue .. 'lines', workspace)
    leave(queue .. 'oldest', workspace)
  end
end

local function write()
  for key, members in pairs(leaving) do callEach('ZREM', key, members) end
  for key, members in pairs(coming) do callEach('ZADD', key, members) end
  callEach('HDEL', queue .. 'places', left)
  callEach('HSET', queue .. 'places', filed)
  leaving, coming, left, filed = {}, {}, {}, {}
end

-- Writes what groups changed, then files the lines that changed by it.
local function writeAll()
  write()
  local workspaces = {}
  for workspace in pairs(changed) do workspaces[#workspaces + 1] = workspace end
  if #workspaces == 0 then return end
  local served = redis.call('ZMSCORE', queue .. 'served', unpack(workspaces))
  for i, workspace in ipairs(workspaces) do
    local first = redis.call('ZRANGE', queue .. 'line:' .. workspace, 0, 0, 'WITHSCORES')
    fileLine(workspace, first[2], served[i])
  end
  changed = {}
  write()
end

-- Files groups that changed, each with its workspace, or false where the workspace is not known.
local function placeAll(touched)
  local groups = {}
  for group in pairs(touched) do groups[#groups + 1] = group end
  if #groups == 0 then return end
  if isMixed() then dropOldHeads(groups) end
  local before = askEach('HMGET', queue .. 'places', groups)
  local pauses = askEach('ZMSCORE', queue .. 'paused', groups)
  for i, group in ipairs(groups) do
    local job, due = oldestOf(group)
    file(group, before[i], job, due, pauses[i], touched[group])
  end
  writeAll()
end

-- Whether a job may have a lease ("<from> <until> <token>", or '') from the start.
local function isGranted(lease, group)
  if lease == '' then return false end
  local paused = redis.call('ZSCORE', queue .. 'paused', group)
  return not paused or tonumber(paused) <= tonumber(string.match(lease, '^%S+'))
end

-- Answers "held" for a new job that is held with its lease, "waits" for another new job. A job that is known already still
-- tells the workspace of the job's group.
local function addJob(id, workspace, group, rank, lease, touched)
  if isGranted(lease, group) then
    local until_, token = string.match(lease, '^%S+ (%S+) (%S+)$')
    if redis.call('HSETNX', queue .. 'jobs', id, rank .. ' ' .. token .. ' ' .. group) == 0 then return nil end
    redis.call('ZADD', queue .. 'held', until_, id)
    return 'held'
  end
  touched[group] = workspace
  if redis.call('HSETNX', queue .. 'jobs', id, rank .. ' - ' .. group) == 0 then return nil end
  waitIn(group, rank, id)
  return 'waits'
end

local function touch(touched, group, token)
  touched[group] = touched[group] or string.match(token, '/(.+)$') or false
end

-- A held job waits again, at its place.
local function giveJobBack(id, rank, holder, group, touched)
  redis.call('HSET', queue .. 'jobs', id, rank .. ' - ' .. group)
  redis.call('ZREM', queue .. 'held', id)
  waitIn(group, rank, id)
  touch(touched, group, holder)
end

local function completeJob(id, token, touched)
  local _, holder, group = findJob(id)
  if holder ~= token then return end
  redis.call('HDEL', queue .. 'jobs', id)
  if redis.call('ZREM', queue .. 'held', id) == 0 then
    redis.call('ZREM', queue .. 'group:' .. group, id)
    touch(touched, group, token)
  end
end
`
