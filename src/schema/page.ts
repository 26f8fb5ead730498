import * as v from 'valibot'

import { attemptErrorCodes, attemptStatuses, triggerModes } from './attempt.ts'
import { deliveryStatuses } from './delivery.ts'
import { type StatsGroup, statsGroups, statsSteps } from './stats.ts'
import { closedObject, dictionary, flag, integer, oneOf, text, textProblem } from './fields.ts'

/** A list in offset mode. */
export interface OffsetPage<Row> {
  /** How many rows the filters let through, on all pages. */
  readonly total: number
  /** The rows of this page. */
  readonly data: readonly Row[]
}

/**
 * A list in cursor mode, taken when `limit`, `after` or `before` is given. `next` goes into `after` of the next page,
 * `prev` into `before` of the page before; null where no such page exists. Over HTTP both are addresses, path and
 * query.
 */
export interface CursorPage<Row> {
  /** The rows of this page. */
  readonly data: readonly Row[]
  /** What goes into `after` of the next page; null when no page follows. */
  readonly next: string | null
  /** What goes into `before` of the page before; null when no page comes before. */
  readonly prev: string | null
}

/** A time filter of a list: one moment, or bounds that all hold. Unix milliseconds. */
export type TimeFilter = number | TimeBounds

/** Bounds of a time, which all hold. Unix milliseconds. */
export interface TimeBounds {
  /** At this moment. */
  readonly eq?: number
  /** Later than this moment. */
  readonly gt?: number
  /** At this moment or later. */
  readonly gte?: number
  /** Earlier than this moment. */
  readonly lt?: number
  /** At this moment or earlier. */
  readonly lte?: number
}

/** What every list can be asked. */
export interface ListInput {
  /**
   * Number of the page, from 1. Default 1.
   * @deprecated use `after` and `before`, which stay quick however far a page lies
   */
  readonly page_no?: number
  /**
   * Rows of a page, 1 to 1000. Default 20.
   * @deprecated use `limit`
   */
  readonly page_size?: number
  /**
   * Rows of a cursor page, 1 to 1000. Default 20. A page of endpoints, sources, plugins or workspaces ends early, with `next` set,
   * when the JSON of its rows reaches 4 MiB.
   */
  readonly limit?: number
  /** By id, which sorts by time. Default `id.desc`: the newest first. */
  readonly sort?: 'id.desc' | 'id.asc'
  /** Rows behind this cursor: the `next` of a page. */
  readonly after?: string
  /** Rows before this cursor: the `prev` of a page. Not beside `after`. */
  readonly before?: string
  /** When rows were made. */
  readonly created_at?: TimeFilter
}

/** `time`: `x=<ms>` or bounds `x[gt]=<ms>`. `pairs`: `x[<key>]=<text>`. The others are `x=<value>`. */
export type ParameterKind = 'integer' | 'flag' | 'text' | 'time' | 'pairs'

export interface Parameter {
  readonly kind: ParameterKind
  readonly schema: v.GenericSchema
  readonly deprecated?: true
}

/** The parameters of a list, in the order in which they are checked. */
export type Parameters = Readonly<Record<string, Parameter>>

/** With any of these a list is in cursor mode. */
export const cursorParameters = ['limit', 'after', 'before'] as const

export const bounds = ['gt', 'gte', 'lt', 'lte'] as const

const moment = integer()
const range = closedObject({
  eq: v.optional(moment),
  gt: v.optional(moment),
  gte: v.optional(moment),
  lt: v.optional(moment),
  lte: v.optional(moment),
})
const time: Parameter = { kind: 'time', schema: v.lazy((input) => (typeof input === 'object' ? range : moment)) }
const words: Parameter = { kind: 'text', schema: text() }
const instant: Parameter = { kind: 'integer', schema: integer({ min: 0 }) }

const statsOf = (groups: readonly StatsGroup[]) =>
  ({
    from: instant,
    to: instant,
    step: { kind: 'text', schema: oneOf(statsSteps) },
    endpoint_id: words,
    event_type: words,
    group_by: { kind: 'text', schema: oneOf(groups) },
  }) satisfies Parameters

/** What statistics can be asked. */
export const statsParameters = {
  stats: statsOf(['endpoint', 'event_type']),
  instance: statsOf(statsGroups),
} satisfies Record<string, Parameters>

const paging = {
  page_no: { kind: 'integer', schema: integer({ min: 1 }), deprecated: true },
  page_size: { kind: 'integer', schema: integer({ min: 1, max: 1000 }), deprecated: true },
  limit: { kind: 'integer', schema: integer({ min: 1, max: 1000 }) },
  sort: { kind: 'text', schema: oneOf(['id.desc', 'id.asc']) },
  after: words,
  before: words,
} satisfies Parameters

const enabled: Parameter = { kind: 'flag', schema: flag() }
const metadata: Parameter = {
  kind: 'pairs',
  schema: dictionary((key, value) => textProblem(key, {}) ?? textProblem(value, {})),
}

const named = { ...paging, name: words, created_at: time, metadata }
const switched = { ...paging, name: words, enabled, created_at: time, metadata }

/** What each list can be asked. */
export const listParameters = {
  workspaces: named,
  endpoints: switched,
  sources: switched,
  plugins: { ...switched, endpoint_id: words, source_id: words },
  events: { ...paging, created_at: time, ingested_at: time, event_type: words, unique_id: words },
  attempts: {
    ...paging,
    created_at: time,
    attempted_at: time,
    event_id: words,
    endpoint_id: words,
    status: { kind: 'text', schema: oneOf(attemptStatuses) },
    scheduled_at: time,
    event_type: words,
    unique_id: words,
    final: { kind: 'flag', schema: flag() },
    trigger_mode: { kind: 'text', schema: oneOf(triggerModes) },
    error_code: { kind: 'text', schema: oneOf(attemptErrorCodes) },
    response_status: { kind: 'integer', schema: integer({ min: 100, max: 599 }) },
  },
  deliveries: {
    limit: paging.limit,
    after: words,
    before: words,
    created_at: time,
    event_id: words,
    endpoint_id: words,
    event_type: words,
    status: { kind: 'text', schema: oneOf(deliveryStatuses) },
    response_status: { kind: 'integer', schema: integer({ min: 100, max: 599 }) },
  },
} satisfies Record<string, Parameters>

/**
 * What is wrong with a value of a parameter, each reason with the place of the value: `created_at[gt]: value must be an
 * integer`.
 */
export function parameterProblems(name: string, parameter: Parameter, value: unknown): string[] {
  const result = v.safeParse(parameter.schema, value)
  if (result.success) return []
  return result.issues.map(
    ({ path, message }) => `${name}${(path ?? []).map(({ key }) => `[${String(key)}]`).join('')}: ${message}`,
  )
}
