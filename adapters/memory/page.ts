import type { ListQuery, Page, SizedQuery } from '../../src/contracts/storage/list.ts'
import { inRange } from '../../src/core/time-range.ts'
import { systemClock } from '../../src/clock.ts'
import { inSlices } from '../../src/runtime/slices.ts'
import { ascending, descending, type Sorted } from './sorted.ts'

type Window = Pick<SizedQuery, 'limit' | 'page' | 'after' | 'before' | 'descending' | 'maxBytes'>

/**
 * A page of the rows whose ids are in `ids`, as they are stored: `shownPage` copies them. `find` answers the row, or null
 * where the filters do not hold; `bytes`, where given, ends the page early once `maxBytes` are reached.
 */
export function pageOf<Row>(
  ids: Sorted,
  query: Window,
  find: (id: string) => Row | null,
  bytes?: (row: Row) => number,
): Page<Row> {
  const matches = (from: string | null, upwards: boolean) => matching(ids, from, upwards, find)
  const upwards = !query.descending

  // Towards `before` the nearest rows count, so the walk goes the other way and the rows are reversed.
  const turned = query.page === null && query.before !== null
  const offset = ((query.page ?? 1) - 1) * query.limit
  const walk = matches(query.page === null ? (query.before ?? query.after) : null, upwards !== turned)
  for (let skipped = 0; skipped < offset; skipped++) if (walk.next().done) break

  const rows: Row[] = []
  let firstId: string | undefined
  let size = 0
  while (rows.length < query.limit && size < (query.maxBytes ?? Infinity)) {
    const next = walk.next()
    if (next.done) break
    const [id, row] = next.value
    firstId ??= id
    rows.push(row)
    if (query.maxBytes !== undefined) size += bytes?.(row) ?? 0
  }
  const beyond = rows.length > 0 && !walk.next().done
  const behind = firstId !== undefined && !matches(firstId, upwards === turned).next().done
  let total = query.page === null ? null : 0
  if (total !== null) for (const all = matches(null, true); !all.next().done;) total++
  return {
    rows: turned ? rows.toReversed() : rows,
    total,
    preceded: turned ? beyond : behind,
    followed: turned ? behind : beyond,
  }
}

/** A page to be handed out. What is stored is never changed in place, so long pages are copied while others get a turn. */
export async function shownPage<Row, Shown>(
  reading: Promise<Page<Row>>,
  show: (row: Row) => Shown,
): Promise<Page<Shown>> {
  const page = await reading
  const rows: Shown[] = []
  await inSlices(systemClock(), page.rows, (row) => rows.push(show(row)))
  return { ...page, rows }
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
