import { shareFactor } from '../../src/core/fair-share.ts'
import { answering, repeated } from './claim-answer-script.ts'
import { eventFunctions } from './event-script.ts'
import { loadFunctions } from './loading.ts'
import { queueFunctions } from './queue-script.ts'

/** Pauses that are over, holds that lapsed and heads of the version before: at most 250 of each a run. */
const arrivals = `
local touched, more = {}, false
for _, group in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'paused', '-inf', now, 'LIMIT', 0, 250)) do
  redis.call('ZREM', queue .. 'paused', group)
  touched[group] = false
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', '-inf', now, 'LIMIT', 0, 250)) do
  local rank, holder, group = findJob(id)
  redis.call('ZREM', queue .. 'held', id)
  waitIn(group, rank, id)
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
`

/**
 * The due jobs of a workspace, one after the other: `advance` goes on to the next job; jobs are read in parts that
 * grow. Of heads and of a group's jobs the script reads one more than it offers, so that it knows what comes after the
 * taken jobs. Heads that are out of date are noted, and left where they are until all is read.
 */
const offers = `
local stale, staleCount = {}, 0

local function openGroup(offer, head)
  local name = string.sub(head, string.find(head, ' ', 1, true) + 1)
  local room = cap - (groupsInUse[name] or 0)
  if room <= 0 or closed[name] then return end
  local key, wanted = queue .. 'group:' .. name, math.min(room, offer.size) + 1
  local jobs = redis.call('ZRANGE', key, 0, wanted - 1, 'WITHSCORES')
  local id = string.sub(head, 1, #head - #name - 1)
  local first, due = jobs[1], jobs[2]
  if anyLow() then first, due = oldestOf(name) end
  if first ~= id then
    stale[name] = { offer = offer, head = id }
    staleCount = staleCount + 1
  end
  if isMixed() and redis.call('ZSCORE', queue .. 'paused', name) then return end
  return {
    name = name, key = key, offer = offer, head = id, due = due, jobs = jobs, wanted = wanted, room = room, taken = 0,
    lowRoom = maxLow - (lowInUse[name] or 0),
    value = ' ' .. token .. '/' .. offer.workspace .. ' ' .. name,
  }
end

-- Whether the group offers its job of this number, jobs of low priority after those of usual priority.
local function offersLow(group, number)
  if not group.usual then
    group.usual, group.low = number - 1, {}
    local count = math.min(group.room - number + 1, group.lowRoom)
    if count > 0 and anyLow() then
      local last = string.format('%.0f', time + lowRank)
      group.low = redis.call('ZRANGEBYSCORE', group.key, lowRank, last, 'WITHSCORES', 'LIMIT', 0, count)
    end
  end
  return group.low[2 * (number - group.usual)] ~= nil
end

-- Whether the group offers its job of this number.
local function offersJob(group, number)
  if group.usual then return offersLow(group, number) end
  if number > group.room then return false end
  if number == group.wanted and group.jobs[2 * number] then
    group.offer.size = group.offer.size * 2
    group.wanted = math.min(group.room, number - 1 + group.offer.size) + 1
    local jobs = redis.call('ZRANGE', group.key, number, group.wanted - 1, 'WITHSCORES')
    for _, value in ipairs(jobs) do group.jobs[#group.jobs + 1] = value end
  end
  local due = group.jobs[2 * number]
  return due and tonumber(due) <= time or offersLow(group, number)
end

-- The id and the rank of a job that the group offers.
local function jobAt(group, number)
  if group.usual and number > group.usual then
    local i = 2 * (number - group.usual)
    return group.low[i - 1], group.low[i]
  end
  return group.jobs[2 * number - 1], group.jobs[2 * number]
end

local function readHeads(offer)
  local from = #offer.heads / 2
  if from < offer.wanted then return end
  offer.wanted = from + math.min(offer.size, from == 0 and 16 or 3 * from, 250) + 1
  local heads = redis.call('ZRANGE', queue .. 'line:' .. offer.workspace, from, offer.wanted - 1, 'WITHSCORES')
  for _, value in ipairs(heads) do offer.heads[#offer.heads + 1] = value end
end

-- Whether a next job exists; then it has offer.number in offer.group.
local function advance(offer)
  if offer.group then
    offer.number = offer.number + 1
    if offersJob(offer.group, offer.number) then return true end
  end
  while staleCount < 250 do
    offer.step = offer.step + 1
    if offer.step >= offer.wanted then readHeads(offer) end
    local due = offer.heads[2 * offer.step]
    if not due or tonumber(due) > time then return false end
    offer.group, offer.number = openGroup(offer, offer.heads[2 * offer.step - 1]), 1
    if offer.group and offersJob(offer.group, 1) then return true end
  end
  more = true
  return false
end
`

