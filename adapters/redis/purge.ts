import type { Storage } from '../../src/contracts/storage.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { removalFunctions } from './removal-script.ts'
import { run, script } from './scripts.ts'

/**
 * An event goes after its attempts. Deleted workspaces come first.
 *
 * ARGV: eventsBefore or '', attemptsBefore or '', how many. Answers how many rows went.
 */
const purge = script(
  `${attemptFunctions}${removalFunctions}
limit = tonumber(ARGV[3])

-- Takes the first of a sorted set as long as there is one and the limit is not reached.
local function each(index, before, remove)
  while gone < limit do
    local first = redis.call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, 1)[1]
    if not first then return end
    remove(first)
    -- Also one that the version before left without its row.
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

/** Rows that one run removes; each is in up to eight sorted sets. */
const rowsPerScript = 100

export function redisPurge(connection: Connection, tag: string): Storage['purge'] {
  return async ({ eventsBefore, attemptsBefore, limit }) => {
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
