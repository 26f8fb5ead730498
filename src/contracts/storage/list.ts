/** Bounds in unix milliseconds; all of them hold. */
export interface TimeRange {
  readonly eq?: number
  readonly gt?: number
  readonly gte?: number
  readonly lt?: number
  readonly lte?: number
}

/**
 * A page in the order of ids. Offset mode: `page` counts from 1. Cursor mode: `page` null; rows strictly beyond `after`
 * or `before` in the direction of the sort, those nearest to it, shown in the sort's order.
 */
export interface ListQuery {
  readonly limit: number
  readonly page: number | null
  readonly after: string | null
  readonly before: string | null
  readonly descending: boolean
  readonly name?: string
  readonly created_at?: TimeRange
  /** Every pair must exist. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** A list of rows that may be long. */
export interface SizedQuery extends ListQuery {
  /** The page ends after the row with which the JSON of its rows reaches about so many bytes. It has at least one row. Default: none. */
  readonly maxBytes?: number
}

/** `preceded` and `followed` tell exactly whether rows of the same filters stand before and after these. `total` is null in cursor mode. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly total: number | null
  readonly preceded: boolean
  readonly followed: boolean
}
