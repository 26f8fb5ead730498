import type { ListQuery, Page } from '../../src/contracts/storage/list.ts'
import type { Connection } from './client.ts'
import { eventFunctions } from './event-script.ts'
import type { IdBounds } from '../../src/core/id-bounds.ts'
import { type Condition, eventCreated, eventRow, eventType, finality } from './filters.ts'
import { entriesPerScript, rowsOf, run, script } from './scripts.ts'

/** What scripts share that test rows and answer fields of them, behind `eventFunctions`. */
export const rowFunctions = `
local tested, tests, bounds, fields = {}, {}, {}, {}

-- Reads conditions: how many, then field, test and bound of each. Answers what comes behind them.
local function conditionsAt(i)
  local after = i + 1 + 3 * tonumber(ARGV[i])
  for at = i + 1, after - 1, 3 do
    tested[#tested + 1], tests[#tests + 1] = ARGV[at], ARGV[at + 1]
    local isText = ARGV[at + 1] == 'is' or ARGV[at + 1] == 'has'
    bounds[#bounds + 1] = isText and ARGV[at + 2] or tonumber(ARGV[at + 2])
  end
  return after
end

local function ofEvent(key, field)
  local event = redis.call('HGET', key, 'event')
  return event and redis.call('HGET', tag .. ':event:' .. nameIn(event), field)
end
local function isFinal(key)
  local status, ended = unpack(redis.call('HMGET', key, 'status', 'ended'))
  if status ~= 'FAILED' then return status == 'SUCCESSFUL' or status == 'CANCELED' end
  return string.find(ended, ',"exhausted":true,', 1, true) ~= nil
end
local function fieldsOf(key, names)
  local values = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do
    if name == '${eventType}' then values[i] = ofEvent(key, 'type') end
    if name == '${eventCreated}' then values[i] = ofEvent(key, 'created') end
    if name == '${eventRow}' then values[i] = ofEvent(key, 'row') end
    if name == '${finality}' then values[i] = isFinal(key) and 'yes' or 'no' end
  end
  return values
end
local function meets(value, test, bound)
  if not value then return false end
  if test == 'is' then return value == bound end
  if test == 'has' then return string.find(value, bound, 1, true) ~= nil end
  value = tonumber(value)
  if test == 'gt' then return value > bound end
  if test == 'gte' then return value >= bound end
  if test == 'lt' then return value < bound end
  return value <= bound
end
local function wanted(key)
  if #tested == 0 then return true end
  local values = fieldsOf(key, tested)
  for i, test in ipairs(tests) do
    if not meets(values[i], test, bounds[i]) then return false end
  end
  return true
end
`

/**
 * ARGV: zset of ids, "up" or "down", an id to begin strictly beyond or '', how many, how many to skip, what the keys of
 * the rows begin with, how many conditions, and field, test and bound of each, then the fields. Answers how many ids it
 * came upon, the last of them, how many of their rows meet the conditions, and id and fields of each of these, '' for a
 * field that does not exist; with no fields nothing of them.
 */
const read = script(
  `${eventFunctions}${rowFunctions}
local index, down, from, count, skip, kind = tag .. ':' .. ARGV[1], ARGV[2] == 'down', ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local first = conditionsAt(7)
for i = first, #ARGV do fields[#fields + 1] = ARGV[i] end

local bound = from ~= '' and '(' .. from
local ids
if not bound then
  ids = redis.call(down and 'ZREVRANGE' or 'ZRANGE', index, skip, tonumber(skip) + tonumber(count) - 1)
elseif down then
  ids = redis.call('ZREVRANGEBYLEX', index, bound, '-', 'LIMIT', skip, count)
else
  ids = redis.call('ZRANGEBYLEX', index, bound, '+', 'LIMIT', skip, count)
end
local found, reply = 0, { tostring(#ids), ids[#ids] or '', '' }
for _, id in ipairs(ids) do
  local key = tag .. ':' .. kind .. ':' .. (kind == 'event' and nameOfEvent(id) or id)
  if wanted(key) then
    found = found + 1
    if #fields > 0 then
      reply[#reply + 1] = id
      for _, value in ipairs(fieldsOf(key, fields)) do reply[#reply + 1] = value or '' end
    end
  end
end
reply[3] = tostring(found)
return reply`,
  { again: true },
)

/** The most ids that a run of the script tests. */
const walkedPerScript = 1000

/** Rows in the order of their ids, as an index lists them. */
export interface Listing<Row> {
  /** How many rows the listing has; null where only a walk tells, since the filters ask for more than Redis can. */
  size(): Promise<number | null>
  /** Batches of rows, strictly beyond `from`. `skip` of them are left out first, where the size is known. */
  walk(from: string | null, upwards: boolean, first: number, skip: number): AsyncGenerator<readonly Row[], void>
}

