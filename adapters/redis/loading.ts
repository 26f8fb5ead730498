import type { Delivery, NewAttempt } from '../../src/contracts/storage/attempts.ts'
import { eventOf } from './event-row.ts'

/**
 * What scripts that load attempts share; `eventFunctions` come before. `loadedOf` answers workspace, its revision, planned, and
 * row, data and trace of the event ('' when purged or missing) of an open attempt; nil of others.
 */
export const loadFunctions = `
local function loadedOf(id)
  local attempt = redis.call('HMGET', tag .. ':attempt:' .. id, 'room', 'status', 'planned', 'event')
  if not attempt[1] or attempt[2] ~= 'OPEN' then return nil end
  local room = redis.call('HMGET', tag .. ':room:' .. attempt[1], 'id', 'revision')
  if not room[1] then return nil end
  local event = redis.call('HMGET', tag .. ':event:' .. nameIn(attempt[4]), 'row', 'data', 'trace')
  return { room[1], room[2], attempt[3], event[1] or '', event[2] or '', event[3] or '' }
end
`

/** How many values `loadedOf` answers. */
export const loadedWidth = 6

/** What `loadedOf` answered. */
export function deliveryOf(row: readonly string[]): Delivery {
  const [workspaceId, revision, planned, event, data, trace] = row as [string, string, string, string, string, string]
  return {
    workspaceId,
    revision: Number(revision),
    attempt: JSON.parse(planned) as NewAttempt, // written by ingest, settle or add
    event: event === '' ? null : eventOf(event, data),
    ...(trace !== '' && { trace }),
  }
}
