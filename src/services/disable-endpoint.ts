import type { Context } from '../context.ts'
import { disabledEndpoint } from '../core/endpoint-row.ts'
import { PosthornError } from '../errors.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { leaveCause, withdraw } from './operational/leave-cause.ts'

/** An endpoint that was judged to be turned off, and why. */
export interface Judged {
  readonly workspaceId: string
  readonly endpointId: string
  /** When it was judged. */
  readonly at: number
  readonly reason: 'breaker' | 'failing'
  /** A sentence for a person. */
  readonly detail: string
  /** Whether the judgement holds for the endpoint as it is stored now. */
  holds(endpoint: Endpoint): boolean | Promise<boolean>
}

/**
 * Turns an endpoint off and emits that. False where the endpoint is off or gone already, where the judgement holds no more, and
 * where others write the endpoint too fast.
 */
export async function disableEndpoint(ctx: Context, judged: Judged): Promise<boolean> {
  const { workspaceId, endpointId, at, reason, detail, holds } = judged
  const about = { workspace_id: workspaceId, endpoint_id: endpointId }
  const { endpoints } = ctx.storage
  let hasCause = false

  const turned = withWriteLock<boolean>(ctx.storage, workspaceId, async () => {
    const stored = await endpoints.get(workspaceId, endpointId)
    if (stored === null || !stored.row.enabled || !(await holds(stored.row))) return false
    if (!hasCause) await leaveCause(ctx, { kind: 'disabled', ...about, at, reason })
    hasCause = true
    const row = disabledEndpoint(stored.row, ctx.clock.now(), reason, detail)
    const answer = await endpoints.update(workspaceId, row, stored.revision)
    return answer === 'conflict' ? answer : answer === 'written'
  })
  const isOff = await turned.catch((cause: unknown) => {
    if (cause instanceof PosthornError && cause.code === 'overloaded') return false
    throw cause
  })
  if (isOff) ctx.emit('endpoint.disabled', { ...about, reason })
  // Not what another process left, which may have disabled the endpoint.
  else if (hasCause) await withdraw(ctx, endpointId)
  return isOff
}