/**
 * The workspaces that offer jobs, in the order of their turns: all with slots in use, and of the others no more than
 * can get a slot. The time in `lines` is never later than the turn, but for workspaces that were served an hour ago.
 */
const turns = `
local found, settled, from, inOrder = {}, 0, 0, true
while settled < limit and staleCount < 250 do
  local wanted = math.min(limit - settled, 250)
  local lines = redis.call('ZRANGEBYSCORE', queue .. 'lines', '-inf', now, 'WITHSCORES', 'LIMIT', from, wanted)
  local names = {}
  for i = 1, #lines, 2 do names[#names + 1] = lines[i] end
  local served = #names > 0 and redis.call('ZMSCORE', queue .. 'served', unpack(names))
  local size = math.ceil(limit / math.max(1, from + #names))
  for i, workspace in ipairs(names) do
    local offer = { workspace = workspace, heads = {}, wanted = 0, step = 0, size = size }
    if advance(offer) then
      local used, earliest = workspacesInUse[workspace] or 0, tonumber(lines[2 * i])
      local due = tonumber(offer.group.due)
      offer.turn = math.max(due, tonumber(served[i] or due))
      offer.level = used + 1
      offer.isExact = offer.turn == earliest
      found[#found + 1] = offer
      offer.rank = #found
      inOrder = inOrder and offer.isExact
      if used == 0 and offer.turn <= earliest then settled = settled + 1 end
    end
  end
  from = from + #names
  if #names < wanted then break end
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

/**
 * Takes level by level. Within a level, workspaces served before and new workspaces come by their turns. A workspace
 * that is left alone needs no turns.
 */
const choice = `
local count, groups, beginning = 0, {}, {}
local reply, run, runAt, jobs, holds, serving = { '' }, nil, nil, {}, {}, {}
for _, offer in ipairs(found) do
  local level = beginning[offer.level] or {}
  level[#level + 1] = offer
  beginning[offer.level] = level
end

-- The reply holds runs of jobs of one group: workspace, name of the group, how many jobs, then what \`answerJob\` says of each.
local function endRun()
  if run then reply[runAt] = tostring((#reply - runAt) / width) end
end

local function take(offer)
  local group = offer.group
  local id, rank = jobAt(group, offer.number)
  if group.taken == 0 then groups[#groups + 1] = group end
  if group ~= run then
    endRun()
    reply[#reply + 1] = offer.workspace
    reply[#reply + 1] = group.name
    reply[#reply + 1] = ''
    run, runAt = group, #reply
  end
  answerJob(reply, id, rank)
  jobs[#jobs + 1] = id
  jobs[#jobs + 1] = rank .. group.value
  holds[#holds + 1] = lease
  holds[#holds + 1] = id
  group.taken = group.taken + 1
  count = count + 1
  if not offer.isServed then
    offer.isServed = true
    serving[#serving + 1] = now
    serving[#serving + 1] = offer.workspace
  end
end

local function mayTake(level)
  local left = free - count
  return count < limit and left > 0 and (level == 1 or level <= ${shareFactor} * left)
end

local level, open, waiting = 1, {}, #found
while (#open > 0 or waiting > 0) and mayTake(level) do
  if beginning[level] then
    waiting = waiting - #beginning[level]
    local isMerged = #open > 0
    for _, offer in ipairs(beginning[level]) do open[#open + 1] = offer end
    if isMerged then table.sort(open, function(a, b) return a.rank < b.rank end) end
  end
  if #open == 1 and waiting == 0 then
    repeat
      take(open[1])
      level = level + 1
    until not advance(open[1]) or not mayTake(level)
    break
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
if count > 0 then
  redis.call('HSET', queue .. 'jobs', unpack(jobs))
  redis.call('ZADD', queue .. 'held', unpack(holds))
  redis.call('ZADD', queue .. 'served', unpack(serving))
end
-- One claim of sixteen forgets who was served an hour ago, and files groups anew that a process of an older version,
-- which knows no priorities, filed by the rank of a job of low priority.
if string.sub(token, 1, 1) == '0' then
  local hourAgo = string.format('%.0f', time - 3600000)
  local old = redis.call('ZRANGEBYSCORE', queue .. 'served', '-inf', hourAgo, 'LIMIT', 0, 250)
  if #old > 0 then redis.call('ZREM', queue .. 'served', unpack(old)) end
  for _, workspace in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'lines', lowRank, '+inf', 'LIMIT', 0, 50)) do
    local line = queue .. 'line:' .. workspace
    local heads = redis.call('ZRANGEBYSCORE', line, lowRank, '+inf', 'WITHSCORES', 'LIMIT', 0, 250)
    for i = 1, #heads, 2 do redis.call('ZADD', line, dueOf(heads[i + 1]), heads[i]) end
    changed[workspace] = true
  end
end

-- When the first head of a line falls due. It is known where a head is left of those that were read, or all were read.
local function firstDue(offer, gone, earliest)
  for i = 1, #offer.heads, 2 do
    if not gone[offer.heads[i]] then
      local due = offer.heads[i + 1]
      return true, earliest and tonumber(earliest) < tonumber(due) and earliest or due
    end
  end
  return #offer.heads / 2 < offer.wanted, earliest
end

endRun()
local served, gone, earliest, names = {}, {}, {}, {}
for _, group in ipairs(groups) do
  local offer, job, due = group.offer, group.jobs[2 * group.taken + 1], group.jobs[2 * group.taken + 2]
  local usual = math.min(group.taken, group.usual or group.taken)
  if usual > 0 then redis.call('ZREMRANGEBYRANK', group.key, 0, usual - 1) end
  for number = usual + 1, group.taken do redis.call('ZREM', group.key, (jobAt(group, number))) end
  if anyLow() then job, due = oldestOf(group.name) end
  names[#names + 1] = group.name
  if not stale[group.name] then
    local workspace = offer.workspace ~= '' and offer.workspace or nil
    file(group.name, '+' .. offer.workspace .. ' ' .. group.head, job, due, false, workspace)
    served[offer.workspace] = offer
    gone[group.head .. ' ' .. group.name] = true
    if due and not (earliest[offer] and tonumber(earliest[offer]) < tonumber(due)) then earliest[offer] = due end
  end
end
if #names > 0 and isMixed() then dropOldHeads(names) end
for workspace, offer in pairs(served) do
  local isKnown, due = firstDue(offer, gone, earliest[offer])
  if isKnown and workspace ~= '' then
    changed[workspace] = nil
    fileLine(workspace, due, now)
  end
end
writeAll()

touched = {}
for name, each in pairs(stale) do
  local workspace = each.offer.workspace
  redis.call('ZREM', queue .. 'line:' .. workspace, each.head .. ' ' .. name)
  if redis.call('HGET', queue .. 'places', name) == '+' .. workspace .. ' ' .. each.head then
    redis.call('HDEL', queue .. 'places', name)
  end
  changed[workspace] = true
  touched[name] = workspace ~= '' and workspace
end
placeAll(touched)
reply[1] = more and 'more' or ''
return reply`

/**
 * A claim: see `Queue.claim`. What it reads is bounded by the limit and by what the caller names.
 *
 * ARGV: limit, free, cap, now, end of the lease, token, and as JSON four lists: groups that give nothing, slots in use by
 * group, by workspace, and by jobs of low priority by group (each name and number in turn); the slots that jobs of low priority
 * may take of a group; 1 to load the attempts. Answers "more" where heads were left for another run, or '', then of consecutive
 * jobs of a group workspace, group, how many, and what `answerJob` says of each.
 */
export const claimScript = `${eventFunctions}${queueFunctions}${loadFunctions}
local limit, free, cap = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, time, lease, token = ARGV[4], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local lowInUse, maxLow, loads = {}, tonumber(ARGV[8]), ARGV[9] == '1'
local closed, groupsInUse, workspacesInUse = {}, {}, {}
local told = cjson.decode(ARGV[7])
for _, group in ipairs(told[1]) do closed[group] = true end
for i = 1, #told[2], 2 do groupsInUse[told[2][i]] = told[2][i + 1] end
for i = 1, #told[3], 2 do workspacesInUse[told[3][i]] = told[3][i + 1] end
for i = 1, #told[4], 2 do lowInUse[told[4][i]] = told[4][i + 1] end
${answering}${repeated}${arrivals}${offers}${turns}${choice}${holding}`
