import type { Storage } from '../../src/contracts/storage.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { removalFunctions } from './removal-script.ts'
import { run, script } from './scripts.ts'

/** Removes attempts and events. `gone` counts them, up to `limit`, the third of ARGV. */
const removal = `${attemptFunctions}${removalFunctions}
limit = tonumber(ARGV[3])
`

/**
 * An event is removed after its attempts. Deleted workspaces come first.
 *
 * ARGV: eventsBefore or '', attemptsBefore or '', how many. Answers how many rows went.
 */
const purge = script(
  `${removal}
-- Takes the first element of a sorted set until the set is empty or the limit is reached.
local function each(index, before, remove)
  while gone < limit do
    local first = redis.call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, 1)[1]
    if not first then return end
    remove(first)
    -- Also an element without a row: the version before left such elements.
    if gone < limit then redis.call('ZREM', index, first) end
  end
end

each(tag .. ':condemned', '+inf', function(room)
  each(tag .. ':room:' .. room .. ':events', '+inf', function(id) removeEvent(nameOfEvent(id)) end)
  if gone < limit then redis.call('ZREM', tag .. ':condemned', room) end
end)
if ARGV[1] ~= '' then each(tag .. ':idle', '(' .. ARGV[1], function(event) removeEvent(nameIn(event)) end) end
if ARGV[2] ~= '' then each(tag .. ':finished', '(' .. ARGV[2], removeAttempt) end
return { tostring(gone) }`,
  { again: true },
)

/**
 * The events of a workspace in the order of their ids, from a position: events that are older than the bound and have
 * no open attempt are removed. A run looks at 500 events at most, and at the last event again where its attempts were
 * too many for one run.
 *
 * ARGV: workspace, eventsBefore, how many, the last event that was looked at or ''. Answers how many rows went, and the
 * position, or '' at the end.
 */
const purgeRoom = script(
  `${removal}
local room, before, from = roomOf(ARGV[1]), tonumber(ARGV[2]), ARGV[4] == '' and '-' or '(' .. ARGV[4]
if not room then return { '0', '' } end
local ids = redis.call('ZRANGEBYLEX', tag .. ':room:' .. room .. ':events', from, '+', 'LIMIT', 0, 500)
local last = ARGV[4]
for _, id in ipairs(ids) do
  local name = nameOfEvent(id)
  local created, open = unpack(redis.call('HMGET', tag .. ':event:' .. name, 'created', 'open'))
  if created and tonumber(created) < before and tonumber(open or 0) == 0 then
    if gone == limit then return { tostring(gone), last } end
    removeEvent(name)
    if redis.call('EXISTS', tag .. ':event:' .. name) == 1 then return { tostring(gone), last } end
  end
  last = id
end
return { tostring(gone), #ids == 500 and last or '' }`,
  { again: true },
)

/** Rows that one run removes; each is in up to sixteen sorted sets. */
const rowsPerScript = 100

export function redisPurge(connection: Connection, tag: string): Storage['purge'] {
  /** Of one workspace: from the first event to the last, or until `limit` rows were removed. */
  async function ofWorkspace(workspaceId: string, eventsBefore: number, limit: number): Promise<number> {
    let gone = 0
    let position = ''
    do {
      const wanted = Math.min(limit - gone, rowsPerScript)
      const [count, last = ''] = await run(connection, purgeRoom, tag, [workspaceId, eventsBefore, wanted, position])
      gone += Number(count)
      if (last === position && Number(count) === 0) return gone
      position = last
    } while (position !== '' && gone < limit)
    return gone
  }

  return async ({ eventsBefore, attemptsBefore, limit, workspaceId }) => {
    if (workspaceId !== undefined)
      return eventsBefore === null ? 0 : await ofWorkspace(workspaceId, eventsBefore, limit)
    let gone = 0
    while (gone < limit) {
      const wanted = Math.min(limit - gone, rowsPerScript)
      const [count] = await run(connection, purge, tag, [eventsBefore ?? '', attemptsBefore ?? '', wanted])
      gone += Number(count)
      if (Number(count) < wanted) break
    }
    return gone
  }
}
