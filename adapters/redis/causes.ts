import type { Cause, Causes } from '../../src/contracts/storage/causes.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'
import { chunks, run, script } from './scripts.ts'

/** Causes that one script writes. */
const causesPerScript = 100

/** What scripts that add causes share. */
export const causeFunctions = `
local function addCause(kind, id, cause)
  local causes = KEYS[1] .. ':causes:' .. kind
  redis.call('HSETNX', causes, id, cause)
  redis.call('ZADD', causes .. ':ids', 0, id)
end
`

/** ARGV: kind, id and JSON of each cause. */
const add = script(
  `${causeFunctions}
for i = 1, #ARGV, 3 do addCause(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
return {}`,
  { again: true },
)

/** ARGV: kind and id of each cause. */
const remove = script(
  `
for i = 1, #ARGV, 2 do
  local causes = KEYS[1] .. ':causes:' .. ARGV[i]
  redis.call('HDEL', causes, ARGV[i + 1])
  redis.call('ZREM', causes .. ':ids', ARGV[i + 1])
end
return {}`,
  { again: true },
)

/**
 * ARGV: kind, where the ids begin, limit. Answers 'more' where causes have no place among the ids yet, since the version before gave
 * them none, else ''; then causes. An id that has no cause is one that the version before removed.
 */
const list = script(
  `
local causes, from, limit = KEYS[1] .. ':causes:' .. ARGV[1], ARGV[2], tonumber(ARGV[3])
local reply, walked = { '' }, 0
if redis.call('HLEN', causes) > redis.call('ZCARD', causes .. ':ids') then reply[1] = 'more' end
while #reply <= limit and walked < 1000 do
  local ids = redis.call('ZRANGEBYLEX', causes .. ':ids', from, '+', 'LIMIT', 0, limit + 1 - #reply)
  if #ids == 0 then break end
  for _, id in ipairs(ids) do
    local cause = redis.call('HGET', causes, id)
    if cause then reply[#reply + 1] = cause else redis.call('ZREM', causes .. ':ids', id) end
  end
  from, walked = '(' .. ids[#ids], walked + #ids
end
return reply`,
  { again: true },
)

/** ARGV: kind, ids. Gives the causes that are still there a place among the ids. */
const place = script(
  `
local causes = KEYS[1] .. ':causes:' .. ARGV[1]
for i = 2, #ARGV do
  if redis.call('HEXISTS', causes, ARGV[i]) == 1 then redis.call('ZADD', causes .. ':ids', 0, ARGV[i]) end
end
return {}`,
  { again: true },
)

export function redisCauses(connection: Connection, tag: string): Causes {
  async function placeAll(kind: Cause['kind']): Promise<void> {
    const ids = [...(await fieldsOf(connection, `${tag}:causes:${kind}`)).keys()]
    for (const part of chunks(ids, causesPerScript)) await run(connection, place, tag, [kind, ...part])
  }

  return {
    async add(causes) {
      for (const part of chunks(causes, causesPerScript)) {
        const args = part.flatMap((cause) => [cause.kind, cause.id, JSON.stringify(cause)])
        await run(connection, add, tag, args)
      }
    },

    async list({ kind, after, limit }) {
      const read = () => run(connection, list, tag, [kind, after === null ? '-' : `(${after}`, limit])
      let found = await read()
      if (found[0] === 'more') {
        await placeAll(kind)
        found = await read()
      }
      return found.slice(1).map((cause) => JSON.parse(cause) as Cause) // written by `add`, or by the fold
    },

    async remove(causes) {
      for (const part of chunks(causes, causesPerScript)) {
        await run(
          connection,
          remove,
          tag,
          part.flatMap(({ kind, id }) => [kind, id]),
        )
      }
    },
  }
}
