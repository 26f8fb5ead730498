import { maxTypes, otherTypes } from '../../src/core/counted-types.ts'
import { countNames } from '../../src/core/counts.ts'
import { causeFunctions } from './causes.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/** Others wait for a script, so it adds few at a time: fifty take it half a millisecond to one and a half. */
const maxAdditions = 50
/** Elements of the list of notes that are read at once. */
export const elementsPerRead = 20

const countsPattern = `^${countNames.map(() => '(%d+)').join(',')}$`

/**
 * What scripts over sums share. `addSum` adds counts (place among the counts -> number) to those of the field, which are
 * written with commas between them, and the time to the index of that kind of sum.
 */
export const sumFunctions = `
local tag = KEYS[1]

local function numbersIn(text)
  -- One match is twice as fast as one for each number.
  local numbers = { string.match(text, '${countsPattern}') }
  if #numbers == 0 then
    for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = number end
  end
  return numbers
end

local function addSum(room, kind, time, field, counts)
  local key = tag .. ':room:' .. room .. ':' .. kind .. ':' .. time
  local there = redis.call('HGET', key, field)
  local sums = there and numbersIn(there) or {}
  if not there then redis.call('ZADD', tag .. ':room:' .. room .. ':' .. kind .. 's', time, time) end
  for place = #sums + 1, ${countNames.length} do sums[place] = '0' end
  for place, number in pairs(counts) do sums[place] = string.format('%d', sums[place] + number) end
  redis.call('HSET', key, field, table.concat(sums, ','))
end
`

/**
 * Adds additions that wait, and removes them. Where none waits, it reads notes instead. An addition has a line for each of its
 * parts, the last of which may be of several lines:
 *
 *     minute, room, time, counts, endpoint
 *     hour, room, time, counts, endpoint as JSON, event type as JSON, event type
 *     streak, room, succeeded_at, failed_at, failures, exhausted, attempt, endpoint
 *     cause, room, kind, id, beginning and end of its JSON, between which the id of the workspace stands
 *
 * `counts` are those that are not 0, as "place=number,place=number".
 *
 * ARGV: most additions, most elements. Answers "added" and how many; or "notes", notes-folded, and elements.
 */
const add = script(
  `${sumFunctions}${causeFunctions}
local workspaces = {}
local function known(room)
  if workspaces[room] == nil then workspaces[room] = redis.call('HGET', tag .. ':room:' .. room, 'id') end
  return workspaces[room]
end

local function parts(text, many)
  local found, from = {}, 1
  for i = 1, many - 1 do
    local at = string.find(text, '\\n', from, true)
    found[i], from = string.sub(text, from, at - 1), at + 1
  end
  found[many] = string.sub(text, from)
  return unpack(found)
end

local counted = {}
local function addCounts(room, kind, time, text, field)
  local counts = {}
  for place, number in string.gmatch(text, '(%d+)=(%d+)') do counts[tonumber(place)] = number end
  addSum(room, kind, time, field, counts)
  if not counted[room] then redis.call('ZADD', tag .. ':counted', 0, room) end
  counted[room] = true
end

-- The type under which an event type is counted, as JSON.
local function countedType(room, time, json, type)
  local types = tag .. ':room:' .. room .. ':types'
  local last = redis.call('HGET', types, type)
  if not last and redis.call('HLEN', types) >= ${maxTypes} then
    json, type = '"${otherTypes}"', '${otherTypes}'
    last = redis.call('HGET', types, type)
  end
  if not last or tonumber(last) < tonumber(time) then redis.call('HSET', types, type, time) end
  return json
end

local function number(text)
  return text ~= '' and tonumber(text) or nil
end

-- As joinedStreak of core/notes.ts says.
local function addStreak(room, succeeded, failed, failures, exhausted, attempt, endpoint)
  local key = tag .. ':room:' .. room .. ':streaks'
  local old = redis.call('HGET', key, endpoint)
  if old then
    local s, f, n, e, a = string.match(old, '^([^,]*),([^,]*),([^,]*),([^,]*),(.*)$')
    local ends = number(succeeded) and number(succeeded) >= (number(f) or -math.huge)
    if not ends then
      failures = string.format('%.0f', tonumber(failures) + tonumber(n))
      exhausted = string.format('%.0f', tonumber(exhausted) + tonumber(e))
    end
    if not (number(failed) and number(failed) >= (number(f) or -math.huge)) then
      failed, attempt = f, a
    end
    if not (number(succeeded) and number(succeeded) >= (number(s) or -math.huge)) then succeeded = s end
  end
  redis.call('HSET', key, endpoint, table.concat({ succeeded, failed, failures, exhausted, attempt }, ','))
end

local adding = {}
function adding.minute(text)
  local _, room, time, counts, endpoint = parts(text, 5)
  if known(room) then addCounts(room, 'minute', time, counts, endpoint) end
end
function adding.hour(text)
  local _, room, time, counts, endpoint, json, type = parts(text, 7)
  if not known(room) then return end
  addCounts(room, 'hour', time, counts, '[' .. endpoint .. ',' .. countedType(room, time, json, type) .. ']')
end
function adding.streak(text)
  local _, room, succeeded, failed, failures, exhausted, attempt, endpoint = parts(text, 8)
  if known(room) then addStreak(room, succeeded, failed, failures, exhausted, attempt, endpoint) end
end
function adding.cause(text)
  local _, room, kind, id, before, after = parts(text, 6)
  if known(room) then addCause(kind, id, before .. cjson.encode(known(room)) .. after) end
end

local waiting = redis.call('LRANGE', tag .. ':additions', 0, ARGV[1] - 1)
if #waiting == 0 then
  local reply = redis.call('LRANGE', tag .. ':notes', 0, ARGV[2] - 1)
  table.insert(reply, 1, redis.call('GET', tag .. ':notes-folded') or '0')
  table.insert(reply, 1, 'notes')
  return reply
end
for _, text in ipairs(waiting) do adding[string.match(text, '^%l+')](text) end
redis.call('LTRIM', tag .. ':additions', #waiting, -1)
return { 'added', tostring(#waiting) }`,
  { again: true },
)

/** What `addWaiting` did: how many it added, or the first elements of the list of notes and how many were folded before. */
type Added = { readonly added: number } | { readonly elements: readonly string[]; readonly before: string }

/** Adds some of what waits to the sums; where nothing waits, it reads the first elements of the list of notes. */
export async function addWaiting(connection: Connection, tag: string): Promise<Added> {
  const [what, number, ...elements] = await run(connection, add, tag, [maxAdditions, elementsPerRead])
  return what === 'added' ? { added: Number(number) } : { elements, before: number! } // as the script answers
}
