/** What scripts share that remove events and attempts, behind `attemptFunctions`. They count in `gone`, up to `limit`. */
export const removalFunctions = `
local limit, gone = 0, 0

local function removeAttempt(id)
  local key = tag .. ':attempt:' .. id
  local room, event, endpoint, status, created, due, later, ended =
    unpack(redis.call('HMGET', key, 'room', 'event', 'endpoint', 'status', 'created', 'due', 'later', 'ended'))
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('DEL', key)
  redis.call('ZREM', index, id)
  redis.call('ZREM', index .. ':endpoint:' .. endpoint, id)
  redis.call('ZREM', index .. ':status:' .. status, id)
  redis.call('ZREM', index .. ':undelivered', id)
  redis.call('ZREM', index .. ':astray', id)
  local name = nameIn(event)
  unlist(room, name, id, endpoint, status, created, due, later, ended)
  redis.call('ZREM', tag .. ':event:' .. name .. ':attempts', id)
  if status == 'OPEN' then
    redis.call('ZREM', tag .. ':open', id)
    noLongerOpen(name)
  else
    redis.call('ZREM', tag .. ':finished', id)
  end
  gone = gone + 1
end

local function removeEvent(name)
  local id, key = idOfEvent(name), tag .. ':event:' .. name
  if not isHash(key .. ':attempts') then
    for _, attempt in ipairs(redis.call('ZRANGE', key .. ':attempts', 0, limit == math.huge and -1 or limit - gone - 1)) do removeAttempt(attempt) end
  end
  if gone == limit then return end
  gone = gone + 1
  redis.call('ZREM', tag .. ':idle', name)
  dropUnwritten(name)
  local room, type, unique = unpack(redis.call('HMGET', key, 'room', 'type', 'unique_id'))
  if not room then return end
  redis.call('DEL', key)
  redis.call('ZREM', tag .. ':room:' .. room .. ':events', id)
  redis.call('ZREM', tag .. ':room:' .. room .. ':events:type:' .. type, id)
  redis.call('ZREM', tag .. ':room:' .. room .. ':events:astray', id)
  if unique then redis.call('HDEL', tag .. ':room:' .. room .. ':unique-ids', unique) end
end
`
