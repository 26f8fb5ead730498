import type { Context } from '../context.ts'
import { dayMs } from '../core/periods.ts'
import { inSteps, type Until } from '../runtime/steps.ts'
import { workspaceRows } from './secrets/all-workspaces.ts'

const batchSize = 1000

/**
 * Purges the events of workspaces with `limits.retention_days`, in small steps, so that other work goes on in between.
 * Each workspace has at least a step: where there is always little time, none waits for the others.
 */
export async function purgeWorkspaces(ctx: Context, now: number, until: Until | undefined): Promise<void> {
  for await (const { id, limits } of workspaceRows(ctx)) {
    if (limits.retention_days === null) continue
    const eventsBefore = now - limits.retention_days * dayMs
    const options = { eventsBefore, attemptsBefore: null, limit: batchSize, workspaceId: id }
    await inSteps(ctx.clock, until, () => ctx.storage.purge(options))
  }
}
