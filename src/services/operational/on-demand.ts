import type { Context } from '../../context.ts'
import type { Background } from '../../runtime/background.ts'
import { lazy } from '../../runtime/lazy.ts'
import type { SourceRequest } from '../../schema/instance.ts'
import type { Ingest } from '../ingest.ts'
import { isOperationalId } from '../is-operational.ts'
import type { Observers } from '../observers.ts'
import type { SourceTenant } from '../../contracts/request-log.ts'
import { Refusals } from './refusals.ts'

/** Operational events of this process, as the rest of it sees them. */
export interface Operational {
  /** The gateway of this process took a request for a source. */
  took(tenant: SourceTenant, request: SourceRequest): void
  /** The minute's work: what other processes saw, windows of sources that are over, and the backlog. */
  minute(): Promise<void>
}

/**
 * The code that publishes operational events is loaded when an event is to be published. `on`: the signals of this
 * process.
 */
export function operationalOnDemand(ctx: Context, ingest: Ingest, later: Background, on: Observers['on']): Operational {
  const events = lazy(async () => {
    const { OperationalEvents } = await import('./operational-events.ts')
    return new OperationalEvents(ctx, ingest)
  })
  const run = (work: () => Promise<unknown>): void => later.run('publishing operational events', work)
  const refusals = new Refusals((window) => run(async () => (await events()).refusing(window)))
  let isAsked = false

  function look(): void {
    // A look that has not begun yet will see all causes stored until now.
    if (isAsked) return
    isAsked = true
    run(async () => {
      const there = await events()
      isAsked = false
      await there.look()
    })
  }
  for (const signal of ['exhausted', 'endpoint.disabled', 'endpoint.failing'] as const) on(signal, look)
  on('change', (change) => {
    if (!isOperationalId(ctx, change.workspace_id)) run(async () => (await events()).changed(change))
  })

  return {
    took({ workspaceId, sourceId }, { at, status }) {
      if (!isOperationalId(ctx, workspaceId)) refusals.took(workspaceId, sourceId, status >= 400, at)
    },
    async minute() {
      await ctx.clock.ready()
      refusals.look(ctx.clock.now())
      await (await events()).minute()
    },
  }
}
