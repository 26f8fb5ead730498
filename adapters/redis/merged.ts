import { timePrefix } from '../../src/core/id.ts'
import type { Connection } from './client.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Condition } from './filters.ts'
import type { Listing } from './page.ts'
import { rowFunctions } from './row-script.ts'
import { rowsOf, run, script } from './scripts.ts'

/** Part of a sorted set of ids: times of ids, both inclusive, in unix milliseconds. */
export interface Source {
  readonly index: string
  readonly from: number
  readonly to: number
}

/**
 * The ids of all sources in their order, each once. Lua compares texts by the server's locale, which orders our ids as Redis does.
 *
 * ARGV: "up" or "down", how many, the most ids to look at, "ours" where all ids of the sources are, how many sources, and zset, first and last bound of each, how many conditions, and field, test and bound of each, then the fields. Answers the id
 * to go on behind, '' at the end, then id and fields of each row that meets the conditions.
 */
const read = script(
  `${attemptFunctions}${rowFunctions}
local down, count, most, ours = ARGV[1] == 'down', tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'ours'
local sources, first = {}, 6 + 3 * tonumber(ARGV[5])
local function isNext(a, b)
  if down then a, b = b, a end
  if ours then return a < b end
  return isBefore(a, b)
end

local function advance(source)
  local last = source.ids[#source.ids]
  if last then source.from = '(' .. last end
  source.ids = redis.call(down and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', source.key, source.from, source.to, 'LIMIT', 0, source.size)
  source.at, source.isLast = 1, #source.ids < source.size
  source.size = math.min(2 * source.size, 250)
end
for i = 6, first - 1, 3 do
  local size = i == 6 and count or math.min(count, 8)
  local source = { key = tag .. ':' .. ARGV[i], from = ARGV[i + 1], to = ARGV[i + 2], size = size, ids = {} }
  advance(source)
  if #source.ids > 0 then sources[#sources + 1] = source end
end
local conditions, behind = conditionsAt(first)
local fields = namesAt(behind)

-- Takes the next id.
local function take()
  local best
  for i, source in ipairs(sources) do
    if not best or isNext(source.ids[source.at], sources[best].ids[sources[best].at]) then best = i end
  end
  if not best then return nil end
  local source = sources[best]
  local id = source.ids[source.at]
  source.at = source.at + 1
  if source.at > #source.ids then
    if not source.isLast then advance(source) end
    if source.at > #source.ids then table.remove(sources, best) end
  end
  return id
end

local reply, found, last = { '' }, 0, nil
while found < count and looked < most do
  local id = take()
  if not id then return reply end
  looked = looked + 1
  local key = tag .. ':attempt:' .. id
  if id ~= last and wanted(key, id, conditions) then
    found = found + 1
    reply[#reply + 1] = id
    for _, value in ipairs(fieldsOf(key, fields)) do reply[#reply + 1] = value or '' end
  end
  last = id
end
if #sources > 0 then reply[1] = last end
return reply`,
  { again: true },
)

const mostIds = 1000

/** Attempts of several sources. The first source has the most of them. */
export function merged<Row>(
  connection: Connection,
  tag: string,
  {
    sources,
    isOurs,
    where,
    fields,
    parse,
  }: {
    readonly sources: readonly Source[]
    /** Whether all ids of the sources are ours. */
    readonly isOurs: boolean
    readonly where: readonly Condition[]
    readonly fields: readonly string[]
    readonly parse: (id: string, fields: readonly string[]) => Row | null
  },
): Listing<Row> {
  /** The sources with what is left of each beyond an id, as bounds of Redis. */
  const beyond = (id: string, upwards: boolean) =>
    sources.flatMap(({ index, from, to }) => {
      const low = from === -Infinity ? null : timePrefix(from)
      const high = to === Infinity ? null : timePrefix(to + 1)
      const isBelow = id !== '' && low !== null && id < low
      const isAbove = id !== '' && high !== null && id >= high
      const lowest = low === null ? '-' : `[${low}`
      const highest = high === null ? '+' : `(${high}`
      const at = id === '' || (upwards ? isBelow : isAbove) ? null : `(${id}`
      if (upwards) return isAbove ? [] : [[index, at ?? lowest, highest]]
      return isBelow ? [] : [[index, at ?? highest, lowest]]
    })
  return {
    size: async () => null,
    async *walk(from, upwards, first) {
      let after = from ?? ''
      for (let count = first; ; count = Math.min(2 * count, mostIds / 4)) {
        const left = beyond(after, upwards)
        const way = [upwards ? 'up' : 'down', count, mostIds, isOurs ? 'ours' : '']
        const args = [...way, left.length, ...left.flat(), where.length, ...where.flat(), ...fields]
        const [last, ...rows] = await run(connection, read, tag, args)
        yield rowsOf(rows, fields.length + 1).flatMap(([id, ...values]) => parse(id!, values) ?? [])
        if (last === '' || last === undefined) return
        after = last
      }
    },
  }
}
