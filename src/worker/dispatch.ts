import type { Context } from '../context.ts'
import type { Claim } from '../contracts/queue.ts'
import { Cancellation } from '../core/cancellation.ts'
import { alarm } from '../services/alarm.ts'
import type { Deliver, Loaded, Sent } from '../services/deliver.ts'
import { type Bell, bell } from './bell.ts'
import { type Ready, limits } from './limits.ts'
import { trust } from './trust.ts'

export const leaseMs = 30_000
/** The most jobs that one claim takes. */
export const mostClaims = 500
const againMs = 1000
const complainEveryMs = 60_000

/** Holds jobs, sends them side by side, and lets go of them. */
export interface Dispatch {
  /**
   * Claims as many due jobs as there are free slots and sets them going. Answers how many; 0 when all slots are taken.
   * `paced`: those of endpoints that do not answer go a few at a time, `jobs` rings for the next, and that they did not
   * answer is written along with what else is written soon.
   */
  claim(options: { paced: boolean }): Promise<number>
  /** Lengthens all holds; a send whose hold was lost is aborted. */
  extend(): Promise<void>
  /** Jobs held: being loaded, sent or settled. */
  held(): number
  /** How many more jobs it would claim now. */
  free(): number
  /** Milliseconds until slots that nobody vacates may be had all the same. */
  untilRoom(): number
  /** Resolves when a job was let go, or after `ms`. */
  letGo(ms: number): Promise<unknown>
  /** Gives unsent claims back from now on, waits for the rest until `timeoutMs`, then aborts it. */
  close(timeoutMs: number): Promise<void>
  /** What ended since the instance was made. */
  readonly ended: { delivered: number; failed: number }
}

interface Hold {
  readonly claim: Claim
  readonly cancellation: Cancellation
  readonly paced: boolean
}

