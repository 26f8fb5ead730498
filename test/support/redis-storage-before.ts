/**
 * The storage on Redis of the version before no id could make the key of another row, and the writes of configuration of the
 * version before patterns were counted: their scripts, word for word, for tests of both versions side by side on one store.
 */
import type { Delivery, Enqueueing, NewAttempt, Settled, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { IngestAnswer, IngestEntry } from '../../src/contracts/storage/events.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import type { TestClient } from './redis.ts'

const roomFunctions = `
local tag = KEYS[1]

local function roomOf(workspace)
  return redis.call('HGET', tag .. ':workspaces:' .. workspace, 'room')
end

local function raise(room, workspace)
  local revision = tostring(redis.call('INCR', tag .. ':revision'))
  redis.call('HSET', tag .. ':room:' .. room, 'revision', revision)
  redis.call('PUBLISH', tag .. ':changed', 'w' .. workspace)
  return revision
end

local function raiseRoutes()
  redis.call('SET', tag .. ':routes-revision', redis.call('INCR', tag .. ':revision'))
  redis.call('PUBLISH', tag .. ':changed', 'routes')
end

-- Removes a configuration row of the room with all that points at it, and tells whether routes changed.
local function forget(room, kind, id)
  local key = tag .. ':' .. kind .. ':' .. id
  local row = redis.call('HMGET', key, 'room', 'keys', 'endpoint_id', 'source_id')
  if row[1] ~= room then return false end
  for _, held in ipairs(cjson.decode(row[2])) do redis.call('HDEL', tag .. ':holders', held) end
  if row[3] then redis.call('SREM', tag .. ':plugins-of:endpoints:' .. row[3], id) end
  if row[4] then redis.call('SREM', tag .. ':plugins-of:sources:' .. row[4], id) end
  redis.call('ZREM', tag .. ':room:' .. room .. ':' .. kind, id)
  redis.call('DEL', key)
  return kind == 'sources' and redis.call('ZREM', tag .. ':routes', id) == 1
end
`

const queueFunctions = `
local queue = KEYS[1] .. ':queue:'

-- Whether there are heads of the version before, once it is asked; and the workspaces whose line changed.
local mixed, changed = nil, {}

local function isMixed()
  if mixed == nil then mixed = redis.call('EXISTS', queue .. 'heads') == 1 end
  return mixed
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

local function dropOldHeads(groups)
  local heads, found = {}, {}
  for i, head in ipairs(redis.call('HMGET', queue .. 'heads', unpack(groups))) do
    if head then
      heads[#heads + 1] = head
      found[#found + 1] = groups[i]
    end
  end
  if #heads == 0 then return end
  redis.call('ZREM', queue .. 'ready', unpack(heads))
  redis.call('ZREM', queue .. 'blocked', unpack(heads))
  redis.call('HDEL', queue .. 'heads', unpack(found))
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

-- Files a group, which stood at "before", under its first waiting job, if there is one.
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

-- Files a line, whose first head fell due then, under its next turn.
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
  for key, members in pairs(leaving) do redis.call('ZREM', key, unpack(members)) end
  for key, members in pairs(coming) do redis.call('ZADD', key, unpack(members)) end
  if #left > 0 then redis.call('HDEL', queue .. 'places', unpack(left)) end
  if #filed > 0 then redis.call('HSET', queue .. 'places', unpack(filed)) end
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
  local before = redis.call('HMGET', queue .. 'places', unpack(groups))
  local pauses = redis.call('ZMSCORE', queue .. 'paused', unpack(groups))
  for i, group in ipairs(groups) do
    local first = redis.call('ZRANGE', queue .. 'group:' .. group, 0, 0, 'WITHSCORES')
    file(group, before[i], first[1], first[2], pauses[i], touched[group])
  end
  writeAll()
end

-- Answers whether the job is new. A job already known still tells the workspace of its group.
local function addJob(id, workspace, group, due, touched)
  touched[group] = workspace
  if redis.call('HSETNX', queue .. 'jobs', id, due .. ' - ' .. group) == 0 then return false end
  redis.call('ZADD', queue .. 'group:' .. group, due, id)
  return true
end

local function touch(touched, group, token)
  touched[group] = touched[group] or string.match(token, '/(.+)$') or false
end

local function completeJob(id, token, touched)
  local due, holder, group = findJob(id)
  if holder ~= token then return end
  redis.call('HDEL', queue .. 'jobs', id)
  if redis.call('ZREM', queue .. 'held', id) == 0 then
    redis.call('ZREM', queue .. 'group:' .. group, id)
    touch(touched, group, token)
  end
end
`

const attemptFunctions = `${roomFunctions}${queueFunctions}
local function nameOf(room)
  return room and redis.call('HGET', tag .. ':room:' .. room, 'id')
end

local function addAttempt(room, event, attempt, touched, workspace)
  local id, endpoint, due = attempt.id, attempt.endpoint, attempt.due
  redis.call('HSET', tag .. ':attempt:' .. id, 'room', room, 'event', event, 'endpoint', endpoint, 'due', due,
    'created', attempt.created, 'status', 'OPEN', 'planned', attempt.planned)
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('ZADD', index, 0, id)
  redis.call('ZADD', index .. ':endpoint:' .. endpoint, 0, id)
  redis.call('ZADD', index .. ':status:OPEN', 0, id)
  redis.call('ZADD', tag .. ':event:' .. event .. ':attempts', 0, id)
  redis.call('ZADD', tag .. ':open', due, id)
  if redis.call('HINCRBY', tag .. ':event:' .. event, 'open', 1) == 1 then redis.call('ZREM', tag .. ':idle', event) end
  if touched then addJob(id, workspace, endpoint, due, touched) end
end

local function noLongerOpen(event)
  local key = tag .. ':event:' .. event
  if redis.call('HINCRBY', key, 'open', -1) == 0 then
    redis.call('ZADD', tag .. ':idle', redis.call('HGET', key, 'created'), event)
  end
end

-- Reads an attempt from five arguments: id, endpoint, due, created, planned.
local function attemptAt(i)
  return { id = ARGV[i], endpoint = ARGV[i + 1], due = ARGV[i + 2], created = ARGV[i + 3], planned = ARGV[i + 4] }
end
`

const ingest = `${attemptFunctions}
local touched = {}
local function judge(i, attempts)
  local workspace, revision, id, row, data, unique = unpack(ARGV, i, i + 5)
  local room = roomOf(workspace)
  if not room then return 'stale' end
  local key = tag .. ':event:' .. id
  local there = redis.call('HMGET', key, 'room', 'row', 'data')
  if there[1] == room and there[2] == row and there[3] == data then return 'stored' end
  local seen = unique == 'unique' and redis.call('HGET', tag .. ':room:' .. room .. ':unique-ids', ARGV[i + 6])
  if seen then
    return 'duplicate', unpack(redis.call('HMGET', tag .. ':event:' .. seen, 'row', 'data'))
  end
  if there[1] then return 'id_taken' end
  if redis.call('HGET', tag .. ':room:' .. room, 'revision') ~= revision then return 'stale' end
  for _, attempt in ipairs(attempts) do
    if redis.call('EXISTS', tag .. ':attempt:' .. attempt.id) == 1 then return 'rejected', attempt.id end
  end
  redis.call('HSET', key, 'room', room, 'row', row, 'data', data, 'type', ARGV[i + 7], 'created', ARGV[i + 8], 'open', 0)
  if ARGV[i + 9] ~= '' then redis.call('HSET', key, 'trace', ARGV[i + 9]) end
  redis.call('ZADD', tag .. ':room:' .. room .. ':events', 0, id)
  redis.call('ZADD', tag .. ':room:' .. room .. ':events:type:' .. ARGV[i + 7], 0, id)
  if unique == 'unique' then
    redis.call('HSET', key, 'unique_id', ARGV[i + 6])
    redis.call('HSET', tag .. ':room:' .. room .. ':unique-ids', ARGV[i + 6], id)
  end
  if #attempts == 0 then redis.call('ZADD', tag .. ':idle', ARGV[i + 8], id) end
  for _, attempt in ipairs(attempts) do addAttempt(room, id, attempt, ARGV[1] == '1' and touched, workspace) end
  return 'stored'
end
local reply, i = {}, 2
while i <= #ARGV do
  local attempts = {}
  for n = 1, tonumber(ARGV[i + 10]) do attempts[n] = attemptAt(i + 6 + n * 5) end
  local kind, row, data = judge(i, attempts)
  reply[#reply + 1] = kind
  reply[#reply + 1] = row or ''
  reply[#reply + 1] = data or ''
  i = i + 11 + #attempts * 5
end
placeAll(touched)
return reply`

const load = `${attemptFunctions}
local reply = {}
for _, id in ipairs(ARGV) do
  local attempt = redis.call('HMGET', tag .. ':attempt:' .. id, 'room', 'status', 'planned', 'event')
  local workspace = nameOf(attempt[1])
  if workspace and attempt[2] == 'OPEN' then
    local event = redis.call('HMGET', tag .. ':event:' .. attempt[4], 'row', 'data', 'trace')
    local revision = redis.call('HGET', tag .. ':room:' .. attempt[1], 'revision')
    for _, value in ipairs({ workspace, revision, attempt[3], event[1] or '', event[2] or '', event[3] or '' }) do
      reply[#reply + 1] = value
    end
  end
end
return reply`

const add = `${attemptFunctions}
local room, touched, reply = roomOf(ARGV[1]), {}, {}
for i = 3, #ARGV, 6 do
  local event, attempt = ARGV[i], attemptAt(i + 1)
  local there = redis.call('HGET', tag .. ':attempt:' .. attempt.id, 'room')
  local fresh = not there and room and redis.call('HGET', tag .. ':event:' .. event, 'room') == room
  if fresh then addAttempt(room, event, attempt, ARGV[2] == '1' and touched, ARGV[1]) end
  reply[#reply + 1] = (fresh or (there and there == room)) and '1' or '0'
end
placeAll(touched)
return reply`

const newest = `${attemptFunctions}
local reply = {}
for _, id in ipairs(ARGV) do
  local attempt = redis.call('HMGET', tag .. ':attempt:' .. id, 'event', 'endpoint')
  if attempt[1] then
    local event, after, succeeded = tag .. ':event:' .. attempt[1], '(' .. id, false
    repeat
      local later = redis.call('ZRANGEBYLEX', event .. ':attempts', after, '+', 'LIMIT', 0, 100)
      for _, each in ipairs(later) do
        succeeded = succeeded or redis.call('HGET', tag .. ':attempt:' .. each, 'endpoint') == attempt[2]
        after = '(' .. each
      end
    until succeeded or #later < 100
    if not succeeded then
      reply[#reply + 1] = id
      reply[#reply + 1] = redis.call('HGET', event, 'type')
    end
  end
end
return reply`

const settle = `${attemptFunctions}
local touched, enqueue, reply = {}, ARGV[1] == '1', {}

local function tally(minute, field, failed)
  local key = tag .. ':tally:' .. minute
  redis.call('HINCRBY', key, 't' .. field, 1)
  if failed then redis.call('HINCRBY', key, 'f' .. field, 1) end
  if redis.call('ZADD', tag .. ':tallies', minute, minute) == 1 then
    local old = redis.call('ZRANGEBYSCORE', tag .. ':tallies', '-inf', '(' .. string.format('%.0f', minute - 10080), 'LIMIT', 0, 100)
    for _, each in ipairs(old) do
      redis.call('DEL', tag .. ':tally:' .. each)
      redis.call('ZREM', tag .. ':tallies', each)
    end
  end
end

local function disable(room, workspace, endpoint, url, at)
  local key = tag .. ':endpoints:' .. endpoint
  local row = redis.call('HMGET', key, 'room', 'enabled', 'url')
  if row[1] ~= room or row[2] ~= '1' or row[3] ~= url then return false end
  redis.call('HSET', key, 'enabled', '0', 'disabled_at', at, 'revision', raise(room, workspace))
  return true
end

-- Its first field is attempted_at, its last one updated_at. What is between may hold what cjson does not read.
local function timesOf(ended)
  return string.match(ended, '^{"attempted_at":([^,]+),'), string.match(ended, '"updated_at":(%d+)}$')
end

-- Whether it was this very settlement that closed the attempt, by an earlier call.
local function settledBefore(key, was, status, ended, next)
  if was ~= status then return false end
  local attempted, updated = timesOf(redis.call('HGET', key, 'ended'))
  local attemptedNow, updatedNow = timesOf(ended)
  return attempted == attemptedNow and updated == updatedNow
    and (next == '' or redis.call('EXISTS', tag .. ':attempt:' .. next) == 1)
end

local function disabledBefore(room, endpoint, at)
  local row = redis.call('HMGET', tag .. ':endpoints:' .. endpoint, 'room', 'enabled', 'disabled_at')
  return row[1] == room and row[2] == '0' and row[3] == at
end

for i = 2, #ARGV, 19 do
  local workspace, id, status, ended, details, at, undelivered = unpack(ARGV, i, i + 6)
  if enqueue and ARGV[i + 7] ~= '' then completeJob(ARGV[i + 7], ARGV[i + 8], touched) end
  local key = tag .. ':attempt:' .. id
  local room, was, event, endpoint, due, created =
    unpack(redis.call('HMGET', key, 'room', 'status', 'event', 'endpoint', 'due', 'created'))
  local settled, disabled = ARGV[i + 18] == '' and nameOf(room) == workspace, false
  if settled and was ~= 'OPEN' then
    settled = settledBefore(key, was, status, ended, ARGV[i + 13])
    disabled = settled and ARGV[i + 10] == 'disable' and disabledBefore(room, endpoint, at)
  elseif settled then
    if ARGV[i + 12] == 'next' and redis.call('EXISTS', tag .. ':attempt:' .. ARGV[i + 13]) == 0 then
      addAttempt(room, event, attemptAt(i + 13), enqueue and touched, workspace)
    end
    redis.call('HSET', key, 'status', status, 'ended', ended, 'details', details)
    local index = tag .. ':room:' .. room .. ':attempts'
    redis.call('ZREM', index .. ':status:OPEN', id)
    redis.call('ZADD', index .. ':status:' .. status, 0, id)
    if undelivered ~= '' then redis.call('ZADD', index .. ':undelivered', 0, id) end
    redis.call('ZREM', tag .. ':open', id)
    redis.call('ZADD', tag .. ':finished', created, id)
    noLongerOpen(event)
    if ARGV[i + 9] ~= '' then tally(math.floor(tonumber(at) / 60000), ARGV[i + 9], status == 'FAILED') end
    disabled = ARGV[i + 10] == 'disable' and disable(room, workspace, endpoint, ARGV[i + 11], at)
  end
  reply[#reply + 1] = settled and '1' or '0'
  reply[#reply + 1] = disabled and '1' or '0'
end
placeAll(touched)
return reply`

const purge = `${attemptFunctions}
local limit, gone = tonumber(ARGV[3]), 0

local function removeAttempt(id)
  local key = tag .. ':attempt:' .. id
  local room, event, endpoint, status = unpack(redis.call('HMGET', key, 'room', 'event', 'endpoint', 'status'))
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('DEL', key)
  redis.call('ZREM', index, id)
  redis.call('ZREM', index .. ':endpoint:' .. endpoint, id)
  redis.call('ZREM', index .. ':status:' .. status, id)
  redis.call('ZREM', index .. ':undelivered', id)
  redis.call('ZREM', tag .. ':event:' .. event .. ':attempts', id)
  if status == 'OPEN' then
    redis.call('ZREM', tag .. ':open', id)
    noLongerOpen(event)
  else
    redis.call('ZREM', tag .. ':finished', id)
  end
  gone = gone + 1
end

local function removeEvent(id)
  local key = tag .. ':event:' .. id
  for _, attempt in ipairs(redis.call('ZRANGE', key .. ':attempts', 0, limit - gone - 1)) do removeAttempt(attempt) end
  if gone == limit then return end
  local room, type, unique = unpack(redis.call('HMGET', key, 'room', 'type', 'unique_id'))
  redis.call('DEL', key)
  redis.call('ZREM', tag .. ':room:' .. room .. ':events', id)
  redis.call('ZREM', tag .. ':room:' .. room .. ':events:type:' .. type, id)
  redis.call('ZREM', tag .. ':idle', id)
  if unique then redis.call('HDEL', tag .. ':room:' .. room .. ':unique-ids', unique) end
  gone = gone + 1
end

-- Takes the first of a sorted set as long as there is one and the limit is not reached.
local function each(index, before, remove)
  while gone < limit do
    local first = redis.call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, 1)[1]
    if not first then return end
    remove(first)
  end
end

each(tag .. ':condemned', '+inf', function(room)
  each(tag .. ':room:' .. room .. ':events', '+inf', removeEvent)
  if gone < limit then redis.call('ZREM', tag .. ':condemned', room) end
end)
if ARGV[1] ~= '' then each(tag .. ':idle', '(' .. ARGV[1], removeEvent) end
if ARGV[2] ~= '' then each(tag .. ':finished', '(' .. ARGV[2], removeAttempt) end
return { tostring(gone) }`

const writeWorkspace = `${roomFunctions}
local id, row, named, name, from = ARGV[1], ARGV[2], ARGV[3] == 'named', ARGV[4], ARGV[5]
local key = tag .. ':workspaces:' .. id
local old = redis.call('HMGET', key, 'room', 'revision', 'name')
local room = old[1]
if from then
  if not room then return { 'missing' } end
  if old[2] ~= from then return { 'conflict' } end
elseif room or redis.call('HEXISTS', tag .. ':names', id) == 1 then
  return { 'id' }
end
if named then
  local holder = redis.call('HGET', tag .. ':names', name)
  if (holder and holder ~= id) or (name ~= id and roomOf(name)) then return { 'name' } end
end
if not room then
  room = tostring(redis.call('INCR', tag .. ':revision'))
  redis.call('HSET', tag .. ':room:' .. room, 'id', id)
  redis.call('ZADD', tag .. ':workspaces', 0, id)
end
if old[3] then
  redis.call('HDEL', tag .. ':names', old[3])
  redis.call('HDEL', key, 'name')
end
if named then
  redis.call('HSET', tag .. ':names', name, id)
  redis.call('HSET', key, 'name', name)
end
redis.call('HSET', key, 'room', room, 'row', row, 'revision', raise(room, id))
return { 'written' }`

const writePlan = `${roomFunctions}
local workspace, guard, guarded, guardedId, revision = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local room = roomOf(workspace)
if guard == 'workspace' then
  if not room or redis.call('HGET', tag .. ':room:' .. room, 'revision') ~= revision then return { 'conflict' } end
else
  if not room then return { 'missing' } end
  local there = redis.call('HMGET', tag .. ':' .. guarded .. ':' .. guardedId, 'room', 'revision')
  if guard == 'new' then
    if there[1] then return { 'unique', '1', '0' } end
  else
    if there[1] ~= room then return { 'missing' } end
    if guard == 'row' and there[2] ~= revision then return { 'conflict' } end
  end
end

local puts = {}
local put = { endpoints = {}, sources = {}, plugins = {} }
local removed = { endpoints = {}, sources = {}, plugins = {} }
for i = 6, #ARGV, 9 do
  local kind, id = ARGV[i + 1], ARGV[i + 2]
  if ARGV[i] == 'remove' then
    removed[kind][id] = true
  else
    put[kind][id] = true
    puts[#puts + 1] = {
      kind = kind, id = id, row = ARGV[i + 3], keyText = ARGV[i + 4], keys = cjson.decode(ARGV[i + 4]), enabled = ARGV[i + 5],
      url = ARGV[i + 6], endpoints = ARGV[i + 7], sources = ARGV[i + 8],
    }
  end
end

local function isOurs(kind, id)
  return redis.call('HGET', tag .. ':' .. kind .. ':' .. id, 'room') == room
end
for _, kind in ipairs({ 'endpoints', 'sources' }) do
  for id in pairs(removed[kind]) do
    if isOurs(kind, id) then
      for _, plugin in ipairs(redis.call('SMEMBERS', tag .. ':plugins-of:' .. kind .. ':' .. id)) do
        removed.plugins[plugin] = true
      end
    end
  end
end

local function clash(kind)
  local claimed = {}
  for number, row in ipairs(puts) do
    if row.kind == kind then
      local there = redis.call('HGET', tag .. ':' .. kind .. ':' .. row.id, 'room')
      if there and there ~= room then return { 'unique', tostring(number), '0' } end
      for n, key in ipairs(row.keys) do
        local holder = redis.call('HGET', tag .. ':holders', key)
        local free = not holder or ((put[kind][holder] or removed[kind][holder]) and isOurs(kind, holder))
        if claimed[key] or not free then return { 'unique', tostring(number), tostring(n) } end
        claimed[key] = true
      end
    end
  end
end
local function orphan()
  for number, row in ipairs(puts) do
    for _, kind in ipairs({ 'endpoints', 'sources' }) do
      local owner = row[kind]
      if owner ~= '' and not put[kind][owner] and (removed[kind][owner] or not isOurs(kind, owner)) then
        return { 'owner', tostring(number) }
      end
    end
  end
end
local violation = clash('endpoints') or clash('sources') or orphan() or clash('plugins')
if violation then return violation end

local now, routesChanged = raise(room, workspace), false
for _, kind in ipairs({ 'endpoints', 'sources', 'plugins' }) do
  for id in pairs(removed[kind]) do routesChanged = forget(room, kind, id) or routesChanged end
  -- What is replaced lets go of its keys first, so that two rows may swap them.
  for id in pairs(put[kind]) do routesChanged = forget(room, kind, id) or routesChanged end
end
for _, row in ipairs(puts) do
  local key = tag .. ':' .. row.kind .. ':' .. row.id
  redis.call('HSET', key, 'room', room, 'revision', now, 'row', row.row, 'keys', row.keyText, 'enabled', row.enabled)
  redis.call('ZADD', tag .. ':room:' .. room .. ':' .. row.kind, 0, row.id)
  for _, held in ipairs(row.keys) do redis.call('HSET', tag .. ':holders', held, row.id) end
  if row.url ~= '' then redis.call('HSET', key, 'url', row.url) end
  if row.endpoints ~= '' then
    redis.call('HSET', key, 'endpoint_id', row.endpoints)
    redis.call('SADD', tag .. ':plugins-of:endpoints:' .. row.endpoints, row.id)
  end
  if row.sources ~= '' then
    redis.call('HSET', key, 'source_id', row.sources)
    redis.call('SADD', tag .. ':plugins-of:sources:' .. row.sources, row.id)
  end
  if row.kind == 'sources' and row.enabled == '1' then
    redis.call('ZADD', tag .. ':routes', 0, row.id)
    routesChanged = true
  end
end
if routesChanged then raiseRoutes() end
return { 'written' }`
const attemptArgs = ({
  id,
  event_id,
  endpoint_id,
  attempt_number,
  scheduled_at,
  trigger_mode,
  created_at,
}: NewAttempt) => {
  const planned = { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at }
  return [id, endpoint_id, scheduled_at, created_at, JSON.stringify(planned)]
}

const ingestArgs = ({ workspaceId, revision, event, attempts, trace }: IngestEntry) => {
  const { id, event_type, data, ingested_at, unique_id, created_at, updated_at } = event
  const bytes = Buffer.byteLength(data)
  const row = JSON.stringify({ id, event_type, ingested_at, unique_id, created_at, updated_at, bytes })
  const unique = unique_id === null ? ['', ''] : ['unique', unique_id]
  const head = [workspaceId, revision, id, row, data, ...unique, event_type, created_at, trace ?? '', attempts.length]
  return [...head, ...attempts.flatMap(attemptArgs)]
}

function settleArgs(settlement: Settlement) {
  const { workspaceId, attempt, status, request, response, settled_at, exhausted, claim, disable, next } = settlement
  const { attempted_at, error_code, error_message } = settlement
  const without = { headers: null, body: null }
  const ended = {
    attempted_at,
    exhausted,
    error_code,
    error_message,
    request: request && { ...request, ...without },
    response: response && { ...response, ...without },
    updated_at: settled_at,
  }
  const details = {
    request: request && { headers: request.headers, body: request.body },
    response: response && { headers: response.headers, body: response.body },
  }
  const undelivered = status === 'CANCELED' || (status === 'FAILED' && exhausted)
  return [
    workspaceId,
    attempt.id,
    status,
    JSON.stringify(ended),
    JSON.stringify(details),
    settled_at,
    undelivered ? 'undelivered' : '',
    ...(claim === null ? ['', ''] : [claim.id, claim.token]),
    settlement.counted !== null ? JSON.stringify([workspaceId, attempt.endpoint_id]) : '',
    ...(disable === null ? ['', ''] : ['disable', disable.url]),
    ...(next === null ? ['', '', '', '', '', ''] : ['next', ...attemptArgs(next)]),
  ]
}

const eventOf = (row: string, data: string): StoredEvent => {
  const { bytes: _, ...event } = JSON.parse(row) as StoredEvent & { bytes: number }
  return { ...event, data }
}

/** A process of that version: what it does with events and attempts, and how it writes workspaces and endpoints. */
export function storageBefore({ command }: TestClient, namespace: string) {
  const run = async (text: string, ...args: (string | number)[]) =>
    (await command('EVAL', text, '1', `{${namespace}}`, ...args.map(String))) as string[] // as every script answers
  return {
    async ingest(entries: readonly IngestEntry[], { enqueue }: Enqueueing): Promise<IngestAnswer[]> {
      const reply = await run(ingest, enqueue ? 1 : 0, ...entries.flatMap(ingestArgs))
      return entries.map((_, i) => {
        const [kind, row, data] = reply.slice(3 * i, 3 * i + 3) as [IngestAnswer['kind'], string, string]
        if (kind === 'duplicate') return { kind, event: eventOf(row, data) }
        return kind === 'rejected' ? { kind, cause: row } : { kind }
      })
    },
    async load(ids: readonly string[]): Promise<Delivery[]> {
      const reply = await run(load, ...ids)
      return Array.from({ length: reply.length / 6 }, (_, i) => {
        const [workspaceId, revision, planned, event, data, trace] = reply.slice(6 * i, 6 * i + 6) as [
          ...[string, string, string],
          ...[string, string, string],
        ]
        return {
          workspaceId,
          revision: Number(revision),
          attempt: JSON.parse(planned) as NewAttempt,
          event: event === '' ? null : eventOf(event, data),
          ...(trace !== '' && { trace }),
        }
      })
    },
    async add(workspaceId: string, attempts: readonly NewAttempt[], { enqueue }: Enqueueing): Promise<boolean[]> {
      const args = attempts.flatMap((attempt) => [attempt.event_id, ...attemptArgs(attempt)])
      return (await run(add, workspaceId, enqueue ? 1 : 0, ...args)).map((answer) => answer === '1')
    },
    async settle(settlements: readonly Settlement[], { enqueue }: Enqueueing): Promise<Settled[]> {
      const seen = new Set<string>()
      const args = settlements.flatMap((settlement) => {
        const repeated = seen.has(settlement.attempt.id) ? 'repeated' : ''
        seen.add(settlement.attempt.id)
        return [...settleArgs(settlement), repeated]
      })
      const reply = await run(settle, enqueue ? 1 : 0, ...args)
      return settlements.map((_, i) => ({ settled: reply[2 * i] === '1', disabled: reply[2 * i + 1] === '1' }))
    },
    /** Of these attempts, those after which nothing came for the same event and endpoint. */
    newest: async (ids: readonly string[]) => (await run(newest, ...ids)).filter((_, i) => i % 2 === 0),
    async purge({ eventsBefore, attemptsBefore, limit }: Parameters<Storage['purge']>[0]): Promise<number> {
      return Number((await run(purge, eventsBefore ?? '', attemptsBefore ?? '', limit))[0])
    },
    insertWorkspace: ({ id, ...row }: Workspace) => run(writeWorkspace, id, JSON.stringify({ id, ...row }), '', ''),
    insertEndpoint: (workspaceId: string, row: Endpoint) =>
      run(writePlan, workspaceId, 'new', 'endpoints', row.id, '', ...putArgs(row)),
    replaceEndpoint: (workspaceId: string, row: Endpoint, revision: number) =>
      run(writePlan, workspaceId, 'row', 'endpoints', row.id, revision, ...putArgs(row)),
  }
}

const putArgs = (row: Endpoint) => ['put', 'endpoints', row.id, JSON.stringify(row), '[]', 1, row.request.url, '', '']
