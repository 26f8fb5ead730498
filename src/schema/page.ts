import * as v from 'valibot'

import { attemptErrorCodes, attemptStatuses, triggerModes } from './attempt.ts'
import { deliveryStatuses } from './delivery.ts'
import { type StatsGroup, statsGroups, statsSteps } from './stats.ts'
import { closedObject, dictionary, flag, integer, oneOf, text, textProblem } from './fields.ts'

/** A list in offset mode. */
export interface OffsetPage<Row> {
  readonly total: number
  readonly data: readonly Row[]
}

/**
 * A list in cursor mode, taken when `limit`, `after` or `before` is given. `next` goes into `after` of the next page, `prev`
 * into `before` of the page before; null where there is no such page. Over HTTP both are addresses, path and query.
 */
export interface CursorPage<Row> {
  readonly data: readonly Row[]
  readonly next: string | null
  readonly prev: string | null
}

/** A time filter of a list: one moment, or bounds that all hold. Unix milliseconds. */
export type TimeFilter =
  | number
  | {
      readonly eq?: number
      readonly gt?: number
      readonly gte?: number
      readonly lt?: number
      readonly lte?: number
    }

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
  },
} satisfies Record<string, Parameters>

/** What is wrong with a value of a parameter, each reason with its place: `created_at[gt]: value must be an integer`. */
export function parameterProblems(name: string, parameter: Parameter, value: unknown): string[] {
  const result = v.safeParse(parameter.schema, value)
  if (result.success) return []
  return result.issues.map(
    ({ path, message }) => `${name}${(path ?? []).map(({ key }) => `[${String(key)}]`).join('')}: ${message}`,
  )
}
