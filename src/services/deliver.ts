import type { Context } from '../context.ts'
import type { Claim } from '../contracts/queue.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { otherTypes } from '../core/counted-types.ts'
import { type Ended, settle } from '../core/settle.ts'
import type { FinalStatus } from '../schema/attempt.ts'
import { isOperational } from './is-operational.ts'
import type { Loaded, Sent } from './loaded-attempt.ts'
import { AttemptSender, type IsLeft } from './send-attempt.ts'
import { AttemptSettler } from './settle-attempt.ts'

export interface Deliver {
  /**
   * Loads the attempts of jobs, but for those that the claim answered. Attempts that are closed, and those of deleted
   * workspaces, are left out.
   */
  load(jobs: readonly Pick<Claim, 'id' | 'delivery'>[]): Promise<readonly Loaded[]>
  /**
   * Sends a request, or finds why not. `busy`: we had no place for the request, or lack a plugin and leave the attempt to
   * others (`isLeft`). That is no try: nothing was sent, and the attempt stays as it is. Null when it was canceled: then nothing
   * is known of what the receiver saw.
   */
  attempt(loaded: Loaded, until: Cancellation, isLeft?: IsLeft): Promise<Sent | 'busy' | null>
  /** What follows from a try, to be stored. */
  conclude(loaded: Loaded, sent: Sent, claim: Claim | null): Conclusion
  /**
   * Stores a conclusion in a single step. `lingers`: waits up to 100 ms or until 16 wait, so that several are stored
   * together; default false. A failed call may be repeated: the attempt is closed once, and events are emitted once. Answers the status of the
   * attempt; null when another settlement has closed the attempt.
   */
  settle(conclusion: Conclusion, options?: { lingers: boolean }): Promise<FinalStatus | null>
  /** Writes the settlements that linger, and waits for all. */
  idle(): Promise<void>
  /** Rejects with `unavailable` what waits for the storage. */
  giveUp(): void
  /** Settlements that wait to be written. */
  readonly waiting: () => number
}

export type Conclusion = Ended

/** Makes attempts: load, send, settle. The caller decides when, and holds the job meanwhile. */
export function deliverService(ctx: Context): Deliver {
  const sender = new AttemptSender(ctx)
  const settler = new AttemptSettler(ctx)
  return {
    load: (jobs) => load(ctx, jobs),
    attempt: (loaded, until, isLeft) => sender.attempt(loaded, until, isLeft),
    conclude: (loaded, sent, claim) => conclude(ctx, loaded, sent, claim),
    settle: (conclusion, options = atOnce) => settler.settle(conclusion, options),
    idle: () => settler.idle(),
    giveUp: () => settler.giveUp(),
    waiting: () => settler.waiting(),
  }
}

const atOnce = { lingers: false }

async function load(ctx: Context, jobs: Parameters<Deliver['load']>[0]): Promise<readonly Loaded[]> {
  const unknown = jobs.flatMap(({ id, delivery }) => (delivery === undefined ? id : []))
  const rest = unknown.length === 0 ? [] : await ctx.storage.attempts.load(unknown)
  const loaded: Loaded[] = []
  for (const delivery of [...jobs.flatMap((job) => job.delivery ?? []), ...rest]) {
    const configuration = await ctx.configuration.atLeast(delivery.workspaceId, delivery.revision)
    if (configuration === null) continue // the workspace was deleted
    const endpoint = configuration.endpoints.get(delivery.attempt.endpoint_id) ?? null
    loaded.push({ delivery, configuration, endpoint })
  }
  return loaded
}

function conclude(ctx: Context, loaded: Loaded, sent: Sent, claim: Claim | null): Conclusion {
  const { workspaceId, attempt, event } = loaded.delivery
  const { endpoint } = loaded
  const told = ctx.settings.operations !== undefined && !isOperational(ctx, loaded.configuration.workspace)
  // A test delivery counts in no statistics, and no try follows it.
  const isTest = attempt.trigger_mode === 'TEST'
  const eventType = event?.event_type ?? ''
  const counted = isTest ? null : { event_type: event?.event_type ?? otherTypes, told }
  const { startedAt } = sent
  const random = (): number => randomShare(ctx)
  const tried = { workspaceId, attempt, eventType, claim, endpoint, startedAt, retries: !isTest, counted, random }
  return settle(tried, sent.outcome, ctx.clock.now(), ctx.newId)
}

/** From 0 to below 1. */
function randomShare({ platform }: Context): number {
  return platform.randomBytes(4).reduce((sum, byte) => (sum + byte) / 256, 0)
}
