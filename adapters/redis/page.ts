import type { Page, SizedQuery } from '../../src/contracts/storage/list.ts'
import { bytesOf } from '../../src/core/encoding.ts'
import type { Connection } from './client.ts'
import { eventFunctions } from './event-script.ts'
import type { IdBounds } from '../../src/core/id-bounds.ts'
import type { Condition } from './filters.ts'
import { rowFunctions } from './row-script.ts'
import { entriesPerScript, rowsOf, run, script } from './scripts.ts'

/** So many bytes of a row count as one more element that a script comes upon. */
const charge = 1024

/**
 * ARGV: zset of ids, "up" or "down", first and last bound, how many rows, how many ids to skip, the most elements to come
 * upon, what the keys of the rows begin with, how many conditions, and field, test and bound of each; the same for conditions
 * one of which attempts an event is to have; then the fields. Answers the id to go on behind, '' at the end, how many rows meet
 * the conditions, and id and fields of each of these, '' for a field that does not exist; with no fields nothing of them.
 */
const read = script(
  `${eventFunctions}${rowFunctions}
local index, down, from, to, count = tag .. ':' .. ARGV[1], ARGV[2] == 'down', ARGV[3], ARGV[4], tonumber(ARGV[5])
local skip, most, kind = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local conditions, behind = conditionsAt(9)
local sought, first = conditionsAt(behind)
local fields = namesAt(first)

local function part(size)
  local isWhole = from == '-' or from == '+'
  if isWhole and skip > 0 then
    return redis.call(down and 'ZREVRANGE' or 'ZRANGE', index, skip, skip + size - 1)
  end
  return redis.call(down and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', index, from, to, 'LIMIT', skip, size)
end
local found, reply, size, isEnd = 0, { '', '' }, count, false
repeat
  local ids = part(size)
  isEnd = #ids < size
  for at, id in ipairs(ids) do
    looked = looked + 1
    reply[1], from = id, '(' .. id
    local name = kind == 'event' and nameOfEvent(id) or id
    local key = tag .. ':' .. kind .. ':' .. name
    if wanted(key, id, conditions) and hasWanted(name, sought) then
      found = found + 1
      if #fields > 0 then
        reply[#reply + 1] = id
        for _, value in ipairs(fieldsOf(key, fields)) do
          reply[#reply + 1] = value or ''
          looked = looked + math.floor(#reply[#reply] / ${charge})
        end
      end
    end
    if found == count or looked >= most then
      isEnd = isEnd and at == #ids
      break
    end
  end
  skip, size = 0, math.min(2 * size, 250, most - looked)
until isEnd or found == count or looked >= most
if isEnd then reply[1] = '' end
reply[2] = tostring(found)
return reply`,
  { again: true },
)

/** The most elements that a run of the script comes upon. */
export const mostElements = 1000

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
    having = [],
    within = { from: null, to: null },
    exact,
    kind,
    fields,
    parse,
  }: {
    readonly index: string
    /** What Redis itself asks of a row of the index, so that those left out cost little. */
    readonly where?: readonly Condition[]
    /** Conditions that one of the attempts of an event of the index is to meet. */
    readonly having?: readonly Condition[]
    /** Ids between which all rows stand that the filters leave in. */
    readonly within?: IdBounds
    /** Whether index and conditions leave nothing in that the filters leave out. */
    readonly exact: boolean
    readonly kind: string
    readonly fields: readonly string[]
    readonly parse: (id: string, fields: readonly string[]) => Row | null
  },
): Listing<Row> {
  const isNarrowed = where.length > 0 || having.length > 0
  const conditions = [where.length, ...where.flat(), having.length, ...having.flat()]
  /** Parts of the index with the rows of each that meet the conditions: their number and, where asked for, their fields. */
  async function* parts(from: string | null, upwards: boolean, first: number, skip: number, asked: readonly string[]) {
    let count = first
    let skipped = skip
    const [begin, end] = upwards ? [within.from, within.to] : [within.to, within.from]
    const isBeyond = (a: string, b: string): boolean => (upwards ? a > b : a < b)
    let after = from ?? begin
    if (from !== null && begin !== null && isBeyond(begin, from)) after = begin
    const [lowest, highest] = upwards ? ['-', '+'] : ['+', '-']
    for (;;) {
      const bounds = [after === null ? lowest : `(${after}`, end === null ? highest : `[${end}`]
      const window = [index, upwards ? 'up' : 'down', ...bounds, count, skipped, mostElements, kind]
      const [last, found, ...rows] = await run(connection, read, tag, [...window, ...conditions, ...asked])
      yield { found: Number(found), rows: rowsOf(rows, asked.length + 1) }
      if (last === '') return
      after = last!
      skipped = 0
      count = Math.min(count * 2, entriesPerScript)
    }
  }

  return {
    async size() {
      if (!exact) return null
      if (!isNarrowed) return Number(await connection.send('ZCARD', [`${tag}:${index}`], true))
      let size = 0
      for await (const { found } of parts(null, true, mostElements, 0, [])) size += found
      return size
    },
    async *walk(from, upwards, first, skip) {
      // The index knows how to skip what it holds, not what meets conditions.
      let left = isNarrowed ? skip : 0
      for await (const { rows } of parts(from, upwards, Math.min(first, entriesPerScript), skip - left, fields)) {
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

type Window = Pick<SizedQuery, 'limit' | 'page' | 'after' | 'before' | 'descending' | 'maxBytes'>

/** A page of a listing. It ends early once `bytes` of its rows reach `maxBytes`. */
export async function pageOf<Row extends { readonly id: string }>(
  listed: Listing<Row>,
  query: Window,
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

/** A row with the bytes of its JSON as it is stored. */
export interface Sized<Row> {
  readonly id: string
  readonly row: Row
  readonly bytes: number
}

export function sized<Row extends { readonly id: string }>(row: Row, json: string): Sized<Row> {
  return { id: row.id, row, bytes: bytesOf(json).length }
}

/** The same of rows that may be long. */
export async function sizedPage<Row>(listed: Listing<Sized<Row>>, query: Window): Promise<Page<Row>> {
  const page = await pageOf(listed, query, ({ bytes }) => bytes)
  return { ...page, rows: page.rows.map(({ row }) => row) }
}

async function isAny(walk: AsyncGenerator<readonly unknown[], void>): Promise<boolean> {
  for await (const batch of walk) if (batch.length > 0) return true
  return false
}
