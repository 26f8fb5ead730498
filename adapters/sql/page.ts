import type { ListQuery, Page, SizedQuery, TimeRange } from '../../src/contracts/storage/list.ts'
import { json, numberOrNull, type Row } from './values.ts'
import { all, nothing, raw, type Sql, sql } from './sql.ts'

/** The database that is asked. */
interface Asked {
  ask(statement: Sql): Promise<readonly Row[]>
}

export interface Listing {
  readonly columns: Sql
  /** Tables and joins; by the direction of ids, where the rows come of a part that is to be in their order. */
  readonly from: Sql | ((upwards: boolean) => Sql)
  readonly where: Sql
  /** The column of the id, by which the page is ordered. */
  readonly id: Sql
  /**
   * Columns that equal the id by a join. They get the same bounds, so that no table is read from its end up to a page
   * in the middle.
   */
  readonly sameIds?: readonly Sql[]
  /** What a row counts towards `maxBytes`. */
  readonly size?: Sql
}
type Window = Pick<SizedQuery, 'limit' | 'page' | 'after' | 'before' | 'descending' | 'maxBytes'>

/**
 * One page of a listing, and whether rows come before and after it, in one statement. Offset pages cost a count of all
 * that is listed.
 */
export async function pageOf<Shown>(
  { ask }: Asked,
  { columns, from, where, id, sameIds = [], size }: Listing,
  query: Window,
  show: (row: Row) => Shown,
): Promise<Page<Shown>> {
  const { limit, page, after, before, descending, maxBytes } = query
  // Towards `before` the nearest rows count, so the walk goes the other way.
  const upwards = page === null && before !== null ? descending : !descending
  const start = page === null ? (before ?? after) : null
  const past = (bound: Sql, upwards: boolean): Sql =>
    all([id, ...sameIds].map((column) => (upwards ? sql`${column} > ${bound}` : sql`${column} < ${bound}`)))
  const beyond = start === null ? nothing : sql` and ${past(sql`${start}::text`, upwards)}`
  const direction = raw(upwards ? 'asc' : 'desc')
  const offset = page === null ? 0 : (page - 1) * limit

  const source = (upwards: boolean) => (typeof from === 'function' ? from(upwards) : from)
  const rows = sql`
    select ${columns}${size === undefined ? nothing : sql`, ${size} as row_size`}
    from ${source(upwards)} where ${where}${beyond}
    order by ${id} ${direction} limit ${limit}::bigint offset ${offset}::bigint`
  const cut =
    size === undefined || maxBytes === undefined
      ? rows
      : sql`
        select * from (select r.*, sum(row_size) over (order by r.id ${direction}) - row_size as size_before from (${rows}) r) s
        where size_before < ${Math.min(maxBytes, Number.MAX_SAFE_INTEGER)}::bigint`
  // The nearest neighbour, for which the planner reads the index. For any neighbour (`exists`) it would begin to read
  // the table.
  const neighbour = (beyond: Sql, direction: 'asc' | 'desc') => sql`
    (select 1 from ${source(direction === 'asc')} where ${where} and ${beyond} order by ${id} ${raw(direction)} limit 1) is not null`
  const found = await ask(sql`
    with page as materialized (${cut})
    select page.*, around.*
    from (
      select ${page === null ? raw('null::bigint') : sql`(select count(*) from ${source(upwards)} where ${where})`} as total_rows,
        ${neighbour(past(raw('(select min(id) from page)'), false), 'desc')} as rows_below,
        ${neighbour(past(raw('(select max(id) from page)'), true), 'asc')} as rows_above
    ) around
    left join page on true
    order by page.id ${raw(descending ? 'desc' : 'asc')}`)

  const around = found[0]! // always one row, of nulls where the page is empty
  return {
    rows: found.filter((row) => row['id'] !== null).map(show),
    total: numberOrNull(around['total_rows']),
    preceded: around[descending ? 'rows_above' : 'rows_below'] === true,
    followed: around[descending ? 'rows_below' : 'rows_above'] === true,
  }
}

/** The conditions of a time range on a column. */
export function within(column: Sql, range: TimeRange | undefined): readonly Sql[] {
  if (range === undefined) return []
  const { eq, gt, gte, lt, lte } = range
  return [
    ...(eq === undefined ? [] : [sql`${column} = ${eq}::bigint`]),
    ...(gt === undefined ? [] : [sql`${column} > ${gt}::bigint`]),
    ...(gte === undefined ? [] : [sql`${column} >= ${gte}::bigint`]),
    ...(lt === undefined ? [] : [sql`${column} < ${lt}::bigint`]),
    ...(lte === undefined ? [] : [sql`${column} <= ${lte}::bigint`]),
  ]
}

/** The condition of a filter, if it is given. */
export function equals(column: Sql, value: string | undefined): readonly Sql[] {
  return value === undefined ? [] : [sql`${column} = ${value}::text`]
}

/** The conditions that every list of configuration rows knows. */
export function named({ name, created_at, metadata }: ListQuery): readonly Sql[] {
  return [
    ...equals(raw('name'), name),
    ...within(raw('created_at'), created_at),
    ...(metadata === undefined ? [] : [sql`metadata @> ${json(metadata)}::text::jsonb`]),
  ]
}
