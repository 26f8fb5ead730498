import type { PlannedAttempt } from '../../src/contracts/storage/attempts.ts'
import type { IngestEntry } from '../../src/contracts/storage/events.ts'
import { attemptsArgs } from './attempt-args.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { chunks, run, script } from './scripts.ts'

// Redis serves nobody while a script runs, and an attempt takes 40 microseconds to be written. So the attempts of an event for
// hundreds of endpoints are stored with the event as texts, in one step, and each text is written as attempts in a step of its
// own. Where the process ends in between, another one goes on: nothing of an event that was stored is lost.

/** An event with more attempts is stored in parts. */
const mostAtOnce = 200
/** A part takes Redis 2 milliseconds: who comes in between waits no longer. */
const attemptsPerPart = 25
/** Names that one command asks about. */
const namesAtOnce = 500

/**
 * Writes the next part of the attempts of an event. ARGV: its id, or its name in keys. Answers whether more is to be written, and the
 * ids of attempts whose jobs are held.
 */
const writePart = script(
  `${attemptFunctions}
local name = nameIn(ARGV[1])
local list, room, made = tag .. ':unwritten:' .. name, unpack(redis.call('HMGET', tag .. ':event:' .. name, 'room', 'created'))
local part, workspace = redis.call('LINDEX', list, 0), nameOf(room)
-- Written already, or event or workspace were removed.
if not part or not workspace then
  dropUnwritten(name)
  return { '' }
end
local values, touched, reply = cjson.decode(part), {}, { 'more' }
for i = 2, #values, 6 do
  local attempt = attemptAt(values, i)
  if redis.call('EXISTS', tag .. ':attempt:' .. attempt.id) == 0 then
    local how = addAttempt(room, name, attempt, values[1] == '1' and touched, workspace, made)
    if how == 'held' then reply[#reply + 1] = attempt.id end
  end
end
placeAll(touched)
redis.call('LPOP', list)
if redis.call('EXISTS', list) == 0 then
  dropUnwritten(name)
  -- Until now the event counted as having one open attempt more.
  noLongerOpen(name)
  reply[1] = ''
end
return reply`,
  { again: true },
)

export function isWide({ attempts }: IngestEntry): boolean {
  return attempts.length > mostAtOnce
}

/** Whether attempts may be written later without being judged: else they are judged with their event, all in one step. */
export async function areNew(
  connection: Connection,
  tag: string,
  attempts: readonly PlannedAttempt[],
): Promise<boolean> {
  const isTimed = ({ scheduled_at, created_at }: PlannedAttempt) =>
    Number.isFinite(scheduled_at) && Number.isFinite(created_at)
  if (!attempts.every(isTimed)) return false
  for (const part of chunks(attempts, namesAtOnce)) {
    const keys = part.map(({ id }) => `${tag}:attempt:${id}`)
    if (Number(await connection.send('EXISTS', keys, true)) > 0) return false
  }
  return true
}

/** The attempts of an event as texts, each of which `writePart` writes in a step. */
export function partsOf(attempts: readonly PlannedAttempt[], enqueue: boolean): readonly string[] {
  return chunks(attemptsArgs(attempts), attemptsPerPart).map((part) =>
    JSON.stringify([enqueue ? '1' : '0', ...part.flat().map(String)]),
  )
}

/** Writes all attempts of an event that are still to be written. Answers those whose jobs are held. */
export async function writeParts(connection: Connection, tag: string, event: string): Promise<readonly string[]> {
  const held: string[] = []
  for (let more = 'more'; more !== '';) {
    const [next = '', ...ids] = await run(connection, writePart, tag, [event])
    more = next
    held.push(...ids)
  }
  return held
}

/** Writes what processes left that ended. What fails is tried again the next time, and keeps nothing else waiting. */
export async function finishBegun(connection: Connection, tag: string): Promise<void> {
  const names = (await connection.send('ZRANGE', [`${tag}:unfinished`, '0', '99'], true)) as readonly string[] // as documented
  for (const name of names) await writeParts(connection, tag, name).catch(() => {})
}
