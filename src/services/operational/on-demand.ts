import type { Context } from '../../context.ts'
import type { Background } from '../../runtime/background.ts'
import { lazy } from '../../runtime/lazy.ts'
import type { SourceRequest } from '../../schema/instance.ts'
import type { Ingest } from '../ingest.ts'
import { isOperational } from '../is-operational.ts'
import type { SourceTenant } from '../../contracts/request-log.ts'
import { Refusals } from './refusals.ts'

/** Operational events of this process, as the rest of it sees them. */
export interface Operational {
  /** Publishes in the background what there is to publish: this process has seen a cause. */
  soon(): void
  /** The gateway of this process took a request for a source. */
  took(tenant: SourceTenant, request: SourceRequest): void
  /** The minute's work: what other processes saw, windows of sources that are over, and the backlog. */
  minute(): Promise<void>
}

/** What publishes is loaded when there is something to publish. */
export function operationalOnDemand(ctx: Context, ingest: Ingest, later: Background): Operational {
  const events = lazy(async () => {
    const { OperationalEvents } = await import('./operational-events.ts')
    return new OperationalEvents(ctx, ingest)
  })
  const run = (work: () => Promise<unknown>): void => later.run('publishing operational events', work)
  let isAsked = false
  const refusals = new Refusals((window) => run(async () => (await events()).refusing(window)))

  return {
    soon() {
      // One look that has not begun sees all causes that were stored before.
      if (isAsked) return
      isAsked = true
      run(async () => {
        const there = await events()
        isAsked = false
        await there.look()
      })
    },
    took({ workspaceId, sourceId }, { at, status }) {
      const name = ctx.configuration.held(workspaceId)?.workspace.name ?? null
      if (!isOperational(ctx, { id: workspaceId, name })) refusals.took(workspaceId, sourceId, status >= 400, at)
    },
    async minute() {
      await ctx.clock.ready()
      refusals.look(ctx.clock.now())
      await (await events()).minute()
    },
  }
}