/** `jobs` rings when there may be something to claim that there was not at the last claim. */
export function dispatch(ctx: Context, deliver: Deliver, jobs: Bell): Dispatch {
  const { concurrency, perEndpoint } = ctx.settings.deliver
  const holds = new Map<string, Hold>()
  /** Slots in use, by endpoint. A slot is free again when the answer is there; the hold lasts until that is stored. */
  const busy = new Map<string, number>()
  let used = 0
  /** What the last claim was told of slots in use, by endpoint, and of which this is no longer so. A group may be called `__proto__`. */
  const told = Object.create(null) as Record<string, number>
  const stale = new Set<string>()
  const trusted = trust({ concurrency, perEndpoint }, busy)
  const limited = limits(ctx, complain)
  const ended = { delivered: 0, failed: 0 }
  const released = bell(ctx.clock)
  let claiming = false
  /** How often jobs that a claim brought in excess are being given back. */
  let releasing = 0
  let closing = false
  let complainedAt = -Infinity
  /** When those that are watched have their next turn; each claim may be one. */
  let turnAt = Infinity
  let stopTurn = (): void => {}

  /** The same record for each claim: there is one at a time, and mostly little has changed since the last. */
  function busyNow(paced: boolean): Record<string, number> {
    trusted.choose(ctx.clock.now(), paced, stale)
    for (const group of stale) {
      const slots = limited.decides(group) ? perEndpoint : trusted.slotsOf(group)
      if (slots > 0) told[group] = slots
      else delete told[group]
    }
    stale.clear()
    return told
  }

  function free(): number {
    return closing ? 0 : Math.min(concurrency - used, 2 * concurrency - holds.size)
  }

  async function claim({ paced }: { paced: boolean }): Promise<number> {
    const limit = Math.min(free(), mostClaims)
    if (claiming || limit <= 0) return 0
    claiming = true
    stopTurn()
    turnAt = Infinity
    try {
      const claims = await ctx.queue.claim({
        limit,
        cap: perEndpoint,
        busy: busyNow(paced),
        leaseMs,
        now: ctx.clock.now(),
      })
      const { taken, surplus } = trusted.within(claims, ctx.clock.now())
      for (const { group } of claims) stale.add(group)
      for (const one of taken) occupy(one, paced)
      if (hasRoomAgain(taken)) jobs.ring()
      if (taken.length > 0) void run(taken)
      if (surplus.length > 0) {
        releasing++
        const given = letGoOf(surplus, 'release').finally(() => {
          releasing--
          released.ring()
        })
        if (!paced) await given
        jobs.ring() // others may have the slots that these do not get
      }
      ringForNext()
      return taken.length
    } finally {
      claiming = false
      released.ring()
    }
  }

  function occupy(one: Claim, paced: boolean): void {
    holds.set(one.id, { claim: one, cancellation: new Cancellation(), paced })
    busy.set(one.group, (busy.get(one.group) ?? 0) + 1)
    used++
    limited.claimed(one)
  }

  /** Whether an endpoint whose slots these claims filled up has free ones by now: it may have more jobs. */
  function hasRoomAgain(taken: readonly Claim[]): boolean {
    const filled = new Map<string, number>()
    for (const { group } of taken) filled.set(group, (filled.get(group) ?? told[group] ?? 0) + 1)
    for (const [group, slots] of filled) {
      if (slots >= perEndpoint && (busy.get(group) ?? 0) < perEndpoint && !trusted.watches(group)) return true
    }
    return false
  }

  /** Rings when a claim would now find what it could not take before: all slots or those of the group were in use. */
  function vacate({ group }: Claim): void {
    const wasFull = free() <= 0
    const inUse = busy.get(group) ?? 1
    if (inUse === 1) busy.delete(group)
    else busy.set(group, inUse - 1)
    used--
    stale.add(group)
    trusted.vacated(group)
    if (wasFull || inUse >= perEndpoint) jobs.ring()
    else ringForNext()
  }

  /** So that those which are watched get the slots that fall free, many with one claim. */
  function ringForNext(): boolean {
    const now = ctx.clock.now()
    const ms = trusted.untilNext(now)
    if (ms === null) return false
    if (now + ms < turnAt) {
      stopTurn()
      turnAt = now + ms
      stopTurn = alarm(ctx.clock, ms, () => {
        turnAt = Infinity
        jobs.ring()
      })
    }
    return true
  }

  /** The hold of this very claim: one whose end took long may have been given to us anew. */
  function holdOf({ id, token }: Claim): Hold | undefined {
    const hold = holds.get(id)
    return hold?.claim.token === token ? hold : undefined
  }

  function letGo(one: Claim): void {
    const wasFull = free() <= 0
    if (holdOf(one) !== undefined) holds.delete(one.id)
    if (wasFull) jobs.ring()
    released.ring()
  }

  async function run(claims: readonly Claim[]): Promise<void> {
    const { going, closed, idle } = await sorted(claims)
    const hasWithheld = limited.decided(claims)
    for (const { group } of claims) stale.add(group)
    // To those that are watched new connections are made: who has one open does not wait for that.
    const watched = going.filter(({ one }) => trusted.watches(one.group))
    const others = watched.length === 0 ? going : going.filter(({ one }) => !trusted.watches(one.group))
    start(others, idle)
    if (watched.length > 0 && others.length > 0) await ctx.clock.sleep(0)
    start(watched, idle)
    await Promise.all([finish(closed, 'complete'), finish(idle, 'release')])
    if (hasWithheld) jobs.ring()
  }

  /** Which claims are to be sent, are of attempts that ended, and are given back. */
  async function sorted(
    claims: readonly Claim[],
  ): Promise<{ going: readonly Ready[]; closed: Claim[]; idle: Claim[] }> {
    try {
      const loaded = await deliver.load(claims.map(({ id }) => id))
      const found = new Map(loaded.map((each) => [each.delivery.attempt.id, each]))
      const open: Ready[] = []
      const closed: Claim[] = []
      for (const one of claims) {
        const its = found.get(one.id)
        if (its === undefined) closed.push(one)
        else open.push({ one, loaded: its })
      }
      const { granted, refused } = closing
        ? { granted: [], refused: open.map(({ one }) => one) }
        : await limited.take(open)
      return { going: granted, closed, idle: [...refused] }
    } catch (cause) {
      ctx.log.error('claimed attempts could not be loaded', { cause })
      return { going: [], closed: [], idle: [...claims] }
    }
  }

  /** Sends those that are still held; the others go to `lost`. */
  function start(going: readonly Ready[], lost: Claim[]): void {
    for (const { one, loaded } of going) {
      const hold = holdOf(one)
      if (hold === undefined) lost.push(one)
      else void send(one, loaded, hold)
    }
  }

  async function send(one: Claim, loaded: Loaded, hold: Hold): Promise<void> {
    let sent: Sent | null = null
    try {
      sent = await deliver.attempt(loaded, hold.cancellation)
    } catch (cause) {
      ctx.log.error(`attempt ${one.id} broke off`, { cause })
    }
    if (sent !== null && trusted.judge(one.group, sent.slow, ctx.clock.now())) {
      if (!ringForNext()) jobs.ring()
    }
    vacate(one)
    if (sent !== null) await settleUntilStored(loaded, sent, hold)
    // Without an answer nothing is known of what the receiver saw: the hold is left to lapse.
    letGo(one)
  }

  async function settleUntilStored(loaded: Loaded, sent: Sent, hold: Hold): Promise<void> {
    const { claim, cancellation, paced } = hold
    for (;;) {
      try {
        const { status } = await deliver.settle(loaded, sent, claim, {
          retries: true,
          lingers: paced && sent.slow && !closing,
        })
        if (status === 'SUCCESSFUL') ended.delivered++
        else if (status === 'FAILED') ended.failed++
        return
      } catch (cause) {
        complain('outcomes of attempts could not be stored; trying again', cause)
        if (cancellation.canceled) return
        await ctx.clock.sleep(againMs, cancellation.signal)
      }
    }
  }

  /** Tries again while the engine is away, so that others need not wait for these holds to lapse. */
  async function finish(claims: readonly Claim[], how: 'complete' | 'release'): Promise<void> {
    const lapsesAt = ctx.clock.now() + leaseMs
    while (!(await letGoOf(claims, how)) && !closing && ctx.clock.now() < lapsesAt) await ctx.clock.sleep(againMs)
    for (const one of claims) {
      letGo(one)
      vacate(one)
    }
  }

  /** A failure is no more than a delay: what is not let go lapses. */
  async function letGoOf(claims: readonly Claim[], how: 'complete' | 'release'): Promise<boolean> {
    if (claims.length === 0) return true
    try {
      await ctx.queue[how](claims)
      return true
    } catch (cause) {
      complain('held jobs could not be let go', cause)
      return false
    }
  }

  function complain(message: string, cause: unknown): void {
    const now = ctx.clock.now()
    if (now - complainedAt < complainEveryMs) return
    complainedAt = now
    ctx.log.error(message, { cause })
  }

  return {
    claim,
    ended,
    held: () => holds.size,
    free,
    untilRoom: () => trusted.untilSilent(ctx.clock.now()),
    letGo: (ms) => released.wait(ms),
    async extend() {
      const claims = [...holds.values()].map((hold) => hold.claim)
      if (claims.length === 0) return
      const lost = new Set(await ctx.queue.extend(claims, ctx.clock.now() + leaseMs))
      for (const claim of claims) if (lost.has(claim.id)) holdOf(claim)?.cancellation.cancel()
    },
    async close(timeoutMs) {
      closing = true
      void deliver.idle() // what lingers is written at once
      const over = new AbortController()
      const late = ctx.clock.sleep(timeoutMs, over.signal).then(() => {
        if (!over.signal.aborted) for (const hold of holds.values()) hold.cancellation.cancel()
      })
      // What a claim under way brings is given back, since it is closing.
      while (holds.size > 0 || claiming || releasing > 0) await released.wait(1000)
      over.abort()
      await late
      closing = false
    },
  }
}
