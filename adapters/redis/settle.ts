import type { Settled, Settlement, StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import { noteText } from '../../src/core/notes.ts'
import { aloneFunctions, refusal } from './entry-by-entry.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { attemptArgs } from './attempt-args.ts'
import { chunks, rowsOf, run, script } from './scripts.ts'

/** The part of an ended attempt that lists show. */
export type Ended = Pick<
  StoredAttempt,
  'attempted_at' | 'exhausted' | 'error_code' | 'error_message' | 'request' | 'response' | 'updated_at'
>
type Part = { readonly headers: Readonly<Record<string, string>> | null; readonly body: string | null }
/** The part that lists leave out. */
export interface Details {
  readonly request: Part | null
  readonly response: Part | null
}

/**
 * The follow-up comes before the end, so that the event is never without an open attempt in between.
 *
 * ARGV: whether to enqueue; then of each settlement twenty: workspace, id, status, ended, details, settled_at, "undelivered" or '',
 * job and token of the claim or both '', the note to be counted or '', "disable" or '', url, "next" or '', and id, endpoint, due,
 * created, planned, "astray" or '' of the follow-up, and "repeated" where the batch settled the attempt before, or ''. Answers settled and disabled of each, or
 * "refused" and why.
 */
const settle = script(
  `${aloneFunctions}${attemptFunctions}
local touched, enqueue, reply, notes = {}, ARGV[1] == '1', {}, {}

local function disable(room, workspace, endpoint, url, at)
  local key = tag .. ':endpoints:' .. endpoint
  local row = redis.call('HMGET', key, 'room', 'enabled', 'url')
  if row[1] ~= room or row[2] ~= '1' or row[3] ~= url then return false end
  redis.call('HSET', key, 'enabled', '0', 'disabled_at', at, 'revision', raise(room, workspace))
  return true
end

-- The first field is attempted_at, the last field updated_at. Fields between may hold values that cjson does not read.
local function timesOf(ended)
  return string.match(ended, '^{"attempted_at":([^,]+),'), string.match(ended, '"updated_at":(%d+)}$')
end

-- Whether it was this very settlement that closed the attempt, by an earlier call.
local function settledBefore(key, was, status, ended, next)
  if was ~= status then return false end
  local attempted, updated = timesOf(redis.call('HGET', key, 'ended'))
  local attemptedNow, updatedNow = timesOf(ended)
  return attempted == attemptedNow and updated == updatedNow
    and (next == '' or redis.call('EXISTS', tag .. ':attempt:' .. next) == 1)
end

local function disabledBefore(room, endpoint, at)
  local row = redis.call('HMGET', tag .. ':endpoints:' .. endpoint, 'room', 'enabled', 'disabled_at')
  return row[1] == room and row[2] == '0' and row[3] == at
end

local function close(i)
  local workspace, id, status, ended, details, at, undelivered = unpack(ARGV, i, i + 6)
  if not isTime(at) or (ARGV[i + 12] == 'next' and not (isTime(ARGV[i + 15]) and isTime(ARGV[i + 16]))) then
    error({ err = 'a time is not a number' })
  end
  local key = tag .. ':attempt:' .. id
  local room, was, event, endpoint, due, created, later =
    unpack(redis.call('HMGET', key, 'room', 'status', 'event', 'endpoint', 'due', 'created', 'later'))
  local settled, disabled = ARGV[i + 19] == '' and nameOf(room) == workspace, false
  if settled and was ~= 'OPEN' then
    settled = settledBefore(key, was, status, ended, ARGV[i + 13])
    disabled = settled and ARGV[i + 10] == 'disable' and disabledBefore(room, endpoint, at)
  elseif settled then
    if ARGV[i + 12] == 'next' and redis.call('EXISTS', tag .. ':attempt:' .. ARGV[i + 13]) == 0 then
      local next = attemptAt(ARGV, i + 13)
      next.lists = status == 'FAILED' and 'retrying' or 'both'
      addAttempt(room, nameIn(event), next, enqueue and touched, workspace)
    end
    redis.call('HSET', key, 'status', status, 'ended', ended, 'details', details)
    local index = tag .. ':room:' .. room .. ':attempts'
    redis.call('ZREM', index .. ':status:OPEN', id)
    redis.call('ZADD', index .. ':status:' .. status, 0, id)
    if undelivered ~= '' then redis.call('ZADD', index .. ':undelivered', 0, id) end
    redis.call('ZREM', tag .. ':open', id)
    redis.call('ZADD', tag .. ':finished', created, id)
    local name = nameIn(event)
    noLongerOpen(name)
    if later then unlistOpen(room, endpoint, pairOf(name, id), later) end
    if status ~= 'SUCCESSFUL' then listFailure(room, name, endpoint, id, status, ended, undelivered ~= '', later) end
    disabled = ARGV[i + 10] == 'disable' and disable(room, workspace, endpoint, ARGV[i + 11], at)
    if ARGV[i + 9] ~= '' then
      notes[#notes + 1] = '[' .. room .. ',' .. ARGV[i + 9] .. (disabled and ',1]' or ']')
    end
  end
  if enqueue and ARGV[i + 7] ~= '' then completeJob(ARGV[i + 7], ARGV[i + 8], touched) end
  return settled, disabled
end

for i = 2, #ARGV, 20 do
  local refused, settled, disabled = alone(close, i)
  reply[#reply + 1] = refused and 'refused' or settled and '1' or '0'
  reply[#reply + 1] = refused or disabled and '1' or '0'
end
if #notes > 0 then redis.call('RPUSH', tag .. ':notes', table.concat(notes, ',')) end
placeAll(touched)
return reply`,
  { again: true },
)

/** Half of what other scripts are given, since a settlement may write two attempts. */
const settlementsPerScript = 250

export async function settleAll(
  connection: Connection,
  tag: string,
  settlements: readonly Settlement[],
  enqueue: boolean,
): Promise<readonly Settled[]> {
  const settled: Settled[] = []
  const seen = new Set<string>()
  const repeatedOf = ({ attempt: { id } }: Settlement): string => {
    if (seen.has(id)) return 'repeated'
    seen.add(id)
    return ''
  }
  for (const part of chunks(settlements, settlementsPerScript)) {
    const args = part.flatMap((settlement) => [...argsOf(settlement), repeatedOf(settlement)])
    const reply = await run(connection, settle, tag, [enqueue ? 1 : 0, ...args])
    for (const [answer, more] of rowsOf(reply, 2)) {
      const refused = answer === 'refused' && { refused: refusal(more!) } // rows of two
      settled.push({ settled: answer === '1', disabled: !refused && more === '1', ...refused })
    }
  }
  return settled
}

function argsOf(settlement: Settlement): readonly (string | number)[] {
  const { workspaceId, attempt, status, request, response, settled_at, exhausted, claim, disable, next } = settlement
  const { attempted_at, error_code, error_message } = settlement
  const without = { headers: null, body: null }
  // The script reads the first field and the last field.
  const ended: Ended = {
    attempted_at,
    exhausted,
    error_code,
    error_message,
    request: request && { ...request, ...without },
    response: response && { ...response, ...without },
    updated_at: settled_at,
  }
  const details: Details = {
    request: request && { headers: request.headers, body: request.body },
    response: response && { headers: response.headers, body: response.body },
  }
  const undelivered = attempt.trigger_mode !== 'TEST' && (status === 'CANCELED' || (status === 'FAILED' && exhausted))
  return [
    workspaceId,
    attempt.id,
    status,
    JSON.stringify(ended),
    JSON.stringify(details),
    settled_at,
    undelivered ? 'undelivered' : '',
    ...(claim === null ? ['', ''] : [claim.id, claim.token]),
    settlement.counted === null ? '' : noteText(settlement, settlement.counted),
    ...(disable === null ? ['', ''] : ['disable', disable.url]),
    ...(next === null ? ['', '', '', '', '', '', ''] : ['next', ...attemptArgs(next)]),
  ]
}
