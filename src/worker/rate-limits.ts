import type { Context } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import type { Loaded } from '../services/deliver.ts'
import type { Hold } from './holds.ts'

const mostUnlimited = 10_000

/** A job in hand, and what it is for. */
export interface Ready {
  readonly hold: Hold
  readonly loaded: Loaded
}

/**
 * The rate limits of endpoints. While claims of an endpoint wait for the limiter no others of it are claimed, so that
 * order holds; an endpoint that is known to have no limit need not wait.
 */
export interface RateLimits {
  /** Endpoints of which nothing may be claimed, since claims of them wait for the limiter. */
  waiting(): Iterable<string>
  /** Claims wait from here until `decided`. */
  claimed(holds: readonly Hold[]): void
  /** Asks the limiter once for all claims of each limited endpoint. The first granted go; the endpoint is paused for the rest. */
  take(ready: readonly Ready[]): Promise<{ readonly granted: readonly Ready[]; readonly refused: readonly Hold[] }>
  /** The limiter has answered for these claims. Answers whether endpoints may be claimed that a claim left out meanwhile. */
  decided(holds: readonly Hold[]): boolean
}

/** @param complain learns that the limiter does not answer: then deliveries pass unlimited. */
export function rateLimits(ctx: Context, complain: (message: string, cause: unknown) => void): RateLimits {
  /** Endpoints that had no limit when they were looked at last. */
  const unlimited = new Set<string>()
  /** Claims that wait for the limiter, by endpoint. */
  const deciding = new Map<string, number>()
  let someLeftOut = false

  /** What to ask the limiter for, by endpoint. */
  function wanted(ready: readonly Ready[]) {
    const wants = new Map<string, { key: string; limit: { quota: number; period: number }; want: number }>()
    for (const { hold, loaded } of ready) {
      const { group } = hold.claim
      const limit = loaded.endpoint?.enabled ? loaded.endpoint.rate_limit : null
      if (!limit) {
        if (unlimited.size > mostUnlimited) unlimited.clear()
        unlimited.add(group)
        continue
      }
      unlimited.delete(group)
      const want = wants.get(group)
      if (want === undefined) wants.set(group, { key: `endpoint:${group}`, limit, want: 1 })
      else want.want++
    }
    return wants
  }

  async function take(ready: readonly Ready[]): Promise<{ granted: readonly Ready[]; refused: readonly Hold[] }> {
    const wants = wanted(ready)
    if (wants.size === 0) return { granted: ready, refused: [] }
    const now = ctx.clock.now()
    let grants: readonly Grant[]
    try {
      grants = await ctx.limiter.take([...wants.values()], now)
    } catch (cause) {
      complain('the limiter does not answer: deliveries pass unlimited', cause)
      return { granted: ready, refused: [] }
    }
    const groups = [...wants.keys()]
    const left = new Map(groups.map((group, i) => [group, grants[i]!.granted]))
    const granted: Ready[] = []
    const refused: Hold[] = []
    for (const each of ready) {
      const { group } = each.hold.claim
      const quota = left.get(group) ?? Infinity
      left.set(group, quota - 1)
      if (quota > 0) granted.push(each)
      else refused.push(each.hold)
    }
    const refusedGroups = new Set(refused.map(({ claim }) => claim.group))
    const pauses = groups.flatMap((group, i) =>
      refusedGroups.has(group) ? [{ group, until: now + Math.max(1, Math.ceil(grants[i]!.retryAfterMs)) }] : [],
    )
    // Paused before their claims are given back, so that nobody takes them in between.
    if (pauses.length > 0) await ctx.queue.pause(pauses)
    return { granted, refused }
  }

  return {
    take,
    waiting() {
      someLeftOut ||= deciding.size > 0
      return deciding.keys()
    },
    claimed(holds) {
      for (const { claim } of holds) {
        if (!unlimited.has(claim.group)) deciding.set(claim.group, (deciding.get(claim.group) ?? 0) + 1)
      }
    },
    decided(holds) {
      for (const { claim } of holds) {
        const left = deciding.get(claim.group)
        if (left === 1) deciding.delete(claim.group)
        else if (left !== undefined) deciding.set(claim.group, left - 1)
      }
      if (!someLeftOut || deciding.size > 0) return false
      someLeftOut = false
      return true
    },
  }
}
