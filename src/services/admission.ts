import type { Context } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import type { Workspace } from '../schema/workspace.ts'

const lookAgainMs = 1000
const maxLooks = 10_000

/** Grants the first n of `want` events of a workspace; `retryAfterMs`: when one more event may be granted. */
export type Admit = (
  workspace: Workspace,
  want: number,
) => Promise<{ readonly granted: number; readonly retryAfterMs: number }>

/**
 * The limit of a workspace on events in each second, exact over all processes. A workspace without a limit costs nothing. While
 * the limiter does not answer, events pass.
 */
export function admission(ctx: Context): Admit {
  /** When a configuration was read since events were refused, by workspace. */
  const looks = new Map<string, number>()

  async function ask({ id, limits }: Workspace, want: number): Promise<Grant | null> {
    const quota = limits.events_per_second
    if (quota === null) return null
    await ctx.clock.ready()
    try {
      const wanted = { key: `workspace:${id}`, limit: { quota, period: 1 }, want }
      return (await ctx.limiter.take([wanted], ctx.clock.now()))[0] ?? null
    } catch (cause) {
      ctx.repeating.error('the limiter does not answer: events pass unlimited', { cause })
      return null
    }
  }

  /** The workspace as it is stored, where the limit that refused may be outdated. At most once a second. */
  async function reread({ id, limits }: Workspace): Promise<Workspace | null> {
    const now = ctx.clock.elapsed()
    if (now - (looks.get(id) ?? -Infinity) < lookAgainMs) return null
    if (looks.size >= maxLooks) looks.clear()
    looks.set(id, now)
    const workspace = (await ctx.configuration.fresh(id))?.workspace
    return workspace === undefined || workspace.limits.events_per_second === limits.events_per_second ? null : workspace
  }

  return async (workspace, want) => {
    const first = await ask(workspace, want)
    if (first === null || first.granted === want) return { granted: want, retryAfterMs: 0 }
    const changed = await reread(workspace)
    const second = changed === null ? null : await ask(changed, want - first.granted)
    if (changed !== null && second === null) return { granted: want, retryAfterMs: 0 }
    return {
      granted: first.granted + (second?.granted ?? 0),
      retryAfterMs: (second ?? first).retryAfterMs,
    }
  }
}
