import type { ListQuery, Page } from '../../src/contracts/storage/list.ts'
import { inRange } from '../../src/core/time-range.ts'
import { systemClock } from '../../src/clock.ts'
import { inSlices } from '../../src/runtime/slices.ts'
import { ascending, descending, idAt, type Sorted } from './sorted.ts'

const clock = systemClock()

type Window = Pick<ListQuery, 'limit' | 'page' | 'after' | 'before' | 'descending'>

/**
 * A page of the rows whose ids are in `ids`, as they are stored: `shownPage` copies them. `find` answers the row, or null
 * where the filters do not hold; `bytes`, where given, ends the page early once `maxBytes` are reached.
 */
export function pageOf<Row>(
  ids: Sorted,
  query: Window & { readonly maxBytes?: number },
  find: (id: string) => Row | null,
  bytes: (row: Row) => number = () => 0,
): Page<Row> {
  const matches = (from: string | null, upwards: boolean) => matching(ids, from, upwards, find)
  const upwards = !query.descending
  const maxBytes = query.maxBytes ?? Infinity

  // Towards `before` the nearest rows count, so the walk goes the other way and the rows are reversed.
  const turned = query.page === null && query.before !== null
  const offset = query.page === null ? 0 : (query.page - 1) * query.limit
  const isWhole = !hasFilters(query)
  // Where every row matches, those before a page need not be walked past: a workspace may have 100,000.
  const skipped = isWhole && offset > 0 ? idAt(ids, upwards ? offset - 1 : ids.size - offset) : null
  const walk = matches(query.page === null ? (query.before ?? query.after) : skipped, upwards !== turned)
  const limit = isWhole ? Math.min(query.limit, ids.size - offset) : query.limit
  if (!isWhole) for (let passed = 0; passed < offset; passed++) if (walk.next().done) break

  const rows: Row[] = []
  let lastId: string | null = null
  let firstId: string | null = null
  let size = 0
  while (rows.length < limit && size < maxBytes) {
    const next = walk.next()
    if (next.done) break
    const [id, row] = next.value
    firstId ??= id
    lastId = id
    rows.push(row)
    size += bytes(row)
  }
  const beyond = lastId !== null && !walk.next().done
  const behind = firstId !== null && !matches(firstId, upwards === turned).next().done
  return {
    rows: turned ? rows.toReversed() : rows,
    total: query.page === null ? null : isWhole ? ids.size : count(matches(null, true)),
    preceded: turned ? beyond : behind,
    followed: turned ? behind : beyond,
  }
}

/** A page to be handed out. What is stored is never changed in place, so long pages are copied while others get a turn. */
export async function shownPage<Row, Shown>(page: Page<Row>, show: (row: Row) => Shown): Promise<Page<Shown>> {
  const rows: Shown[] = []
  await inSlices(clock, page.rows, (row) => rows.push(show(row)))
  return { ...page, rows }
}

const noFilters = new Set(['limit', 'page', 'after', 'before', 'descending', 'maxBytes'])

function hasFilters(query: object): boolean {
  return Object.entries(query).some(([name, value]) => value !== undefined && !noFilters.has(name))
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
