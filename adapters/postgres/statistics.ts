import type { Counts, Statistics, StatisticsQuery, StatisticsRow } from '../../src/contracts/storage/statistics.ts'
import type { StatsGroup, StatsStep } from '../../src/schema/stats.ts'
import { countNames } from '../../src/core/counts.ts'
import { dayMs } from '../../src/core/periods.ts'
import type { Row } from '../sql/values.ts'
import { number, numberOrNull } from '../sql/values.ts'
import { type Database } from './database.ts'
import { foldNotes } from './fold.ts'
import { all, raw, type Sql, sql } from '../sql/sql.ts'
import { tidySums } from './tidy-sums.ts'

const summed = raw(countNames.map((name) => `sum(s.${name}) as ${name}`).join(', '))

export function postgresStatistics(db: Database): Statistics {
  const { ask, run, t } = db

  return {
    fold: () => foldNotes(db),

    async sums(query, grouping) {
      const group =
        grouping === null
          ? raw('null::text')
          : sql`case when ${groupOf[grouping.by]} = any(${grouping.names}::text[]) then ${groupOf[grouping.by]} else '*' end`
      const rows = await ask(sql`
        select ${timeOf(query.step)} as bucket, ${group} as name, ${summed}
        from ${sumsOf(db, query)} group by 1, 2`)
      return rows.map(rowOf)
    },

    async groups(query, by, limit) {
      const rows = await ask(sql`
        select ${groupOf[by]} as name from ${sumsOf(db, query)}
        group by 1 order by sum(s.succeeded + s.failed + s.canceled) desc, 1 limit ${limit}::int`)
      return rows.map((row) => row['name'] as string)
    },

    async streak(workspaceId, endpointId) {
      const [row] = await run(sql`
        select s.* from ${t.streaks} s join ${t.workspaces} w on w.key = s.workspace
        where w.id = ${workspaceId}::text and s.endpoint_id = ${endpointId}::text`)
      if (row === undefined) return null
      return {
        succeeded_at: numberOrNull(row['succeeded_at']),
        failed_at: numberOrNull(row['failed_at']),
        attempt_id: row['attempt_id'] as string | null,
        failures: number(row['failures']),
        exhausted: number(row['exhausted']),
      }
    },

    tidy: (options) => tidySums(db, options),
  }
}

const groupOf: Readonly<Record<StatsGroup, Sql>> = {
  workspace: raw('w.id'),
  endpoint: raw('s.endpoint_id'),
  event_type: raw('s.event_type'),
}

/** Days are made of hours that were not made a day yet, too. */
function timeOf(step: StatsStep): Sql {
  return step === 'day' ? raw(`s.time - s.time % ${dayMs}`) : raw('s.time')
}

/** The sums that a query asks for as `s`, and their workspaces as `w`. */
function sumsOf({ t }: Database, { workspaceId, step, from, to, endpoint_id, event_type }: StatisticsQuery): Sql {
  const conditions = all([
    sql`s.workspace = w.key and s.time >= ${from}::bigint and s.time < ${to}::bigint`,
    ...(endpoint_id === undefined ? [] : [sql`s.endpoint_id = ${endpoint_id}::text`]),
    ...(event_type === undefined ? [] : [sql`s.event_type = ${event_type}::text`]),
  ])
  const of = (table: Sql): Sql => sql`select s.* from ${table} s where ${conditions}`
  const sums =
    step === 'minute'
      ? of(t.minute_sums)
      : step === 'hour'
        ? of(t.hour_sums)
        : sql`${of(t.hour_sums)} union all ${of(t.day_sums)}`
  const workspace = workspaceId === null ? raw('true') : sql`w.id = ${workspaceId}::text`
  return sql`${t.workspaces} w cross join lateral (${sums}) s where ${workspace}`
}

function rowOf(row: Row): StatisticsRow {
  const counts: Counts = countNames.map((name) => number(row[name]))
  return { time: number(row['bucket']), group: row['name'] as string | null, counts }
}
