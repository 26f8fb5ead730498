import { eventFunctions } from './event-script.ts'
import { queueFunctions } from './queue-script.ts'

/** What scripts over events and attempts share. See keys.ts for what is where. */
export const attemptFunctions = `${eventFunctions}${queueFunctions}
local function nameOf(room)
  return room and redis.call('HGET', tag .. ':room:' .. room, 'id')
end

-- The event is given by its name in keys.
local function addAttempt(room, event, attempt, touched, workspace)
  local id, endpoint, due = attempt.id, attempt.endpoint, attempt.due
  redis.call('HSET', tag .. ':attempt:' .. id, 'room', room, 'event', event, 'endpoint', endpoint, 'due', due,
    'created', attempt.created, 'status', 'OPEN', 'planned', attempt.planned)
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('ZADD', index, 0, id)
  redis.call('ZADD', index .. ':endpoint:' .. endpoint, 0, id)
  redis.call('ZADD', index .. ':status:OPEN', 0, id)
  indexAttempt(event, id)
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
