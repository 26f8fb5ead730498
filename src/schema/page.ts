/** A list in offset mode. */
export interface OffsetPage<Row> {
  readonly total: number
  readonly data: readonly Row[]
}

/** A list in cursor mode, taken when `limit`, `after` or `before` is given. The URIs are path and query. */
export interface CursorPage<Row> {
  readonly data: readonly Row[]
  readonly next: string | null
  readonly prev: string | null
}

/** A time filter of a list: one moment, or bounds. Unix milliseconds. */
export type TimeFilter =
  | number
  | { readonly gt?: number; readonly gte?: number; readonly lt?: number; readonly lte?: number }

/** Parameters of every list. */
export interface ListInput {
  /** From 1; deprecated in favour of `after` and `before`. */
  readonly page_no?: number
  /** 1 to 1000, default 20; deprecated in favour of `limit`. */
  readonly page_size?: number
  /** 1 to 1000, default 20. */
  readonly limit?: number
  readonly sort?: 'id.desc' | 'id.asc'
  readonly after?: string
  readonly before?: string
  readonly created_at?: TimeFilter
}
