import { eventCreated, eventRow, eventType, failedBefore, finality, isLast } from './filters.ts'

/**
 * What scripts share that test rows and answer fields of them, behind `eventFunctions`. Conditions are a list with field, test
 * and bound of each.
 */
export const rowFunctions = `
-- How many elements the script came upon so far.
local looked = 0

-- Reads conditions: how many, then field, test and bound of each. Answers them and what comes behind them.
local made
local function conditionsAt(i)
  local after = i + 1 + 3 * tonumber(ARGV[i])
  local conditions = { names = {}, isOfEvent = true }
  for at = i + 1, after - 1, 3 do
    local field, test, bound = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if test ~= 'is' and test ~= 'has' and test ~= 'lacks' then bound = tonumber(bound) end
    conditions[#conditions + 1] = { make = made[field], test = test, bound = bound }
    conditions.isOfEvent = conditions.isOfEvent and made[field] ~= nil
    if field == 'endpoint' and test == 'is' then conditions.endpoint = bound end
    -- What is made of a field is made by way of the attempt's event.
    conditions.names[#conditions] = made[field] and 'event' or field
  end
  return conditions, after
end

local function namesAt(i)
  local names = {}
  for at = i, #ARGV do names[#names + 1] = ARGV[at] end
  return names
end

-- The name of the attempt's event. The last one is kept, since a row is asked for several fields.
local namedKey, named
local function keepEvent(key, event)
  namedKey, named = key, event and nameIn(event)
end
local function eventNameOf(key)
  if namedKey ~= key then keepEvent(key, redis.call('HGET', key, 'event')) end
  return named
end
local function ofEvent(key, field)
  local name = eventNameOf(key)
  return name and redis.call('HGET', tag .. ':event:' .. name, field)
end
local function isFinal(key)
  local status, ended = unpack(redis.call('HMGET', key, 'status', 'ended'))
  if status ~= 'FAILED' then return status == 'SUCCESSFUL' or status == 'CANCELED' end
  return string.find(ended, ',"exhausted":true,', 1, true) ~= nil
end

-- Whether the attempt's event has, beyond a bound, a try of the same endpoint with such a status.
local function isBeside(key, from, isMeant)
  local name = eventNameOf(key)
  local room, endpoint = unpack(redis.call('HMGET', key, 'room', 'endpoint'))
  if not name or not room then return false end
  local ids, walked = attemptsTo(room, name, endpoint, from)
  looked = looked + walked
  for _, id in ipairs(ids) do
    local other = redis.call('HMGET', tag .. ':attempt:' .. id, 'status', 'planned')
    if isMeant(other[1]) and not string.find(other[2], '"trigger_mode":"TEST",', 1, true) then return true end
  end
  return false
end
local function hasEnded(status) return status ~= 'OPEN' end
local function hasFailed(status) return status == 'FAILED' end

made = {
  ['${eventType}'] = function(key) return ofEvent(key, 'type') end,
  ['${eventCreated}'] = function(key) return ofEvent(key, 'created') end,
  ['${eventRow}'] = function(key) return ofEvent(key, 'row') end,
  ['${finality}'] = function(key) return isFinal(key) and 'yes' or 'no' end,
  ['${isLast}'] = function(key, id) return isBeside(key, '(' .. id, hasEnded) and 'no' or 'yes' end,
  ['${failedBefore}'] = function(key) return isBeside(key, '-', hasFailed) and 'yes' or 'no' end,
}
local function fieldsOf(key, names)
  local values = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do
    if made[name] then values[i] = made[name](key) end
  end
  return values
end
local function meets(value, test, bound)
  if test == 'lacks' then return not value end
  if not value then return false end
  if test == 'is' then return value == bound end
  if test == 'has' then return string.find(value, bound, 1, true) ~= nil end
  value = tonumber(value)
  if test == 'gt' then return value > bound end
  if test == 'gte' then return value >= bound end
  if test == 'lt' then return value < bound end
  return value <= bound
end

-- Whether a row meets conditions, in their order: those that are dear to tell stand last.
local function wanted(key, id, conditions)
  if #conditions == 0 then return true end
  local isKnown = conditions.isOfEvent and namedKey == key
  local values = isKnown and {} or redis.call('HMGET', key, unpack(conditions.names))
  for i, condition in ipairs(conditions) do
    local value = values[i]
    if condition.make then
      if not isKnown then keepEvent(key, value) end
      value = condition.make(key, id)
    end
    if not meets(value, condition.test, condition.bound) then return false end
  end
  return true
end

-- Whether an event, given by its name in keys, has an attempt that meets conditions.
local function hasWanted(name, conditions)
  if #conditions == 0 then return true end
  local ids, walked
  if conditions.endpoint then
    local room = redis.call('HGET', tag .. ':event:' .. name, 'room')
    if not room then return false end
    ids, walked = attemptsTo(room, name, conditions.endpoint, '-')
  else
    ids = redis.pcall('ZRANGE', tag .. ':event:' .. name .. ':attempts', 0, -1)
    if ids.err then return false end -- the version before may have written an event under this key
    walked = #ids
  end
  looked = looked + walked
  for _, id in ipairs(ids) do
    if wanted(tag .. ':attempt:' .. id, id, conditions) then return true end
  end
  return false
end
`
