import type { ListQuery, Page } from '../../src/contracts/storage.ts'
import type { Connection } from './client.ts'
import { entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * ARGV: zset of ids, "up" or "down", an id to begin strictly beyond or '', how many, how many to skip, what the keys of
 * the rows begin with, then the fields. Answers the id and the fields of each row, '' for one that is not there.
 */
const read = script(
  `
local index, down, from, count, skip, kind = KEYS[1] .. ':' .. ARGV[1], ARGV[2] == 'down', ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local fields = {}
for i = 7, #ARGV do fields[#fields + 1] = ARGV[i] end
local bound = from ~= '' and '(' .. from
local ids
if not bound then
  ids = redis.call(down and 'ZREVRANGE' or 'ZRANGE', index, skip, tonumber(skip) + tonumber(count) - 1)
elseif down then
  ids = redis.call('ZREVRANGEBYLEX', index, bound, '-', 'LIMIT', skip, count)
else
  ids = redis.call('ZRANGEBYLEX', index, bound, '+', 'LIMIT', skip, count)
end
local reply = {}
for _, id in ipairs(ids) do
  reply[#reply + 1] = id
  for _, value in ipairs(redis.call('HMGET', KEYS[1] .. ':' .. kind .. ':' .. id, unpack(fields))) do
    reply[#reply + 1] = value or ''
  end
end
return reply`,
  { again: true },
)

/** Rows in the order of their ids, as one index of them says. */
export interface Listing<Row> {
  /** How many there are; null where only walking tells, since the filters ask for more than the index knows. */
  size(): Promise<number | null>
  /** Batches of rows with their ids, strictly beyond `from`, the first `skip` of the index left out. */
  walk(from: string | null, upwards: boolean, first: number, skip: number): AsyncGenerator<readonly Row[], void>
}

/** What lists of one kind have in common. `parse` answers null for a row that is gone or that the filters leave out. */
export function listing<Row>(
  connection: Connection,
  tag: string,
  {
    index,
    exact,
    kind,
    fields,
    parse,
  }: {
    readonly index: string
    /** Whether the index holds nothing that the filters leave out. */
    readonly exact: boolean
    readonly kind: string
    readonly fields: readonly string[]
    readonly parse: (id: string, fields: readonly string[]) => Row | null
  },
): Listing<Row> {
  return {
    async size() {
      return exact ? Number(await connection.send('ZCARD', [`${tag}:${index}`], true)) : null
    },
    async *walk(from, upwards, first, skip) {
      let count = Math.min(first, entriesPerScript)
      let skipped = exact ? skip : 0
      let after = from
      for (;;) {
        const args = [index, upwards ? 'up' : 'down', after ?? '', count, skipped, kind, ...fields]
        const rows = rowsOf(await run(connection, read, tag, args), fields.length + 1)
        yield rows.flatMap(([id, ...values]) => parse(id!, values) ?? [])
        if (rows.length < count) return
        after = rows.at(-1)![0]!
        skipped = 0
        count = Math.min(count * 2, entriesPerScript)
      }
    },
  }
}

/** A list of rows that are at hand already, at most one. */
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
  // Towards `before` the nearest rows count, so the walk goes the other way and its rows are turned round.
  const turned = page === null && query.before !== null
  const from = page === null ? (query.before ?? query.after) : null
  const offset = page === null ? 0 : (page - 1) * limit

  const rows: Row[] = []
  let seen = size === null ? 0 : offset
  let taken = 0
  let full = false
  let beyond = false
  walking: for await (const batch of listed.walk(from, upwards !== turned, limit + 1, offset)) {
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
