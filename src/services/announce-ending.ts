import type { Context } from '../context.ts'
import type { Settlement } from '../contracts/storage/attempts.ts'
import { endedAttempt, isFinal } from '../core/attempt.ts'
import type { Attempt } from '../schema/attempt.ts'

/** Counts, logs and emits what a settlement has changed. `disabled`: the settlement disabled the endpoint. */
export function announceEnding(
  ctx: Context,
  { settlement, eventType, disabled }: { settlement: Settlement; eventType: string; disabled: boolean },
): void {
  const { workspaceId: workspace_id, status, exhausted, error_code } = settlement
  const attempt = shownAttempt(settlement, eventType)
  const { endpoint_id, event_id } = attempt
  const ids = { workspace_id, endpoint_id, event_id, attempt_id: attempt.id }
  if (status === 'FAILED') {
    ctx.counters.outboundFailed++
    ctx.log.debug('a delivery failed', { ...ids, status: attempt.response?.status ?? null, error_code })
  }
  ctx.emit('attempt', { workspace_id, attempt })
  if (exhausted) {
    ctx.log.info('the tries of a delivery are used up', ids)
    ctx.emit('exhausted', { workspace_id, attempt })
  }
  if (disabled) {
    ctx.log.info('an endpoint was disabled: it answered 410', ids)
    ctx.emit('endpoint.disabled', { workspace_id, endpoint_id, reason: 'gone' })
  }
}

/** An ended attempt as lists show it: headers and bodies are null. */
function shownAttempt(settlement: Settlement, event_type: string): Attempt {
  const { attempt, request, response } = settlement
  const sent = request === null ? null : { method: request.method, url: request.url, headers: null, body: null }
  const got =
    response === null ? null : { status: response.status, latency: response.latency, headers: null, body: null }
  // V8 takes twenty times as long for `Object.assign`.
  const shown: Omit<Attempt, 'final'> & { final?: boolean } = endedAttempt(attempt, event_type, settlement, sent, got)
  shown.final = isFinal(settlement)
  return shown as Attempt // with `final` it has all fields
}