/** What lists of a kind have in common. `parse` answers null for a row that is gone or that the filters leave out. */
export function listing<Row>(
  connection: Connection,
  tag: string,
  {
    index,
    where = [],
    within = { from: null, to: null },
    exact,
    kind,
    fields,
    parse,
  }: {
    readonly index: string
    /** What Redis itself asks of a row of the index, so that those left out cost little. */
    readonly where?: readonly Condition[]
    /** Ids between which all rows stand that the filters leave in. */
    readonly within?: IdBounds
    /** Whether index and conditions leave nothing in that the filters leave out. */
    readonly exact: boolean
    readonly kind: string
    readonly fields: readonly string[]
    readonly parse: (id: string, fields: readonly string[]) => Row | null
  },
): Listing<Row> {
  const max = where.length === 0 ? entriesPerScript : walkedPerScript
  /** Parts of the index with the rows of each that meet the conditions: their number and, where asked for, their fields. */
  async function* parts(from: string | null, upwards: boolean, first: number, skip: number, asked: readonly string[]) {
    let count = Math.min(first, max)
    let skipped = skip
    const begin = upwards ? within.from : within.to
    const isBeyond = (a: string, b: string): boolean => (upwards ? a > b : a < b)
    const end = upwards ? within.to : within.from
    let after = from ?? begin ?? ''
    if (from !== null && begin !== null && isBeyond(begin, from)) after = begin
    for (;;) {
      const window = [index, upwards ? 'up' : 'down', after, count, skipped, kind]
      const args = [...window, where.length, ...where.flat(), ...asked]
      const [walked, last, found, ...rows] = await run(connection, read, tag, args)
      yield { found: Number(found), rows: rowsOf(rows, asked.length + 1) }
      if (Number(walked) < count || (end !== null && isBeyond(last!, end))) return
      after = last!
      skipped = 0
      count = Math.min(count * 2, max)
    }
  }

  return {
    async size() {
      if (!exact) return null
      if (where.length === 0) return Number(await connection.send('ZCARD', [`${tag}:${index}`], true))
      let size = 0
      for await (const { found } of parts(null, true, max, 0, [])) size += found
      return size
    },
    async *walk(from, upwards, first, skip) {
      // The index knows how to skip what it holds, not what meets conditions.
      let left = where.length === 0 ? 0 : skip
      for await (const { rows } of parts(from, upwards, first, skip - left, fields)) {
        yield rows.slice(left).flatMap(([id, ...values]) => parse(id!, values) ?? [])
        left = Math.max(0, left - rows.length)
      }
    },
  }
}

/** A list of rows that are at hand: a row, or none. */
export function listOf<Row extends { readonly id: string }>(row: Row | null): Listing<Row> {
  return {
    size: async () => (row === null ? 0 : 1),
    async *walk(from, upwards, _first, skip) {
      if (row !== null && skip === 0 && (from === null || (upwards ? row.id > from : row.id < from))) yield [row]
    },
  }
}

/** A page of a listing. It ends early once `bytes` of its rows reach `maxBytes`. */
export async function pageOf<Row extends { readonly id: string }>(
  listed: Listing<Row>,
  query: Pick<ListQuery, 'limit' | 'page' | 'after' | 'before' | 'descending'> & { readonly maxBytes?: number },
  bytes: (row: Row) => number = () => 0,
): Promise<Page<Row>> {
  const { limit, page } = query
  const upwards = !query.descending
  const size = page === null ? null : await listed.size()
  // Towards `before` the nearest rows count, so the walk goes the other way and the rows are reversed.
  const turned = page === null && query.before !== null
  const from = page === null ? (query.before ?? query.after) : null
  const offset = page === null ? 0 : (page - 1) * limit

  // Far beyond the end nothing is left to skip, and no such number may reach Redis.
  if (size !== null && offset >= size) return { rows: [], total: size, preceded: false, followed: false }

  const rows: Row[] = []
  let seen = size === null ? 0 : offset
  let taken = 0
  let full = false
  let beyond = false
  walking: for await (const batch of listed.walk(from, upwards !== turned, limit + 1, size === null ? 0 : offset)) {
    for (const row of batch) {
      if (seen++ < offset) continue
      if (full) {
        beyond = true
        // Without a size, the walk goes on to count.
        if (page === null || size !== null) break walking
        continue
      }
      rows.push(row)
      taken += bytes(row)
      full = rows.length === limit || taken >= (query.maxBytes ?? Infinity)
    }
  }
  const behind =
    rows.length > 0 && (page === null ? await isAny(listed.walk(rows[0]!.id, upwards === turned, 1, 0)) : offset > 0)
  return {
    rows: turned ? rows.toReversed() : rows,
    total: page === null ? null : (size ?? seen),
    preceded: turned ? beyond : behind,
    followed: turned ? behind : beyond,
  }
}

async function isAny(walk: AsyncGenerator<readonly unknown[], void>): Promise<boolean> {
  for await (const batch of walk) if (batch.length > 0) return true
  return false
}
