import type { CursorPage, ListInput, OffsetPage } from '../schema/page.ts'

/** A page of a list, in the mode that the query chose. */
export type PageOf<Row> = OffsetPage<Row> | CursorPage<Row>

/** A query with `limit`, `after` or `before`: the answer is a cursor page. */
export type CursorQuery<Query extends ListInput> = Query &
  ({ readonly limit: number } | { readonly after: string } | { readonly before: string })

/** A query without `limit`, `after` and `before`: the answer is an offset page. */
export type OffsetQuery<Query extends ListInput> = Query & {
  readonly limit?: never
  readonly after?: never
  readonly before?: never
}

/** What the lists of named rows can be asked. Filters that are given must all hold. */
export interface NamedListInput extends ListInput {
  /** Rows of exactly this name. */
  readonly name?: string
  /** Rows whose metadata have all of these pairs. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** What the lists of rows that can be switched off can be asked. */
export interface OwnedListInput extends NamedListInput {
  /** Rows that are enabled, or rows that are not. Default: both. */
  readonly enabled?: boolean
}

/** Lists of the rows of a workspace. */
export interface Listed<Row, Query extends ListInput> {
  /**
   * Lists rows of a workspace, which is an id or a name; the newest first unless `sort` says otherwise.
   * With `limit`, `after` or `before` in the query the answer is a cursor page, else an offset page with `total`.
   * @throws PosthornError validation, unknown_workspace
   * @example const { data, next } = await posthorn.endpoints.list('default', { limit: 100 })
   */
  list(workspace: string, query: CursorQuery<Query>): Promise<CursorPage<Row>>
  list(workspace: string, query?: OffsetQuery<Query>): Promise<OffsetPage<Row>>
  list(workspace: string, query?: Query): Promise<PageOf<Row>>
  /**
   * Iterates over all rows of the list, read page by page (100 rows, or `limit`) while they are taken.
   * @throws PosthornError validation, unknown_workspace
   * @example for await (const event of posthorn.events.each('default', { sort: 'id.asc' })) console.log(event.id)
   */
  each(workspace: string, query?: Query): AsyncIterable<Row>
}
