/** Attempts that are scheduled less than this after they are made need no class. */
export const shortWaitMs = 1000

/**
 * What scripts share that keep lists narrow, behind `eventFunctions`. Most attempts are made with their event, are due at
 * once and succeed: none of these keys knows them. See keys.ts.
 */
export const listFunctions = `
-- The class of how long after it was made an attempt is due: eight for each power of two. Nil for a short wait.
local function waitOf(created, due)
  if due == created then return nil end
  local wait = tonumber(due) - tonumber(created)
  if wait < ${shortWaitMs} then return nil end
  local part, power = math.frexp(wait)
  return string.format('%.0f', power * 8 + math.floor(part * 16) - 8)
end

-- An event is listed once for each attempt that makes it listed, so that each attempt can take away what it added.
local function pairOf(event, id)
  return idOfEvent(event) .. ' ' .. id
end

local function listEvent(room, name, endpoint, made, pair)
  local key = tag .. ':room:' .. room .. ':' .. name
  redis.call('ZADD', key, made, pair)
  redis.call('ZADD', key .. ':' .. endpoint, made, pair)
end

local function unlistEvent(room, name, endpoint, pair)
  local key = tag .. ':room:' .. room .. ':' .. name
  redis.call('ZREM', key, pair)
  redis.call('ZREM', key .. ':' .. endpoint, pair)
end

local function madeAt(event)
  return redis.call('HGET', tag .. ':event:' .. event, 'created')
end

-- The lists that an open attempt is in, by the text that says so.
local openLists = { pending = { 'pending' }, retrying = { 'retrying' }, both = { 'pending', 'retrying' } }

-- An attempt whose id does not stand where its event stands in time, or whose delivery failed before, or may have.
local function listLater(room, event, endpoint, id, made, lists)
  local pair = pairOf(event, id)
  redis.call('HSET', tag .. ':attempt:' .. id, 'later', lists)
  redis.call('ZADD', tag .. ':room:' .. room .. ':later:' .. endpoint, made, pair)
  for _, list in ipairs(openLists[lists]) do listEvent(room, list, endpoint, made, pair) end
end

local function unlistOpen(room, endpoint, pair, lists)
  for _, list in ipairs(openLists[lists] or {}) do unlistEvent(room, list, endpoint, pair) end
end

local function listWait(room, id, created, due)
  local wait = waitOf(created, due)
  if not wait then return end
  local index = tag .. ':room:' .. room .. ':attempts'
  redis.call('ZADD', index .. ':wait:' .. wait, 0, id)
  redis.call('SADD', index .. ':waits', wait)
end

local function answerIn(ended)
  return string.match(ended or '', ',"response":{"status":(%d+),')
end

-- Attempts of an event to an endpoint that are open although a later try failed.
local function listOthersOpen(room, event, endpoint, made)
  for _, id in ipairs(attemptsTo(room, event, endpoint, '-')) do
    local status = redis.call('HGET', tag .. ':attempt:' .. id, 'status')
    if status == 'OPEN' then listLater(room, event, endpoint, id, made, 'both') end
  end
end

-- An attempt that ended without success.
local function listFailure(room, event, endpoint, id, status, ended, isUndelivered, later)
  local made, pair = madeAt(event), pairOf(event, id)
  if not made then return end
  if isUndelivered then listEvent(room, status == 'CANCELED' and 'canceled' or 'failed', endpoint, made, pair) end
  if status ~= 'FAILED' then return end
  local answer = answerIn(ended)
  if answer then listEvent(room, 'answered-' .. answer, endpoint, made, pair) end
  if later == 'both' then listOthersOpen(room, event, endpoint, made) end
end

-- Takes an attempt that is removed out of all these lists.
local function unlist(room, event, id, endpoint, status, created, due, later, ended)
  local pair, index = pairOf(event, id), tag .. ':room:' .. room .. ':attempts'
  redis.call('ZREM', index .. ':skewed', id)
  local wait = created and due and waitOf(created, due)
  if wait and redis.call('ZREM', index .. ':wait:' .. wait, id) == 1
    and redis.call('EXISTS', index .. ':wait:' .. wait) == 0 then
    redis.call('SREM', index .. ':waits', wait)
  end
  if later then
    redis.call('ZREM', tag .. ':room:' .. room .. ':later:' .. endpoint, pair)
    unlistOpen(room, endpoint, pair, later)
  end
  if status == 'CANCELED' then unlistEvent(room, 'canceled', endpoint, pair) end
  if status ~= 'FAILED' then return end
  unlistEvent(room, 'failed', endpoint, pair)
  local answer = answerIn(ended)
  if answer then unlistEvent(room, 'answered-' .. answer, endpoint, pair) end
end
`
