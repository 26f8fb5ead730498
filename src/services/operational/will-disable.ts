import type { Context } from '../../context.ts'
import type { Cause } from '../../contracts/storage/causes.ts'
import { isOperational } from '../is-operational.ts'

/**
 * Leaves a cause before an endpoint is disabled, so that the event is published whoever dies in between. The cause counts
 * once the endpoint is disabled; see `OperationalEvents`.
 */
export async function willDisable(
  ctx: Context,
  workspaceId: string,
  endpointId: string,
  now: number,
  reason: NonNullable<Cause['reason']>,
): Promise<void> {
  if (ctx.settings.operations === undefined) return
  const configuration = await ctx.configuration.get(workspaceId)
  if (configuration === null || isOperational(ctx, configuration.workspace)) return
  await ctx.storage.causes.add([
    {
      kind: 'disabled',
      id: endpointId, // so that whoever does it anew after a crash leaves no second cause
      workspace_id: workspaceId,
      endpoint_id: endpointId,
      attempt_id: null,
      at: now,
      reason,
    },
  ])
}

/** The endpoint was not disabled after all. */
export async function withdraw(ctx: Context, endpointId: string): Promise<void> {
  if (ctx.settings.operations !== undefined) await ctx.storage.causes.remove([{ kind: 'disabled', id: endpointId }])
}
