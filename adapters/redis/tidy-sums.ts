import { systemClock } from '../../src/clock.ts'
import type { Statistics } from '../../src/contracts/storage/statistics.ts'
import { dayMs, minuteMs, startOf } from '../../src/core/periods.ts'
import { eachInSlices } from '../../src/runtime/slices.ts'
import { sumFunctions } from './add-sums.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'
import { chunks, rowsOf, run, script } from './scripts.ts'
import { allRooms } from './sums.ts'

const fieldsPerScript = 50

/**
 * ARGV: room, kind, time, day to which the sums are added or '', then fields. Removes these fields of the hash; with
 * the last field it removes the hash's time from the index. Answers how many fields were removed.
 */
const take = script(
  `${sumFunctions}
local room, kind, time, day = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key, gone = tag .. ':room:' .. room .. ':' .. kind .. ':' .. time, 0
for i = 5, #ARGV do
  local numbers = redis.call('HGET', key, ARGV[i])
  if numbers then
    if day ~= '' then addSum(room, 'day', day, ARGV[i], numbersIn(numbers)) end
    redis.call('HDEL', key, ARGV[i])
    gone = gone + 1
  end
end
if redis.call('EXISTS', key) == 0 then redis.call('ZREM', tag .. ':room:' .. room .. ':' .. kind .. 's', time) end
return { tostring(gone) }`,
  { again: true },
)

/**
 * ARGV: times before which minutes, hours and days are old, then workspaces. Answers of each that has something old "sums" and the kind
 * of these; and of a workspace that was deleted, of which everything is old, "gone" once it has no sums.
 */
const look = script(
  `
local tag, kinds, reply = KEYS[1], { 'minute', 'hour', 'day' }, {}
for i = 4, #ARGV do
  local room = tag .. ':room:' .. ARGV[i]
  local there, any = redis.call('EXISTS', room) == 1, false
  for k, kind in ipairs(kinds) do
    local bound = there and ARGV[k] or '+inf'
    if redis.call('ZRANGEBYSCORE', room .. ':' .. kind .. 's', '-inf', bound, 'LIMIT', 0, 1)[1] then
      any = true
      for _, part in ipairs({ ARGV[i], 'sums', kind, bound }) do reply[#reply + 1] = part end
    end
  end
  if not there and not any then
    for _, part in ipairs({ ARGV[i], 'gone', '', '' }) do reply[#reply + 1] = part end
  end
end
return reply`,
  { again: true },
)
const roomsPerScript = 100

export async function tidySums(
  connection: Connection,
  tag: string,
  { minutesBefore, hoursBefore, daysBefore, limit }: Parameters<Statistics['tidy']>[0],
): Promise<number> {
  let gone = 0

  /** Removes old sums of a kind. Hours become days, but for those of a deleted workspace, of which everything is old: `+inf`. */
  async function each(room: string, kind: string, bound: string): Promise<void> {
    const index = `${tag}:room:${room}:${kind}s`
    const old = await connection.send('ZRANGEBYSCORE', [index, '-inf', bound, 'LIMIT', '0', '100'], true)
    for (const time of old as readonly string[]) {
      const fields = await fieldsOf(connection, `${tag}:room:${room}:${kind}:${time}`)
      for (const part of chunks([...fields.keys()], fieldsPerScript)) {
        const left = limit - gone
        if (left <= 0) return
        const day = kind === 'hour' && bound !== '+inf' ? startOf(Number(time), dayMs) : ''
        const [count] = await run(connection, take, tag, [room, kind, time, day, ...part.slice(0, left)])
        gone += Number(count)
      }
    }
  }

  const rooms = await allRooms(connection, tag)
  const bounds = [minutesBefore, hoursBefore, daysBefore].map((before) => `(${before}`)
  for (const some of chunks(rooms, roomsPerScript)) {
    const found = await run(connection, look, tag, [...bounds, ...some])
    for (const [room, what, kind, bound] of rowsOf(found, 4)) {
      if (what === 'gone') await forgetRoom(connection, tag, room!)
      else await each(room!, kind!, bound!) // rows of four
      if (gone >= limit) return gone
    }
  }
  await forgetOthers(connection, tag, rooms, { minutesBefore, daysBefore })
  return gone
}

/** What is left of a deleted workspace once its sums are gone. */
async function forgetRoom(connection: Connection, tag: string, room: string): Promise<void> {
  const key = `${tag}:room:${room}`
  await connection.send('UNLINK', [`${key}:types`, `${key}:streaks`], true)
  await connection.send('ZREM', [`${tag}:counted`, room], true)
}

/** What is left once old sums are gone. */
async function forgetOthers(
  connection: Connection,
  tag: string,
  rooms: readonly string[],
  { minutesBefore, daysBefore }: { minutesBefore: number; daysBefore: number },
): Promise<void> {
  await eachInSlices(systemClock(), rooms, (room) => forget(connection, tag, room, daysBefore))
  await forgetTallies(connection, tag, minutesBefore)
}

/** What the version before counted, for a week. */
async function forgetTallies(connection: Connection, tag: string, minutesBefore: number): Promise<void> {
  const before = Math.floor(minutesBefore / minuteMs) - 7 * (dayMs / minuteMs)
  const range = [`${tag}:tallies`, '-inf', `(${before}`, 'LIMIT', '0', '100']
  for (const minute of (await connection.send('ZRANGEBYSCORE', range, true)) as readonly string[]) {
    await connection.send('UNLINK', [`${tag}:tally:${minute}`], true)
    await connection.send('ZREM', [`${tag}:tallies`, minute], true)
  }
}

/** Types that were not counted lately, and streaks of endpoints that are gone. */
async function forget(connection: Connection, tag: string, room: string, daysBefore: number): Promise<void> {
  const key = `${tag}:room:${room}`
  for (const [type, at] of await fieldsOf(connection, `${key}:types`)) {
    if (Number(at) < daysBefore) await connection.send('HDEL', [`${key}:types`, type], true)
  }
  const endpoints = [...(await fieldsOf(connection, `${key}:streaks`)).keys()]
  await eachInSlices(systemClock(), endpoints, async (id) => {
    const there = await connection.send('HGET', [`${tag}:endpoints:${id}`, 'room'], true)
    if (there !== room) await connection.send('HDEL', [`${key}:streaks`, id], true)
  })
}
