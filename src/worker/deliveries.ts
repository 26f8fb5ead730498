import type { Context } from '../context.ts'
import type { Conclusion, Deliver, Sent } from '../services/deliver.ts'
import { repeatedErrors } from '../services/repeated-errors.ts'
import { type Hold, type Holds, leaseMs } from './holds.ts'
import { type Ready, rateLimits } from './rate-limits.ts'
import type { Slots } from './slots.ts'
import type { Wakeup } from './wakeup.ts'

const againMs = 1000

/** The way of a delivery: claim, load, limit, send, settle, let go. */
export interface Deliveries {
  /** How many jobs a claim may take now. */
  mayClaim(): number
  /** Claims due jobs and sets their deliveries going. Answers how many. `paced`: slow endpoints are tried a few at a time. */
  claim(options: { paced: boolean }): Promise<number>
  /** Claims and sends nothing more until `open`; resolves when nothing is held. */
  close(): Promise<void>
  open(): void
  /** What ended since the instance was made. */
  readonly ended: { delivered: number; failed: number }
}

interface Needs {
  readonly slots: Slots
  readonly holds: Holds
  /** Wakes who claims, when there may be something to claim that there was not at the last claim. */
  readonly wakeup: Wakeup
}

export function deliveries(ctx: Context, deliver: Deliver, { slots, holds, wakeup }: Needs): Deliveries {
  const complain = repeatedErrors(ctx.clock, ctx.log)
  const limits = rateLimits(ctx, complain)
  const ended = { delivered: 0, failed: 0 }
  let isClaiming = false
  let isClosed = false

  const mayClaim = (): number => (isClosed || isClaiming ? 0 : slots.mayClaim())

  async function claim({ paced }: { paced: boolean }): Promise<number> {
    if (mayClaim() === 0) return 0
    isClaiming = true
    try {
      await ctx.clock.ready()
      wakeup.forget()
      const asked = slots.request({ paced, leaveOut: limits.waiting() })
      const claims = await ctx.queue.claim({ ...asked, leaseMs, now: ctx.clock.now() })
      const { taken, surplus } = slots.taken(claims, asked)
      if (taken.length > 0) void deliverAll(holds.add(taken), paced)
      const given = holds.letGo(surplus, 'release', { insists: false })
      if (!paced) await given
      return taken.length
    } finally {
      isClaiming = false
    }
  }

  async function deliverAll(claimed: readonly Hold[], paced: boolean): Promise<void> {
    limits.claimed(claimed)
    const { granted, refused, closed } = await load(claimed)
    const someWereLeftOut = limits.decided(claimed)
    // A request to a slow or new endpoint makes a new connection. Who has an open connection does not wait for that.
    const watched = granted.filter(({ hold }) => slots.isWatched(hold.claim.group))
    const others = watched.length === 0 ? granted : granted.filter(({ hold }) => !slots.isWatched(hold.claim.group))
    for (const each of others) void deliverOne(each, paced)
    if (watched.length > 0 && others.length > 0) await ctx.clock.sleep(0)
    for (const each of watched) void deliverOne(each, paced)
    await Promise.all([letGo(closed, 'complete'), letGo(refused, 'release')])
    if (someWereLeftOut) wakeup.wake('limited')
  }

  /** Loads what was claimed, and asks the limiter. `closed`: the attempt ended since its job was added. */
  async function load(claimed: readonly Hold[]): Promise<Loading> {
    try {
      const loaded = await deliver.load(claimed.map(({ claim }) => claim.id))
      const byId = new Map(loaded.map((each) => [each.delivery.attempt.id, each]))
      const closed = claimed.filter(({ claim }) => !byId.has(claim.id))
      const open = claimed.flatMap((hold): Ready[] => {
        const found = byId.get(hold.claim.id)
        return found === undefined ? [] : [{ hold, loaded: found }]
      })
      if (isClosed) return { granted: [], refused: open.map(({ hold }) => hold), closed }
      return { ...(await limits.take(open)), closed }
    } catch (cause) {
      complain('claimed attempts could not be loaded', cause)
      return { granted: [], refused: claimed, closed: [] }
    }
  }

  async function deliverOne({ hold, loaded }: Ready, paced: boolean): Promise<void> {
    const { claim, cancellation } = hold
    let sent: Sent | null = null
    try {
      if (holds.has(hold)) sent = await deliver.attempt(loaded, cancellation)
    } catch (cause) {
      ctx.log.error(`attempt ${claim.id} broke off`, { cause })
    }
    slots.freed(claim, sent?.slow ?? null)
    // Without an answer nothing is known of what the receiver saw: the hold is left to lapse.
    if (sent !== null) await settle(hold, deliver.conclude(loaded, sent, claim), paced && sent.slow)
    end(hold)
  }

  /** Stores an outcome, however long the storage is away. If it `lingers`, it is stored together with other outcomes. */
  async function settle({ cancellation }: Hold, conclusion: Conclusion, lingers: boolean): Promise<void> {
    for (;;) {
      try {
        const status = await deliver.settle(conclusion, { lingers: lingers && !isClosed })
        if (status === 'SUCCESSFUL') ended.delivered++
        if (status === 'FAILED') ended.failed++
        return
      } catch (cause) {
        complain('outcomes of attempts could not be stored; trying again', cause)
        if (cancellation.canceled) return
        await ctx.clock.sleep(againMs, cancellation.signal)
      }
    }
  }

  async function letGo(those: readonly Hold[], how: 'complete' | 'release'): Promise<void> {
    const claims = those.map(({ claim }) => claim)
    await holds.letGo(claims, how, { insists: true })
    for (const hold of those) {
      slots.freed(hold.claim, null)
      end(hold)
    }
  }

  function end(hold: Hold): void {
    slots.letGo()
    holds.remove(hold)
  }

  async function close(): Promise<void> {
    isClosed = true
    holds.close()
    void deliver.idle() // outcomes that linger are stored at once
    while (holds.size > 0 || isClaiming) await holds.untilFewer(againMs)
  }

  function open(): void {
    isClosed = false
    holds.open()
  }

  return { mayClaim, claim, close, open, ended }
}

interface Loading {
  readonly granted: readonly Ready[]
  readonly refused: readonly Hold[]
  readonly closed: readonly Hold[]
}
