import { isAstray, isEventAstray } from '../../src/core/id-bounds.ts'
import type { NewAttempt } from '../../src/contracts/storage/attempts.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { rowsOf, run, script } from './scripts.ts'
import { isSkewed } from './skewed.ts'

// The version before writes nothing to the lists of list-script.ts. So a store is walked, in passes, and what lists miss is
// added; until then, lists are walked as before. Processes of that version may go on for a while: a pass that finds nothing
// missing, at least an hour after another pass, ends this. Once lists are whole, this version says so every minute: after a gap
// the version before may have been back, so one more pass is made.

const quietMs = 3_600_000
const gapMs = 600_000
const attemptsPerStep = 250
const stepsAtOnce = 20

/**
 * ARGV: now, how many. Answers workspace and position, then id, created, due, and id and created of the event, of attempts behind the
 * position; or nothing, for now.
 */
const next = script(
  `${attemptFunctions}
local now, whole, state = tonumber(ARGV[1]), tag .. ':lists-whole', tag .. ':lists-fill'
local alive = redis.call('GET', whole)
if alive then
  if now - tonumber(alive) <= ${gapMs} then
    redis.call('SET', whole, ARGV[1])
    return {}
  end
  redis.call('DEL', whole, state)
  redis.call('HSET', state, 'passed', 0)
end
local workspace, position, passed = unpack(redis.call('HMGET', state, 'workspace', 'position', 'passed'))
if not workspace then
  if passed and now - tonumber(passed) < ${quietMs} then return {} end
  workspace, position = '', ''
  redis.call('HSET', state, 'missing', 0)
end
while true do
  local room = workspace ~= '' and roomOf(workspace)
  if room then
    local from = position == '' and '-' or '(' .. position
    local ids = redis.call('ZRANGEBYLEX', tag .. ':room:' .. room .. ':attempts', from, '+', 'LIMIT', 0, ARGV[2])
    if #ids > 0 then
      redis.call('HSET', state, 'workspace', workspace, 'position', position)
      local reply = { workspace, position }
      for _, id in ipairs(ids) do
        local created, due, event = unpack(redis.call('HMGET', tag .. ':attempt:' .. id, 'created', 'due', 'event'))
        local name = event and nameIn(event) or ''
        local values = { id, created or '', due or '', idOfEvent(name), madeAt(name) or '' }
        for _, value in ipairs(values) do reply[#reply + 1] = value end
      end
      return reply
    end
  end
  local from = workspace == '' and '-' or '(' .. workspace
  workspace, position = redis.call('ZRANGEBYLEX', tag .. ':workspaces', from, '+', 'LIMIT', 0, 1)[1], ''
  if not workspace then break end
end
local missing = redis.call('HGET', state, 'missing')
redis.call('HDEL', state, 'workspace', 'position')
redis.call('HSET', state, 'passed', ARGV[1])
if passed and missing == '0' then
  redis.call('DEL', state)
  redis.call('SET', whole, ARGV[1])
end
return {}`,
  { again: true },
)

/** ARGV: workspace, position, then id, "astray", "skewed" or '', and "event" where the event is astray or '', of attempts. Adds what lists miss of them. */
const fill = script(
  `${attemptFunctions}
local room, state, missing = roomOf(ARGV[1]), tag .. ':lists-fill', 0
local function add(key, score, member)
  missing = missing + redis.call('ZADD', key, score, member)
end

local function fillAttempt(id, mark, isEventAstray)
  local key, index = tag .. ':attempt:' .. id, tag .. ':room:' .. room .. ':attempts'
  local of, event, endpoint, due, created, status, planned, ended, later =
    unpack(redis.call('HMGET', key, 'room', 'event', 'endpoint', 'due', 'created', 'status', 'planned', 'ended', 'later'))
  event = of == room and nameIn(event)
  local made = event and madeAt(event)
  if not made then return end
  if isEventAstray ~= '' then add(tag .. ':room:' .. room .. ':events:astray', made, idOfEvent(event)) end
  local pair = pairOf(event, id)
  local wait = waitOf(created, due)
  if mark ~= '' then add(index .. ':skewed', 0, id) end
  if mark == 'astray' then add(index .. ':astray', 0, id) end
  if wait then
    add(index .. ':wait:' .. wait, 0, id)
    redis.call('SADD', index .. ':waits', wait)
  end
  local isFirst = string.find(planned, '"attempt_number":1,', 1, true) and string.find(planned, '"trigger_mode":"INITIAL",', 1, true)
  if not later and (mark ~= '' or created ~= made or not isFirst) then
    later, missing = 'both', missing + 1
    listLater(room, event, endpoint, id, made, later)
  end
  if status == 'OPEN' then return end
  if later then unlistOpen(room, endpoint, pair, later) end
  if status == 'SUCCESSFUL' then return end
  local isTest = string.find(planned, '"trigger_mode":"TEST",', 1, true)
  local isUndelivered = not isTest and (status == 'CANCELED' or string.find(ended, ',"exhausted":true,', 1, true))
  local answer = status == 'FAILED' and answerIn(ended)
  local list = isUndelivered and (status == 'CANCELED' and 'canceled' or 'failed') or answer and 'answered-' .. answer
  if list and not redis.call('ZSCORE', tag .. ':room:' .. room .. ':' .. list, pair) then missing = missing + 1 end
  listFailure(room, event, endpoint, id, status, ended, isUndelivered, later)
end

if not room then return {} end
for i = 3, #ARGV, 3 do fillAttempt(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
local at = redis.call('HMGET', state, 'workspace', 'position')
if at[1] == ARGV[1] and at[2] == ARGV[2] then redis.call('HSET', state, 'position', ARGV[#ARGV - 2]) end
redis.call('HINCRBY', state, 'missing', missing)
return {}`,
  { again: true },
)

/** Goes on with the lists of a store that the version before wrote. Answers how many attempts were looked at; 0 for now is all. */
export async function fillLists(
  connection: Connection,
  tag: string,
  now: number,
  perStep = attemptsPerStep,
): Promise<number> {
  let looked = 0
  for (let step = 0; step < stepsAtOnce; step++) {
    const [workspace, position, ...attempts] = await run(connection, next, tag, [now, perStep])
    if (workspace === undefined) break
    const marked = rowsOf(attempts, 5).flatMap(([id, created, due, event, made]) => [
      id!,
      markOf(id!, Number(created), Number(due)),
      isEventAstray({ id: event!, created_at: Number(made) }) ? 'event' : '',
    ])
    await run(connection, fill, tag, [workspace, position!, ...marked])
    looked += attempts.length / 5
  }
  return looked
}

function markOf(id: string, created_at: number, scheduled_at: number): string {
  const times = { id, created_at, scheduled_at }
  // Asked is only what these two look at.
  return isAstray(times as NewAttempt) ? 'astray' : isSkewed(times) ? 'skewed' : ''
}
