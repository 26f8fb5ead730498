import { shareFactor } from '../../src/core/share.ts'
import { queueFunctions } from './queue-script.ts'

/** Pauses that are over, holds that lapsed and heads of the version before: at most 250 of each a run. */
const arrivals = `
local touched, more = {}, false
for _, group in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'paused', '-inf', now, 'LIMIT', 0, 250)) do
  redis.call('ZREM', queue .. 'paused', group)
  touched[group] = false
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', '-inf', now, 'LIMIT', 0, 250)) do
  local due, holder, group = findJob(id)
  redis.call('ZREM', queue .. 'held', id)
  redis.call('ZADD', queue .. 'group:' .. group, due, id)
  touch(touched, group, holder)
end

local function takeOver()
  local room = 250
  for _, index in ipairs({ 'ready', 'blocked' }) do
    local heads = room > 0 and redis.call('ZRANGE', queue .. index, 0, room - 1) or {}
    if #heads > 0 then
      local groups = {}
      for i, head in ipairs(heads) do
        groups[i] = string.sub(head, string.find(head, ' ', 1, true) + 1)
        touched[groups[i]] = touched[groups[i]] or false
      end
      redis.call('ZREM', queue .. index, unpack(heads))
      redis.call('HDEL', queue .. 'heads', unpack(groups))
      room = room - #heads
    end
  end
  if room == 250 then redis.call('UNLINK', queue .. 'heads') end
  more = #redis.call('ZRANGEBYSCORE', queue .. 'ready', '-inf', now, 'LIMIT', 0, 1) > 0
end
if isMixed() then takeOver() end
placeAll(touched)
touched, changed = {}, {}
`

/**
 * The due jobs of a workspace, one after the other: `advance` brings the next one forward, read in parts that grow. Heads
 * that are out of date are noted, and left where they are until all is read.
 */
const offers = `
local stale, staleCount = {}, 0

-- The part of a group that is offered: its jobs as read so far, id and due time of each.
local function openGroup(offer, head)
  local group = string.sub(head, string.find(head, ' ', 1, true) + 1)
  local room = cap - (groupsInUse[group] or 0)
  if room <= 0 or closed[group] then return end
  local key, size = queue .. 'group:' .. group, math.min(room, offer.size)
  local jobs = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'WITHSCORES', 'LIMIT', 0, size)
  local id = string.sub(head, 1, #head - #group - 1)
  if jobs[1] ~= id then
    stale[group] = { workspace = offer.workspace, head = id }
    staleCount = staleCount + 1
  end
  if #jobs == 0 or (isMixed() and redis.call('ZSCORE', queue .. 'paused', group)) then return end
  return { name = group, key = key, workspace = offer.workspace, head = id, jobs = jobs, read = size, room = room, taken = 0 }
end

-- Whether there is a next job; then it is the one at offer.at of offer.group.jobs.
local function advance(offer)
  local group = offer.group
  if group then
    offer.at = offer.at + 2
    if not group.jobs[offer.at] and #group.jobs == group.read * 2 and group.read < group.room then
      offer.size = offer.size * 2
      local size = math.min(group.room - group.read, offer.size)
      local jobs = redis.call('ZRANGEBYSCORE', group.key, '-inf', now, 'WITHSCORES', 'LIMIT', group.read, size)
      for _, value in ipairs(jobs) do group.jobs[#group.jobs + 1] = value end
      group.read = group.read + size
    end
    if group.jobs[offer.at] then return true end
  end
  while staleCount < 250 do
    local head = offer.heads[offer.step]
    if not head then
      if #offer.heads < offer.wanted then return false end
      offer.from = offer.from + #offer.heads
      if offer.from > 0 then offer.size = offer.size * 2 end
      offer.wanted = math.min(offer.size, 250)
      offer.heads = redis.call('ZRANGEBYSCORE', queue .. 'line:' .. offer.workspace, '-inf', now, 'LIMIT', offer.from, offer.wanted)
      offer.step = 1
      if #offer.heads == 0 then return false end
      head = offer.heads[1]
    end
    offer.step = offer.step + 1
    offer.group, offer.at = openGroup(offer, head), 1
    if offer.group then return true end
  end
  more = true
  return false
end
`

/**
 * The workspaces that offer something, in their turns: all that have slots in use, and of the others no more than can get
 * one. The time in `lines` is never later than the turn, but for workspaces that were served an hour ago.
 */
const turns = `
local found, settled, from, inOrder = {}, 0, 0, true
while settled < limit and staleCount < 250 do
  local wanted = math.min(limit - settled, 250)
  local lines = redis.call('ZRANGEBYSCORE', queue .. 'lines', '-inf', now, 'WITHSCORES', 'LIMIT', from, wanted)
  for i = 1, #lines, 2 do
    local workspace = lines[i]
    local size = math.ceil(limit / (from + #lines / 2))
    local offer = { workspace = workspace, heads = {}, wanted = 0, from = 0, step = 1, size = size }
    if advance(offer) then
      local used = workspacesInUse[workspace] or 0
      local due = tonumber(offer.group.jobs[2])
      offer.turn = math.max(due, tonumber(redis.call('ZSCORE', queue .. 'served', workspace) or due))
      offer.level = used + 1
      offer.isExact = offer.turn == tonumber(lines[i + 1])
      found[#found + 1] = offer
      offer.rank = #found
      inOrder = inOrder and offer.isExact
      if used == 0 and offer.turn <= tonumber(lines[i + 1]) then settled = settled + 1 end
    end
  end
  from = from + #lines / 2
  if #lines < wanted * 2 then break end
end

-- Lua compares texts by the server's locale, Redis by their bytes.
local function isBefore(a, b)
  for i = 1, math.min(#a, #b) do
    local left, right = string.byte(a, i), string.byte(b, i)
    if left ~= right then return left < right end
  end
  return #a < #b
end
if not inOrder then
  table.sort(found, function(a, b)
    if a.turn ~= b.turn then return a.turn < b.turn end
    if a.isExact and b.isExact then return a.rank < b.rank end
    return isBefore(a.workspace, b.workspace)
  end)
  for rank, offer in ipairs(found) do offer.rank = rank end
end
`

