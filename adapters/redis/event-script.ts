import { workspaceFunctions } from './workspace-script.ts'

/**
 * The name of an event in keys. `event:<name>` is the event and `event:<name>:attempts` its index, so no name ends with
 * `:attempts`. The name is the event's id; behind an id with that end stands a `/`, which ids cannot hold.
 *
 * The version before wrote an event of such an id under the id itself. The event stays under that key, so that
 * processes of that version find it, until another event needs the key for its index: then the event is renamed, which
 * takes no time.
 */
export const eventFunctions = `${workspaceFunctions}
local function isHash(key)
  return redis.call('TYPE', key).ok == 'hash'
end

local function nameOfEvent(id)
  -- Most ids end with none of the two, which is told without making a text.
  local last = string.byte(id, -1)
  if last ~= 115 and last ~= 47 then return id end
  local isLikeIndex = string.sub(id, -9) == ':attempts'
  if not isLikeIndex and string.sub(id, -1) ~= '/' then return id end
  local name, key = id .. '/', tag .. ':event:' .. id
  if isLikeIndex and redis.call('EXISTS', key .. '/') == 0 and isHash(key) then return id end
  return name
end

-- The name of an event that a field or an index mentions, where the version before wrote the id.
local function nameIn(field)
  return string.sub(field, -1) == '/' and field or nameOfEvent(field)
end

local function idOfEvent(name)
  return string.sub(name, -1) == '/' and string.sub(name, 1, -2) or name
end

-- Gives free the key of an index, where the version before wrote an event.
local function renameEvent(id)
  local before, name = tag .. ':event:' .. id, id .. '/'
  local after = tag .. ':event:' .. name
  redis.call('RENAMENX', before, after)
  if redis.call('TYPE', before .. ':attempts').ok == 'zset' then
    redis.call('RENAMENX', before .. ':attempts', after .. ':attempts')
  end
  local idle = redis.call('ZSCORE', tag .. ':idle', id)
  if idle then
    redis.call('ZREM', tag .. ':idle', id)
    redis.call('ZADD', tag .. ':idle', idle, name)
  end
end

-- Ids of the attempts of an event, given by its name in keys, to an endpoint, beyond a bound, in order. Answers too how many ids
-- were looked at. An event may have thousands of attempts, and so may an endpoint: whichever has fewer is walked.
local function attemptsTo(room, name, endpoint, from)
  local index, asked, expected = tag .. ':event:' .. name .. ':attempts', 'endpoint', endpoint
  local width = redis.pcall('ZCARD', index)
  -- The version before may have written an event under this key.
  if type(width) == 'table' then return {}, 0 end
  if width > 32 then
    local others = tag .. ':room:' .. room .. ':attempts:endpoint:' .. endpoint
    if redis.call('ZLEXCOUNT', others, from, '+') < redis.call('ZLEXCOUNT', index, from, '+') then
      index, asked, expected = others, 'event', name
    end
  end
  local found, ids = {}, redis.call('ZRANGEBYLEX', index, from, '+')
  for _, id in ipairs(ids) do
    local value = redis.call('HGET', tag .. ':attempt:' .. id, asked)
    if value and asked == 'event' then value = nameIn(value) end
    if value == expected then found[#found + 1] = id end
  end
  return found, #ids
end

local function indexAttempt(name, attempt)
  local index = tag .. ':event:' .. name .. ':attempts'
  local added = redis.pcall('ZADD', index, 0, attempt)
  if type(added) ~= 'table' then return end
  if isHash(index) then renameEvent(name .. ':attempts') end
  redis.call('ZADD', index, 0, attempt)
end
`

/** Whether the name of an event in keys is its id, whatever the store holds. */
export function hasPlainName(id: string): boolean {
  return !id.endsWith(':attempts') && !id.endsWith('/')
}
