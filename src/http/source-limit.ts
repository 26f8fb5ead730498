import type { Context } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import type { Source } from '../schema/source.ts'

/** Asks whether the rate limit of a source lets a request pass. Null: the source has no limit, or the limiter does not answer. */
export async function askSourceLimit(ctx: Context, source: Source): Promise<Grant | null> {
  if (source.rate_limit === null) return null
  await ctx.clock.ready?.()
  const now = ctx.clock.now()
  try {
    const [grant] = await ctx.limiter.take([{ key: `source:${source.id}`, limit: source.rate_limit, want: 1 }], now)
    return grant ?? null
  } catch (cause) {
    ctx.repeating.error('the limiter does not answer: requests pass unlimited', { cause })
    return null
  }
}

/** The headers in which each answer of a limited source states the limit. */
export function limitHeaders({ rate_limit }: Source, grant: Grant): Record<string, string> {
  return {
    'x-ratelimit-limit': String(rate_limit!.quota), // only limited sources come here
    'x-ratelimit-remaining': String(grant.remaining),
    'x-ratelimit-reset': String(Math.max(1, Math.ceil(grant.resetMs / 1000))),
  }
}
