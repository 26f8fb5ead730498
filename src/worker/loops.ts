import type { Context } from '../context.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { minuteMs } from '../core/periods.ts'
import type { Deliveries } from './deliveries.ts'
import { type Holds, lengthenEveryMs } from './holds.ts'
import type { InboxConsumer } from './inbox.ts'
import type { LetGo } from './let-go.ts'
import type { Lines } from './lines.ts'
import type { Outcomes } from './outcomes.ts'
import { dueTimes, IdleWait } from './polling.ts'
import type { Rests } from './resting-endpoints.ts'
import { fallenDueMs, type Slots } from './slots.ts'
import type { Requeue } from './requeue.ts'
import type { Upkeep } from './upkeep.ts'
import type { WaitingRoom } from './waiting-room.ts'
import type { Wakeup } from './wakeup.ts'

const requeueEveryMs = 1000
const quickRequeueMs = 50
const brokenWaitMs = 1000
const brokenWaitForNewsMs = 100

/** What the loops work on. */
export interface Parts {
  readonly deliveries: Deliveries
  readonly holds: Holds
  readonly letGo: LetGo
  readonly slots: Slots
  readonly lines: Lines
  readonly rests: Rests
  readonly room: WaitingRoom
  readonly outcomes: Outcomes
  readonly requeue: Requeue
  readonly inbox: InboxConsumer
  readonly upkeep: Upkeep
}

interface Run {
  readonly ctx: Context
  readonly parts: Parts
  /** Each wakes a loop: that of deliveries, and that of the inbox. */
  readonly wakeups: { readonly jobs: Wakeup; readonly messages: Wakeup }
  /** Of this loop alone: aborts when it is to end. */
  readonly signal: AbortSignal
}

/** Runs all loops until they are canceled. Resolves when all have ended. */
export function runLoops(work: Omit<Run, 'signal'>, until: Cancellation): Promise<unknown> {
  const { holds, upkeep } = work.parts
  const run = (): Run => ({ ...work, signal: until.child().signal })
  return Promise.all([
    deliveryLoop(run()),
    inboxLoop(run()),
    requeueLoop(run()),
    every(run(), lengthenEveryMs, 'holds could not be lengthened', () => holds.lengthen()),
    ...upkeep.tasks.map((task) => every(run(), minuteMs, task.complaint, (signal) => task.run(signal))),
  ])
}

/** Claims while there is something to claim. Else waits: for a wake-up, for the next due time, at most for `idle.maxMs`. */
async function deliveryLoop(run: Run): Promise<void> {
  const { ctx, parts, wakeups, signal } = run
  const idle = new IdleWait(ctx.queue.onAdded !== undefined)
  const untilDue = dueTimes(ctx, parts.holds)
  await repeat(
    run,
    'jobs could not be claimed',
    async () => {
      const max = parts.deliveries.mayClaim()
      const claimed = max > 0 ? await parts.deliveries.claim({ paced: true }) : 0
      if (claimed > 0) idle.reset()
      if (max > 0 && claimed >= max) return // more jobs may be due
      // Where jobs wait for slots the next claim is near, and finds what falls due meanwhile.
      const isNear = (claimed > 0 || parts.room.isUsed) && parts.slots.areMostlyInUse()
      const nearMs = parts.room.isUsed ? fallenDueMs : Infinity
      const asks = max > 0 && !wakeups.jobs.isRemembered()
      const ms = asks ? Math.min(idle.ms, isNear ? nearMs : await untilDue(), parts.slots.untilRoom()) : idle.maxMs
      const cause = await wakeups.jobs.wait(ms, signal)
      idle.waited(cause)
      // At least until the next turn of the event loop: answers that come together free their slots for a single claim. New
      // jobs do not wait for that.
      if (cause !== null && cause !== 'added') await wakeups.jobs.wait(parts.slots.gapMs(), signal, 'added')
    },
    async () => {
      // News of jobs comes from an engine that answers again.
      await ctx.clock.sleep(brokenWaitForNewsMs, signal)
      await wakeups.jobs.wait(brokenWaitMs - brokenWaitForNewsMs, signal, 'added')
    },
  )
}

async function inboxLoop(run: Run): Promise<void> {
  const { ctx, parts, wakeups, signal } = run
  const idle = new IdleWait(ctx.inbox.onPut !== undefined)
  const freed = (): void => wakeups.messages.wake('freed')
  await repeat(run, 'the inbox could not be read', async () => {
    if ((await parts.inbox.take({ signal, freed })) > 0) {
      idle.reset()
      return
    }
    idle.waited(await wakeups.messages.wait(idle.ms, signal))
  })
}

/**
 * Where the storage is the queue too, jobs cannot get lost: all pages once at the start repair what an operator changed.
 * Elsewhere jobs got lost while an engine was away: after that the rest of the pages and then all of them follow quickly.
 */
async function requeueLoop({ ctx, parts, signal }: Run): Promise<void> {
  let quickWalks = 0
  for (let more = true; !signal.aborted && (more || !ctx.ownQueue);) {
    let failed = false
    more = await parts.requeue.page().catch((cause: unknown) => {
      ctx.repeating.error('overdue attempts could not be swept', { cause })
      failed = true
      return true
    })
    if (failed) quickWalks = 2
    else if (!more) quickWalks = Math.max(quickWalks - 1, 0)
    const isQuick = quickWalks > 0 && !failed && more
    if (more || !ctx.ownQueue) await ctx.clock.sleep(isQuick ? quickRequeueMs : requeueEveryMs, signal)
  }
}

/** Works, waits for `ms`, and so on. */
async function every(
  { ctx, signal }: Run,
  ms: number,
  complaint: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await work(signal).catch((cause: unknown) => ctx.repeating.error(complaint, { cause }))
    await ctx.clock.sleep(ms, signal)
  }
}

/** Works again at once, and after a failure when `recover` has ended: by default a second later. */
async function repeat(
  { ctx, signal }: Run,
  complaint: string,
  work: () => Promise<void>,
  recover = () => ctx.clock.sleep(brokenWaitMs, signal),
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
    } catch (cause) {
      ctx.repeating.error(complaint, { cause })
      await recover()
    }
  }
}