/** Takes level by level. Of a level, workspaces that were served already and those that begin there come by their turns. */
const choice = `
local taken, groups, beginning = {}, {}, {}
for _, offer in ipairs(found) do
  local level = beginning[offer.level] or {}
  level[#level + 1] = offer
  beginning[offer.level] = level
end

local function take(offer)
  local group = offer.group
  if group.taken == 0 then groups[#groups + 1] = group end
  group.taken = group.taken + 1
  taken[#taken + 1] = { id = group.jobs[offer.at], due = group.jobs[offer.at + 1], group = group }
end

local function mayTake(level)
  local left = free - #taken
  return #taken < limit and left > 0 and level <= math.max(1, ${shareFactor} * left)
end

local level, open, waiting = 1, {}, #found
while (#open > 0 or waiting > 0) and mayTake(level) do
  if beginning[level] then
    waiting = waiting - #beginning[level]
    local isMerged = #open > 0
    for _, offer in ipairs(beginning[level]) do open[#open + 1] = offer end
    if isMerged then table.sort(open, function(a, b) return a.rank < b.rank end) end
  end
  local rest = {}
  for _, offer in ipairs(open) do
    if not mayTake(level) then break end
    take(offer)
    if advance(offer) then rest[#rest + 1] = offer end
  end
  open, level = rest, level + 1
end
`

/** Holds what was taken, and files groups and lines anew. */
const holding = `
local reply, jobs, holds, serving = { '' }, {}, {}, {}
for _, job in ipairs(taken) do
  local group = job.group
  jobs[#jobs + 1] = job.id
  jobs[#jobs + 1] = job.due .. ' ' .. token .. '/' .. group.workspace .. ' ' .. group.name
  holds[#holds + 1] = lease
  holds[#holds + 1] = job.id
  reply[#reply + 1] = job.id
  reply[#reply + 1] = group.workspace
  reply[#reply + 1] = group.name
  reply[#reply + 1] = job.due
end
if #taken > 0 then
  redis.call('HSET', queue .. 'jobs', unpack(jobs))
  redis.call('ZADD', queue .. 'held', unpack(holds))
  local isServing = {}
  for _, group in ipairs(groups) do
    redis.call('ZREMRANGEBYRANK', group.key, 0, group.taken - 1)
    if not isServing[group.workspace] then
      isServing[group.workspace] = true
      serving[#serving + 1] = now
      serving[#serving + 1] = group.workspace
    end
  end
  redis.call('ZADD', queue .. 'served', unpack(serving))
  local hourAgo = string.format('%.0f', now - 3600000)
  local old = redis.call('ZRANGEBYSCORE', queue .. 'served', '-inf', hourAgo, 'LIMIT', 0, 250)
  if #old > 0 then redis.call('ZREM', queue .. 'served', unpack(old)) end
end
for name, group in pairs(stale) do
  redis.call('ZREM', queue .. 'line:' .. group.workspace, group.head .. ' ' .. name)
  if redis.call('HGET', queue .. 'places', name) == '+' .. group.workspace .. ' ' .. group.head then
    redis.call('HDEL', queue .. 'places', name)
  end
  changed[group.workspace] = true
  place(name, group.workspace ~= '' and group.workspace or nil)
end
for _, group in ipairs(groups) do
  if not stale[group.name] then place(group.name, group.workspace, '+' .. group.workspace .. ' ' .. group.head) end
end
placeLines()
reply[1] = more and 'more' or ''
return reply`

/**
 * A claim: see `Queue.claim`. What it reads is bounded by the limit and by what the caller names.
 *
 * ARGV: limit, free, cap, now, end of the lease, token, and as JSON: groups that give nothing, slots in use by group and by
 * workspace (both name and number in turn). Answers "more" where heads were left for another run, or '', then id,
 * workspace, group, due_at of each job.
 */
export const claimScript = `${queueFunctions}
local limit, free, cap = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, lease, token = ARGV[4], ARGV[5], ARGV[6]
local closed, groupsInUse, workspacesInUse = {}, {}, {}
for _, group in ipairs(cjson.decode(ARGV[7])) do closed[group] = true end
local function countFrom(list, counts)
  for i = 1, #list, 2 do counts[list[i]] = list[i + 1] end
end
countFrom(cjson.decode(ARGV[8]), groupsInUse)
countFrom(cjson.decode(ARGV[9]), workspacesInUse)
${arrivals}${offers}${turns}${choice}${holding}`
