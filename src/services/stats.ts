import type { Context } from '../context.ts'
import type { Counts, Grouping, StatisticsQuery, StatisticsRow } from '../contracts/storage/statistics.ts'
import { addCounts, classesOf, noCounts } from '../core/counts.ts'
import { percentile } from '../core/percentile.ts'
import { dayMs, hourMs, minuteMs, startOf } from '../core/periods.ts'
import { statsParameters } from '../schema/page.ts'
import type { InstanceStatsInput, StatsBucket, StatsReport, StatsStep } from '../schema/stats.ts'
import { foldNotes, hoursKeptMs, minutesKeptMs } from './fold-notes.ts'
import { invalidParameters, checkedParameters } from './listing.ts'
import { processesKeptMs } from './seen-process.ts'
import type { UseCases } from './use-cases.ts'

const maxBuckets = 1500
const maxGroups = 100
const stepsMs: Readonly<Record<StatsStep, number>> = { minute: minuteMs, hour: hourMs, day: dayMs }
const defaultBuckets: Readonly<Record<StatsStep, number>> = { minute: 60, hour: 24, day: 30 }

/** Counts of attempts by time. Asking folds the notes that wait, so that an answer counts all that ended before. */
export function statsService(ctx: Context): Pick<UseCases, 'stats' | 'instance'> {
  return {
    stats: async (workspaceId, query = {}) =>
      await report(ctx, workspaceId, checkedParameters(statsParameters.stats, query)),
    instance: {
      stats: async (query = {}) => await report(ctx, null, checkedParameters(statsParameters.instance, query)),
      async processes() {
        await ctx.clock.ready()
        return await ctx.storage.processes.list(ctx.clock.now() - processesKeptMs)
      },
    },
  }
}

async function report(ctx: Context, workspaceId: string | null, asked: InstanceStatsInput): Promise<StatsReport> {
  await ctx.clock.ready()
  const query = queryOf(ctx, workspaceId, asked)
  await foldNotes(ctx)
  const { statistics } = ctx.storage
  const { group_by: by } = asked
  if (by === undefined) return { data: bucketsOf(query, await statistics.sums(query, null)) }
  const grouping: Grouping = { by, names: await statistics.groups(query, by, maxGroups) }
  const rows = await statistics.sums(query, grouping)
  const byGroup = new Map<string, StatisticsRow[]>([...grouping.names, '*'].map((name) => [name, []]))
  for (const row of rows) byGroup.get(row.group ?? '*')?.push(row)
  const groups = [...byGroup].filter(([name, own]) => name !== '*' || own.length > 0)
  return {
    data: bucketsOf(query, rows),
    groups: groups.map(([group, own]) => ({ group, data: bucketsOf(query, own) })),
  }
}

function queryOf(ctx: Context, workspaceId: string | null, asked: InstanceStatsInput): StatisticsQuery {
  const { step = 'hour', endpoint_id, event_type, group_by } = asked
  const stepMs = stepsMs[step]
  const now = ctx.clock.now()
  const to = startOf((asked.to ?? now + 1) + stepMs - 1, stepMs)
  const from = startOf(asked.from ?? to - defaultBuckets[step] * stepMs, stepMs)
  const oldest = oldestOf(ctx, step, now)
  const buckets = (to - from) / stepMs
  const reasons = [
    ...(from >= to ? ['to: must be later than from'] : []),
    ...(from < to && from < oldest ? [`from: ${keptText(ctx, step)}`] : []),
    ...(buckets > maxBuckets ? [`step: ${buckets} buckets from from to to; at most ${maxBuckets} are told`] : []),
    ...(step === 'minute' && (event_type !== undefined || group_by === 'event_type')
      ? ['step: minutes are not counted by event type; ask for hour or day']
      : []),
  ]
  if (reasons.length > 0) throw invalidParameters(reasons)
  return { workspaceId, step, from, to, endpoint_id, event_type }
}

/** The first bucket that is still complete. */
function oldestOf(ctx: Context, step: StatsStep, now: number): number {
  if (step === 'minute') return startOf(now - minutesKeptMs(ctx), minuteMs)
  return step === 'hour' ? startOf(now - hoursKeptMs, dayMs) : -Infinity
}

function keptText(ctx: Context, step: StatsStep): string {
  return step === 'minute'
    ? `minutes are kept for ${minutesKeptMs(ctx) / hourMs} hours; ask for hour or day`
    : `hours are kept for ${hoursKeptMs / dayMs} days; ask for day`
}

/** A bucket for each step of the query, empty buckets included. */
function bucketsOf({ step, from, to }: StatisticsQuery, rows: readonly StatisticsRow[]): StatsBucket[] {
  const sums = new Map<number, Counts>()
  for (const { time, counts } of rows) {
    const sum = sums.get(time) ?? noCounts()
    addCounts(sum, counts)
    sums.set(time, sum)
  }
  const buckets: StatsBucket[] = []
  for (let time = from; time < to; time += stepsMs[step]) buckets.push(bucketOf(time, sums.get(time) ?? noCounts()))
  return buckets
}

function bucketOf(time: number, counts: Counts): StatsBucket {
  const [succeeded = 0, failed = 0, exhausted = 0, canceled = 0] = counts
  const [c2 = 0, c3 = 0, c4 = 0, c5 = 0, none = 0] = classesOf(counts)
  return {
    time,
    succeeded,
    failed,
    exhausted,
    canceled,
    p50: percentile(counts, 0.5),
    p95: percentile(counts, 0.95),
    p99: percentile(counts, 0.99),
    by_class: { '2xx': c2, '3xx': c3, '4xx': c4, '5xx': c5, none },
  }
}
