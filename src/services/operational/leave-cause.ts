import type { Context } from '../../context.ts'
import type { Cause } from '../../contracts/storage/causes.ts'
import { isOperational } from '../is-operational.ts'

type Trouble = Pick<Cause, 'workspace_id' | 'endpoint_id' | 'at' | 'reason'> & { readonly kind: 'disabled' | 'failing' }

/**
 * Leaves the cause of an operational event about an endpoint, so that the event is published whichever process dies.
 * The cause of a disabled endpoint is left before the endpoint is disabled, and counts once the endpoint is disabled:
 * see `OperationalEvents`.
 */
export async function leaveCause(ctx: Context, trouble: Trouble): Promise<void> {
  if (ctx.settings.operations === undefined) return
  const configuration = await ctx.configuration.get(trouble.workspace_id)
  if (configuration === null || isOperational(ctx, configuration.workspace)) return
  // The endpoint's id is the id of the cause, so that a process that repeats the step after a crash leaves no second
  // cause.
  await ctx.storage.causes.add([{ ...trouble, id: trouble.endpoint_id, attempt_id: null }])
}

/** The endpoint was not disabled after all. */
export async function withdraw(ctx: Context, endpointId: string): Promise<void> {
  if (ctx.settings.operations !== undefined) await ctx.storage.causes.remove([{ kind: 'disabled', id: endpointId }])
}
