import type { Statistics } from '../../src/contracts/storage/statistics.ts'
import { dayMs, minuteMs, startOf } from '../../src/core/periods.ts'
import { sumFunctions } from './add-sums.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'
import { chunks, run, script } from './scripts.ts'

const fieldsPerScript = 200

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

export async function tidySums(
  connection: Connection,
  tag: string,
  { minutesBefore, hoursBefore, daysBefore, limit }: Parameters<Statistics['tidy']>[0],
): Promise<number> {
  let gone = 0
  const rooms = await allRooms(connection, tag)

  async function each(room: string, kind: string, before: number, rolls: boolean): Promise<void> {
    const index = `${tag}:room:${room}:${kind}s`
    const bound = before === Infinity ? '+inf' : `(${before}`
    const old = await connection.send('ZRANGEBYSCORE', [index, '-inf', bound, 'LIMIT', '0', '100'], true)
    for (const time of old as readonly string[]) {
      const fields = await fieldsOf(connection, `${tag}:room:${room}:${kind}:${time}`)
      for (const part of chunks([...fields.keys()], fieldsPerScript)) {
        const left = limit - gone
        if (left <= 0) return
        const day = rolls ? startOf(Number(time), dayMs) : ''
        const [count] = await run(connection, take, tag, [room, kind, time, day, ...part.slice(0, left)])
        gone += Number(count)
      }
    }
  }

  for (const room of rooms) {
    if ((await connection.send('EXISTS', [`${tag}:room:${room}`], true)) !== 1) {
      for (const kind of ['minute', 'hour', 'day']) await each(room, kind, Infinity, false)
      if (gone === 0) await forgetRoom(connection, tag, room)
      continue
    }
    await each(room, 'minute', minutesBefore, false)
    await each(room, 'hour', hoursBefore, true)
    await each(room, 'day', daysBefore, false)
    await forget(connection, tag, room, daysBefore)
  }
  await forgetTallies(connection, tag, minutesBefore)
  return gone
}

/** Workspaces that were counted, by the names that Redis has for them; some may be deleted. */
export async function allRooms(connection: Connection, tag: string): Promise<readonly string[]> {
  return (await connection.send('ZRANGE', [`${tag}:counted`, '0', '-1'], true)) as readonly string[]
}

/** What is left of a deleted workspace once its sums are gone. */
async function forgetRoom(connection: Connection, tag: string, room: string): Promise<void> {
  const key = `${tag}:room:${room}`
  await connection.send('UNLINK', [`${key}:types`, `${key}:streaks`], true)
  await connection.send('ZREM', [`${tag}:counted`, room], true)
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
  for (const id of (await fieldsOf(connection, `${key}:streaks`)).keys()) {
    const there = await connection.send('HGET', [`${tag}:endpoints:${id}`, 'room'], true)
    if (there !== room) await connection.send('HDEL', [`${key}:streaks`, id], true)
  }
}
