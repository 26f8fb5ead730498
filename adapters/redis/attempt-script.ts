import { eventFunctions } from './event-script.ts'
import { listFunctions } from './list-script.ts'
import { queueFunctions } from './queue-script.ts'

/** What scripts over events and attempts share. See keys.ts for what is where. */
export const attemptFunctions = `${eventFunctions}${listFunctions}${queueFunctions}
local function nameOf(room)
  return room and redis.call('HGET', tag .. ':room:' .. room, 'id')
end

-- The event is given by its name in keys. "made": when it was made, where the attempt is made with it, else nil.
local function addAttempt(room, event, attempt, touched, workspace, made)
  local id, endpoint, due = attempt.id, attempt.endpoint, attempt.due
  redis.call('HSET', tag .. ':attempt:' .. id, 'room', room, 'event', event, 'endpoint', endpoint, 'due', due,
    'created', attempt.created, 'status', 'OPEN', 'planned', attempt.planned)
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('ZADD', index, 0, id)
  redis.call('ZADD', index .. ':endpoint:' .. endpoint, 0, id)
  redis.call('ZADD', index .. ':status:OPEN', 0, id)
  if attempt.isAstray then redis.call('ZADD', index .. ':astray', 0, id) end
  if attempt.isSkewed then redis.call('ZADD', index .. ':skewed', 0, id) end
  if attempt.isSkewed or attempt.lists or attempt.created ~= made then
    listLater(room, event, endpoint, id, made or madeAt(event), attempt.lists or 'pending')
  end
  listWait(room, id, attempt.created, due)
  indexAttempt(event, id)
  redis.call('ZADD', tag .. ':open', due, id)
  if redis.call('HINCRBY', tag .. ':event:' .. event, 'open', 1) == 1 then redis.call('ZREM', tag .. ':idle', event) end
  if touched then return addJob(id, workspace, endpoint, attempt.rank, attempt.lease, touched) end
end

-- Whether an event of the room, given by its name in keys, has an attempt to the endpoint, or is that of a test delivery: such
-- an event has few attempts.
local function hasAttempt(room, event, endpoint)
  if #attemptsTo(room, event, endpoint, '-') > 0 then return true end
  local index = tag .. ':event:' .. event .. ':attempts'
  if isHash(index) or redis.call('ZCARD', index) > 100 then return false end
  for _, id in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    local planned = redis.call('HGET', tag .. ':attempt:' .. id, 'planned')
    if string.find(planned or '', '"trigger_mode":"TEST",', 1, true) then return true end
  end
  return false
end

-- Forgets which attempts of an event, given by its name in keys, are still to be written: see wide-events.ts.
local function dropUnwritten(event)
  redis.call('DEL', tag .. ':unwritten:' .. event)
  redis.call('ZREM', tag .. ':unfinished', event)
end

local function noLongerOpen(event)
  local key = tag .. ':event:' .. event
  if redis.call('HINCRBY', key, 'open', -1) == 0 then
    redis.call('ZADD', tag .. ':idle', redis.call('HGET', key, 'created'), event)
  end
end

-- Reads an attempt from six texts of a list: id, endpoint, due, created, planned, and what is unusual of it: "astray ",
-- "skewed ", "again ", "low ", "held <lease>".
local function attemptAt(list, i)
  local id, endpoint, due, created, planned, marks = unpack(list, i, i + 5)
  local attempt = { id = id, endpoint = endpoint, due = due, created = created, planned = planned, rank = due, lease = '' }
  if marks ~= '' then
    local others, lease = string.match(marks, '^(.-)held (.*)$')
    if lease then marks, attempt.lease = others, lease end
    attempt.isAstray = string.find(marks, 'astray', 1, true)
    attempt.lists = string.find(marks, 'again', 1, true) and 'both'
    attempt.isSkewed = string.find(marks, 'skewed', 1, true)
    if string.find(marks, 'low', 1, true) then
      attempt.rank = string.format('%.0f', math.min(tonumber(due), lowRank - 1) + lowRank)
    end
  end
  return attempt
end
`
