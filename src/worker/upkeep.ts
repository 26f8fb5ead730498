import type { Context } from '../context.ts'
import { dayMs, hourMs, keysKeptMs, minuteMs } from '../core/periods.ts'
import { lazy } from '../runtime/lazy.ts'
import { inSteps, type Until } from '../runtime/steps.ts'
import { foldGently, tidySums } from '../services/fold-notes.ts'
import type { Operational } from '../services/operational/on-demand.ts'
import type { Company } from './company.ts'

const batchSize = 1000

/** A part of the minute's work. Of several processes the first does it. */
export interface Task {
  /** What to log when the task fails. */
  readonly complaint: string
  /** Whether it purges, which may take long. */
  readonly purges?: true
  /** Goes step by step, and ends early once `until` says so. */
  run(until?: Until): Promise<void>
}

/** The minute's work. In the loops each task runs on its own, so that a long task delays no other task. */
export interface Upkeep {
  readonly tasks: readonly Task[]
  /** Does all tasks but purges, in order. A task that fails is logged, and the next one is done. */
  minute(): Promise<void>
  /** Purges what is too old, in the same way. */
  purge(until?: Until): Promise<void>
  /**
   * Whether retention, a breaker or operational events are configured, or retention of a workspace, or a signing secret ends: then
   * each minute has work without deliveries.
   */
  readonly isNeeded: boolean
}

export function upkeep(ctx: Context, company: Company, operational?: Operational): Upkeep {
  const { retention, breaker, deliver, operations } = ctx.settings
  const { disableAfterDays } = deliver
  const purging: Task = { complaint: 'old rows could not be purged', purges: true, run: (until) => purge(ctx, until) }
  const breaking: Task = { complaint: 'failing endpoints could not be looked for', run: () => breakCircuits(ctx) }
  // A claim notices a clock that was set. This task is for a clock that drifts.
  const asking: Task = {
    complaint: 'the storage did not tell its time, or did not take that this process works',
    run: () => company.see(),
  }
  const expiring: Task = { complaint: 'ended signing secrets could not be removed', run: () => removeEnded(ctx) }
  // One task for both: what is published follows from what was counted.
  const counting: Task = {
    complaint: 'attempts could not be counted, or operational events could not be published',
    async run(until) {
      await countAttempts(ctx, until)
      await operational?.minute()
    },
  }
  const failing: Task = {
    complaint: 'endpoints that fail for days could not be looked for',
    run: () => disableForDays(ctx),
  }
  const limiting: Task = {
    complaint: 'old rows of workspaces with a limit could not be purged',
    purges: true,
    run: (until) => purgeLimited(ctx, until),
  }
  const tasks = [
    asking,
    counting,
    ...(breaker === undefined ? [] : [breaking]),
    ...(disableAfterDays === undefined ? [] : [failing]),
    expiring,
    purging,
    limiting,
  ]

  return {
    tasks,
    get isNeeded() {
      const { eventsDays, attemptsDays } = retention
      if ([breaker, disableAfterDays, operations, eventsDays, attemptsDays].some((set) => set !== undefined))
        return true
      return [...ctx.configuration.all()].some(
        ({ nextExpiry, workspace }) => nextExpiry < Infinity || workspace.limits.retention_days !== null,
      )
    },
    minute: () => runAll(tasks.filter(({ purges }) => purges !== true)),
    purge: (until) =>
      runAll(
        tasks.filter(({ purges }) => purges === true),
        until,
      ),
  }

  async function runAll(some: readonly Task[], until?: Until): Promise<void> {
    for (const { complaint, run } of some) {
      await run(until).catch((cause: unknown) => ctx.repeating.error(complaint, { cause }))
    }
  }
}

// Few instances have a breaker, few workspaces a retention of their own, and few secrets ever end.
const circuitBreaker = lazy(() => import('../services/circuit-breaker.ts'))
const failingEndpoints = lazy(() => import('../services/failing-endpoints.ts'))
const workspaceRetention = lazy(() => import('../services/workspace-retention.ts'))
const expiredSecrets = lazy(() => import('../services/secrets/expired-secrets.ts'))

/** Each minute what settlements noted, each hour what is too old. */
async function countAttempts(ctx: Context, until: Until | undefined): Promise<void> {
  await ctx.clock.ready()
  const now = ctx.clock.now()
  if (!(await ctx.storage.turn('statistics', minuteMs, now))) return
  await foldGently(ctx.storage.statistics, ctx.clock, until)
  if (await ctx.storage.turn('sums', hourMs, now)) await tidySums(ctx, now, until)
}

async function breakCircuits(ctx: Context): Promise<void> {
  const { breaker } = ctx.settings
  await ctx.clock.ready()
  const now = ctx.clock.now()
  if (breaker === undefined || !(await ctx.storage.turn('breaker', minuteMs, now))) return
  const { tripCircuitBreakers } = await circuitBreaker()
  await tripCircuitBreakers(ctx, breaker, now)
}

/** Turns off the endpoints that failed for days, of all workspaces. Looks once an hour. */
async function disableForDays(ctx: Context): Promise<void> {
  const { disableAfterDays } = ctx.settings.deliver
  await ctx.clock.ready()
  const now = ctx.clock.now()
  if (disableAfterDays === undefined || !(await ctx.storage.turn('failing-endpoints', hourMs, now))) return
  const { disableFailing } = await failingEndpoints()
  await disableFailing(ctx, { days: disableAfterDays, now, periodMs: hourMs })
}

/** Purges what workspaces with a retention of their own may no longer have, once an hour. */
async function purgeLimited(ctx: Context, until: Until | undefined): Promise<void> {
  await ctx.clock.ready()
  const now = ctx.clock.now()
  if (!(await ctx.storage.turn('workspace-retention', hourMs, now))) return
  const { purgeWorkspaces } = await workspaceRetention()
  await purgeWorkspaces(ctx, now, until)
}

/**
 * Each minute it looks at the cached configurations, each hour at all workspaces: no process may have cached a
 * workspace without deliveries. Until then the secret is only stored: nothing signs with it.
 */
async function removeEnded(ctx: Context): Promise<void> {
  await ctx.clock.ready()
  const now = ctx.clock.now()
  const ended = [...ctx.configuration.all()].filter(({ nextExpiry }) => nextExpiry <= now)
  const isHour = await ctx.storage.turn('expired-secrets', hourMs, now)
  if (!isHour && ended.length === 0) return
  const { removeExpired } = await expiredSecrets()
  await removeExpired(ctx, isHour ? undefined : ended.map(({ workspace }) => workspace.id))
}

/** Purges in small steps, so that other work goes on in between. */
async function purge(ctx: Context, until: Until | undefined): Promise<void> {
  const { eventsDays, attemptsDays } = ctx.settings.retention
  await ctx.clock.ready()
  const now = ctx.clock.now()
  if (!(await ctx.storage.turn('purge', minuteMs, now))) return
  const before = (days: number | undefined) => (days === undefined ? null : now - days * dayMs)
  const options = { eventsBefore: before(eventsDays), attemptsBefore: before(attemptsDays), limit: batchSize }
  await inSteps(ctx.clock, until, () => ctx.storage.purge(options))
  await inSteps(ctx.clock, until, () => ctx.storage.keyedRequests.forget(now - keysKeptMs, batchSize))
}
