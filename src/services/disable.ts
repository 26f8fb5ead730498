import type { Context } from '../context.ts'

const mostTries = 5

/** Switches an endpoint off; false when it is off or gone already, or somebody keeps writing it. */
export async function disableEndpoint(ctx: Context, workspaceId: string, endpointId: string): Promise<boolean> {
  for (let tries = 0; tries < mostTries; tries++) {
    const stored = await ctx.storage.endpoints.get(workspaceId, endpointId)
    if (stored === null || !stored.row.enabled) return false
    const row = { ...stored.row, enabled: false, updated_at: ctx.clock.now() }
    const answer = await ctx.storage.endpoints.update(workspaceId, row, stored.revision)
    if (answer === 'written') return true
    if (answer !== 'conflict') return false
  }
  return false
}
