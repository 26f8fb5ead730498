import type { ListQuery, Page } from '../../src/contracts/storage/list.ts'
import { inRange } from '../../src/core/time-range.ts'
import { ascending, descending, type Sorted } from './sorted.ts'

type Window = Pick<ListQuery, 'limit' | 'page' | 'after' | 'before' | 'descending'>

/**
 * A page of the rows whose ids are in `ids`. `find` answers the row, or null where the filters do not hold; `show` makes
 * what is handed out, and `bytes`, where given, ends the page early once `maxBytes` are reached.
 */
export function pageOf<Row, Shown>(
  ids: Sorted,
  query: Window & { readonly maxBytes?: number },
  find: (id: string) => Row | null,
  show: (row: Row) => Shown,
  bytes: (row: Row) => number = () => 0,
): Page<Shown> {
  const matches = (from: string | null, upwards: boolean) => matching(ids, from, upwards, find)
  const upwards = !query.descending
  const maxBytes = query.maxBytes ?? Infinity

  // Towards `before` the nearest rows count, so the walk goes the other way and the rows are reversed.
  const turned = query.page === null && query.before !== null
  const walk = matches(query.page === null ? (query.before ?? query.after) : null, upwards !== turned)
  const offset = query.page === null ? 0 : (query.page - 1) * query.limit
  for (let skipped = 0; skipped < offset; skipped++) if (walk.next().done) break

  const rows: Shown[] = []
  let lastId: string | null = null
  let firstId: string | null = null
  let size = 0
  while (rows.length < query.limit && size < maxBytes) {
    const next = walk.next()
    if (next.done) break
    const [id, row] = next.value
    firstId ??= id
    lastId = id
    rows.push(show(row))
    size += bytes(row)
  }
  const beyond = lastId !== null && !walk.next().done
  const behind = firstId !== null && !matches(firstId, upwards === turned).next().done
  return {
    rows: turned ? rows.toReversed() : rows,
    total: query.page === null ? null : count(matches(null, true)),
    preceded: turned ? beyond : behind,
    followed: turned ? behind : beyond,
  }
}

function* matching<Row>(
  ids: Sorted,
  from: string | null,
  upwards: boolean,
  find: (id: string) => Row | null,
): Generator<[string, Row], void> {
  const start = from === null ? null : ([0, from] as const)
  for (const [, id] of upwards ? ascending(ids, start) : descending(ids, start)) {
    const row = find(id)
    if (row !== null) yield [id, row]
  }
}

function count(walk: Generator<unknown, void>): number {
  let total = 0
  while (!walk.next().done) total++
  return total
}

/** Whether the row has this name, time and metadata, as far as the query asks. */
export function isListed(
  row: { name: string | null; created_at: number; metadata: Readonly<Record<string, string>> },
  query: ListQuery,
): boolean {
  return (
    (query.name === undefined || row.name === query.name) &&
    inRange(row.created_at, query.created_at) &&
    Object.entries(query.metadata ?? {}).every(
      ([key, value]) => Object.hasOwn(row.metadata, key) && row.metadata[key] === value,
    )
  )
}
