import type { AttemptQuery } from '../contracts/storage/attempts.ts'
import type { EventQuery } from '../contracts/storage/events.ts'
import type { ListQuery, Page, TimeRange } from '../contracts/storage/list.ts'
import type { PluginQuery } from '../contracts/storage/configuration.ts'
import { rowBytes } from '../core/row-bytes.ts'
import { invalid, PosthornError } from '../errors.ts'
import type { AttemptStatus } from '../schema/attempt.ts'
import {
  cursorParameters,
  type ListInput,
  type Parameters,
  parameterProblems,
  type TimeFilter,
} from '../schema/page.ts'
import type { PageOf } from '../surface/lists.ts'

const defaultLimit = 20
/** A page of configuration rows or workspaces ends early when their JSON reaches this many bytes: reading it holds the event loop. */
const maxRowBytes = 4 * 1024 * 1024
const paging = new Set(['page_no', 'page_size', 'limit', 'sort', 'after', 'before'])

/** A list as storage is asked for it, with those filters that the parameters of the noun name. */
export interface Asked extends PluginQuery, Omit<EventQuery, 'maxBytes'>, Omit<AttemptQuery, 'status'> {
  /** As clients see it. */
  readonly status?: AttemptStatus
}

/** The refusal of the parameters of a list, reason by reason. */
export function invalidParameters(reasons: readonly string[]): PosthornError {
  return invalid({ '@params': reasons })
}

/**
 * One page of a list. Cursor mode is taken when `limit`, `after` or `before` is given: then `next` goes into `after` of
 * the next page, and `prev` into `before` of the page before.
 */
export async function listPage<Row extends { readonly id: string }>(
  parameters: Parameters,
  input: ListInput,
  read: (query: Asked) => Promise<Page<Row>>,
): Promise<PageOf<Row>> {
  const asked = checkedList(parameters, input)
  const inCursorMode = isInCursorMode(asked)
  const base: ListQuery = {
    limit: (inCursorMode ? asked.limit : asked.page_size) ?? defaultLimit,
    page: inCursorMode ? null : (asked.page_no ?? 1),
    after: asked.after ?? null,
    before: asked.before ?? null,
    descending: asked.sort !== 'id.asc',
  }
  const page = await read({ ...base, ...filtersOf(parameters, asked) })
  if (!inCursorMode) return { total: page.total ?? page.rows.length, data: page.rows }
  return {
    data: page.rows,
    next: page.followed ? (page.rows.at(-1)?.id ?? null) : null,
    prev: page.preceded ? (page.rows[0]?.id ?? null) : null,
  }
}

/** A page of rows that may be long. @throws PosthornError `validation` for a numbered page that ends early */
export async function sizedPage<Row extends object>(
  asked: Asked,
  read: (query: Asked & { readonly maxBytes: number }) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const page = await read({ ...asked, maxBytes: maxRowBytes })
  refuseCut(page, asked, { max: maxRowBytes, bytes: (rows) => rows.reduce((sum, row) => sum + rowBytes(row), 0) })
  return page
}

/** Refuses a numbered page that ended early: the next page begins where this page would have ended with `limit` rows. */
export function refuseCut<Row>(
  { rows, total }: Page<Row>,
  { page, limit }: Asked,
  { max, bytes }: { readonly max: number; readonly bytes: (rows: readonly Row[]) => number },
): void {
  if (page === null || rows.length >= Math.min(limit, (total ?? 0) - (page - 1) * limit)) return
  // Fewer bytes: some rows were removed while the page was read. Engines count bytes as they store them, so that is not exact.
  if (bytes(rows) < max / 2) return
  throw invalidParameters([
    `page_size: the page is larger than ${max / 1024 / 1024} MiB, ask for fewer rows or use limit`,
  ])
}

function isInCursorMode(asked: ListInput): boolean {
  return cursorParameters.some((name) => asked[name] !== undefined)
}

/** Parameters of a call that is no list, checked, with what is not given left out. */
export function checkedParameters(parameters: Parameters, input: object): object {
  const given = Object.entries(input).filter(([name, value]) => value !== undefined && Object.hasOwn(parameters, name))
  const asked: Record<string, unknown> = Object.fromEntries(given)
  const reasons = Object.entries(parameters).flatMap(([name, parameter]) =>
    Object.hasOwn(asked, name) ? parameterProblems(name, parameter, asked[name]) : [],
  )
  if (reasons.length > 0) throw invalidParameters(reasons)
  return asked
}

/** The parameters with what is not given left out. */
export function checkedList(parameters: Parameters, input: ListInput): ListInput {
  const given = Object.entries(input).filter(([name, value]) => value !== undefined && Object.hasOwn(parameters, name))
  const asked = Object.fromEntries(given)
  const unchecked = isInCursorMode(asked) ? 'page_no' : null
  const reasons = Object.entries(parameters).flatMap(([name, parameter]) =>
    Object.hasOwn(asked, name) && name !== unchecked ? parameterProblems(name, parameter, asked[name]) : [],
  )
  if (reasons.length > 0) throw invalidParameters(reasons)
  if (asked['after'] !== undefined && asked['before'] !== undefined) {
    const message = "cannot pass both 'after' and 'before' params at the same time"
    throw new PosthornError('validation', message, { fields: {} })
  }
  return asked
}

/** The filters of a list, as storage is asked for them. */
export function filtersOf(parameters: Parameters, asked: ListInput): Partial<Asked> {
  const given = Object.entries(asked).filter(([name]) => !paging.has(name))
  return Object.fromEntries(
    given.map(([name, value]) => [name, parameters[name]?.kind === 'time' ? range(value as TimeFilter) : value]),
  )
}

function range(filter: TimeFilter): TimeRange {
  return typeof filter === 'number' ? { eq: filter } : filter
}
