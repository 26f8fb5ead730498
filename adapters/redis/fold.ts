import { typeNamer } from '../../src/core/counted-types.ts'
import { fold, type Folded, type Note, notesIn } from '../../src/core/notes.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/** Elements of the list that are read at once, and sums that one script writes at most; a single element may have more. */
const maxElements = 20
const maxSums = 400

/**
 * What scripts over sums share: adds numbers with commas between them, and adds the time to the index of that kind of
 * sum.
 */
export const sumFunctions = `
local tag = KEYS[1]

local function addSum(room, kind, time, field, numbers)
  local key = tag .. ':room:' .. room .. ':' .. kind .. ':' .. time
  local there = redis.call('HGET', key, field)
  if there then
    local old, sums = {}, {}
    for number in string.gmatch(there, '[^,]+') do old[#old + 1] = tonumber(number) end
    for number in string.gmatch(numbers, '[^,]+') do
      sums[#sums + 1] = string.format('%.0f', tonumber(number) + (old[#sums + 1] or 0))
    end
    numbers = table.concat(sums, ',')
  else
    redis.call('ZADD', tag .. ':room:' .. room .. ':' .. kind .. 's', time, time)
  end
  redis.call('HSET', key, field, numbers)
end
`

/**
 * Nothing happens unless \`notes-folded\` is still what the caller read: then the elements it read are still the first.
 *
 * ARGV: notes-folded, how many elements; then of each sum "sum", room, kind, time, field, numbers; of each type "type",
 * room, type, time; of each streak "streak", room, endpoint, succeeded_at, failed_at, failures, exhausted, attempt; of each
 * cause "cause", room, kind, id, beginning and end of its JSON, between which the id of the workspace stands. Answers 1, or 0
 * where others folded meanwhile.
 */
const add = script(
  `${sumFunctions}
local function known(room)
  return redis.call('HGET', tag .. ':room:' .. room, 'id')
end

local function number(text)
  return text ~= '' and tonumber(text) or nil
end

-- As joinedStreak of core/notes.ts says.
local function addStreak(room, endpoint, succeeded, failed, failures, exhausted, attempt)
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

if (redis.call('GET', tag .. ':notes-folded') or '0') ~= ARGV[1] then return { '0' } end
local i = 3
while i <= #ARGV do
  local what, room = ARGV[i], ARGV[i + 1]
  local workspace = known(room)
  if what == 'sum' then
    if workspace then
      addSum(room, ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
      redis.call('ZADD', tag .. ':counted', 0, room)
    end
    i = i + 6
  elseif what == 'type' then
    local key = tag .. ':room:' .. room .. ':types'
    local before = redis.call('HGET', key, ARGV[i + 2])
    if workspace and (not before or tonumber(before) < tonumber(ARGV[i + 3])) then
      redis.call('HSET', key, ARGV[i + 2], ARGV[i + 3])
    end
    i = i + 4
  elseif what == 'streak' then
    if workspace then addStreak(unpack(ARGV, i + 1, i + 7)) end
    i = i + 8
  else
    if workspace then
      redis.call('HSETNX', tag .. ':causes:' .. ARGV[i + 2], ARGV[i + 3], ARGV[i + 4] .. cjson.encode(workspace) .. ARGV[i + 5])
    end
    i = i + 6
  end
end
redis.call('LTRIM', tag .. ':notes', ARGV[2], -1)
redis.call('INCRBY', tag .. ':notes-folded', ARGV[2])
return { '1' }`,
  { again: true },
)

/** Adds the first elements of the list of notes to the sums, and removes them, in one script. Answers how many notes that were. */
export async function foldNotes(connection: Connection, tag: string): Promise<number> {
  for (;;) {
    // In this order: elements that were folded in between make the script answer 0.
    const before = ((await connection.send('GET', [`${tag}:notes-folded`], true)) as string | null) ?? '0'
    const range = [`${tag}:notes`, '0', String(maxElements - 1)]
    const elements = (await connection.send('LRANGE', range, true)) as readonly string[]
    if (elements.length === 0) return 0
    const { notes, count, folded } = await firstOf(connection, tag, elements)
    const [answer] = await run(connection, add, tag, [before, count, ...argsOf(folded)])
    if (answer === '1') return notes.length
  }
}

/** The first elements, as many as one script may write, and the sums of these. */
async function firstOf(connection: Connection, tag: string, elements: readonly string[]) {
  const known = await knownTypes(connection, tag, elements.flatMap(notesIn))
  const come = (count: number) => {
    const notes = elements.slice(0, count).flatMap(notesIn)
    const copy = new Map([...known].map(([place, types]) => [place, new Set(types)] as const))
    return { notes, count, folded: fold(notes, typeNamer(copy)) }
  }
  let found = come(elements.length)
  while (found.count > 1 && sizeOf(found.folded) > maxSums) found = come(found.count >> 1)
  return found
}

function sizeOf({ minutes, hours, streaks, causes }: Folded): number {
  return minutes.length + hours.length + streaks.length + causes.length
}

async function knownTypes(
  connection: Connection,
  tag: string,
  notes: readonly Note[],
): Promise<Map<string, Set<string>>> {
  const known = new Map<string, Set<string>>()
  for (const place of new Set(notes.map(([of]) => String(of)))) {
    const types = await connection.send('HKEYS', [`${tag}:room:${place}:types`], true)
    known.set(place, new Set(types as readonly string[])) // at most `maxTypes`
  }
  return known
}

function argsOf({ minutes, hours, streaks, causes }: Folded): readonly (string | number)[] {
  const types = new Map(
    hours.map(({ place, event_type, time }) => [`${place} ${event_type}`, [place, event_type, time]]),
  )
  return [
    ...minutes.flatMap(({ place, time, endpoint_id, counts }) => [
      'sum',
      place,
      'minute',
      time,
      endpoint_id,
      counts.join(','),
    ]),
    ...hours.flatMap(({ place, time, endpoint_id, event_type, counts }) => [
      'sum',
      place,
      'hour',
      time,
      JSON.stringify([endpoint_id, event_type]),
      counts.join(','),
    ]),
    ...[...types.values()].flatMap((type) => ['type', ...type]),
    ...streaks.flatMap(({ place, endpoint_id, succeeded_at, failed_at, failures, exhausted, attempt_id }) => [
      'streak',
      place,
      endpoint_id,
      succeeded_at ?? '',
      failed_at ?? '',
      failures,
      exhausted,
      attempt_id ?? '',
    ]),
    ...causes.flatMap(({ workspace_id: place, ...cause }) => [
      'cause',
      place,
      cause.kind,
      cause.id,
      `${JSON.stringify(cause).slice(0, -1)},"workspace_id":`,
      '}',
    ]),
  ]
}
