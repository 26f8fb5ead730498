import type { Context } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import type { Claim } from '../contracts/queue.ts'
import type { Loaded } from '../services/deliver.ts'

const mostUnlimited = 10_000

/** A claim and what it is for. */
export interface Ready {
  readonly one: Claim
  readonly loaded: Loaded
}

/**
 * The rate limits of endpoints. While some claims of an endpoint wait for the limiter no others of it are taken, so that
 * order holds; an endpoint that is known to be free of a limit need not wait.
 */
export interface Limits {
  /** Learns of a claim; it ends with `decided`. */
  claimed(one: Claim): void
  /** Asks the limiter once for all claims of each limited endpoint. The first granted go; the endpoint waits for the rest. */
  take(going: readonly Ready[]): Promise<{ granted: readonly Ready[]; refused: readonly Claim[] }>
  /** Whether claims of an endpoint wait for the limiter, so that a claim leaves it out. */
  decides(group: string): boolean
  /** Answers whether a claim could now take what was left out. */
  decided(claims: readonly Claim[]): boolean
}

/** `complain` is told when the limiter does not answer: then deliveries pass unlimited. */
export function limits(ctx: Context, complain: (message: string, cause: unknown) => void): Limits {
  /** Endpoints that had no limit when they were looked at last. */
  const unlimited = new Set<string>()
  /** Claims that wait for the limiter, by endpoint. */
  const deciding = new Map<string, number>()
  /** Whether a claim left endpoints out because of that. */
  let withheld = false

  /** What to ask for, by endpoint. */
  function wanted(going: readonly Ready[]) {
    const wants = new Map<string, { key: string; limit: { quota: number; period: number }; want: number }>()
    for (const { one, loaded } of going) {
      const { group } = one
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

  return {
    claimed({ group }) {
      if (!unlimited.has(group)) deciding.set(group, (deciding.get(group) ?? 0) + 1)
    },

    async take(going) {
      const wants = wanted(going)
      if (wants.size === 0) return { granted: going, refused: [] }
      const now = ctx.clock.now()
      let grants: readonly Grant[]
      try {
        grants = await ctx.limiter.take([...wants.values()], now)
      } catch (cause) {
        complain('the limiter does not answer: deliveries pass unlimited', cause)
        return { granted: going, refused: [] }
      }
      const groups = [...wants.keys()]
      const left = new Map(groups.map((group, i) => [group, grants[i]!.granted]))
      const granted: Ready[] = []
      const refused: Claim[] = []
      for (const each of going) {
        const quota = left.get(each.one.group) ?? Infinity
        left.set(each.one.group, quota - 1)
        if (quota > 0) granted.push(each)
        else refused.push(each.one)
      }
      const waiting = new Set(refused.map(({ group }) => group))
      const pauses = groups.flatMap((group, i) =>
        waiting.has(group) ? [{ group, until: now + Math.max(1, Math.ceil(grants[i]!.retryAfterMs)) }] : [],
      )
      // Paused before their claims are given back, so that nobody takes them in between.
      if (pauses.length > 0) await ctx.queue.pause(pauses)
      return { granted, refused }
    },

    decides(group) {
      const waits = deciding.has(group)
      withheld ||= waits
      return waits
    },

    decided(claims) {
      for (const { group } of claims) {
        const left = deciding.get(group)
        if (left === 1) deciding.delete(group)
        else if (left !== undefined) deciding.set(group, left - 1)
      }
      if (!withheld || deciding.size > 0) return false
      withheld = false
      return true
    },
  }
}
