import type { Context } from '../context.ts'
import type { Reply, SendOptions } from '../contracts/http-client.ts'
import type { Outbound } from '../contracts/request.ts'
import type { AttemptEnd, Telemetry } from '../contracts/telemetry.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { recordText } from '../core/capture.ts'
import { oneLine } from '../core/one-line.ts'
import { isReply } from '../core/reply.ts'
import { withHeaders } from '../core/request.ts'
import type { Outcome } from '../core/settle.ts'
import { PosthornError } from '../errors.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Loaded, Sent } from './loaded-attempt.ts'
import { NotRegisteredError } from './not-registered-error.ts'
import { traced } from './traced.ts'
import { prepareRequest } from './prepare-request.ts'
import { OutcomeRecorder } from './record-outcome.ts'

/** Whether an attempt that needs a plugin which is not registered here is left to other processes. */
export type IsLeft = (loaded: Loaded) => boolean
const never: IsLeft = () => false

/** Sends the requests of attempts. */
export class AttemptSender {
  readonly #ctx: Context
  readonly #recorder: OutcomeRecorder

  constructor(ctx: Context) {
    this.#ctx = ctx
    this.#recorder = new OutcomeRecorder(
      ctx.settings.deliver.captureBytes,
      ctx.secrets.headers,
      ctx.settings.compatible,
    )
  }

  /** See `Deliver`. */
  attempt(loaded: Loaded, until: Cancellation, isLeft: IsLeft = never): Promise<Sent | 'busy' | null> {
    const { delivery, endpoint } = loaded
    if (endpoint === null) return this.#unsent({ kind: 'endpoint_gone' })
    const isTest = delivery.attempt.trigger_mode === 'TEST' // made also while the endpoint is off: to see whether it may be on again
    if (!endpoint.enabled && !isTest) return this.#unsent({ kind: 'endpoint_disabled' })
    if (delivery.event === null) return this.#unsent({ kind: 'event_gone' })
    return this.#ctx.telemetry === undefined
      ? this.#prepareAndSend(loaded, endpoint, delivery.event, until, null, isLeft)
      : this.#traced(this.#ctx.telemetry, loaded, endpoint, delivery.event, until, isLeft)
  }

  #unsent(outcome: Outcome): Promise<Sent> {
    return Promise.resolve({ outcome, startedAt: this.#ctx.clock.now(), slow: false })
  }

  #traced(
    telemetry: Telemetry,
    loaded: Loaded,
    endpoint: Endpoint,
    event: StoredEvent,
    until: Cancellation,
    isLeft: IsLeft,
  ): Promise<Sent | 'busy' | null> {
    const { clock } = this.#ctx
    const since = clock.elapsed()
    const { workspaceId, attempt, trace: parent } = loaded.delivery
    return traced(
      telemetry.attempt({
        workspaceId,
        eventId: event.id,
        eventType: event.event_type,
        endpointId: endpoint.id,
        attemptId: attempt.id,
        attemptNumber: attempt.attempt_number,
        method: endpoint.request.method,
        url: endpoint.request.url,
        parent: parent ?? null,
      }),
      (trace) => this.#prepareAndSend(loaded, endpoint, event, until, trace, isLeft),
      (sent) => endOf(sent ?? null, (clock.elapsed() - since) / 1000),
    )
  }

  async #prepareAndSend(
    loaded: Loaded,
    endpoint: Endpoint,
    event: StoredEvent,
    until: Cancellation,
    trace: string | null,
    isLeft: IsLeft,
  ): Promise<Sent | 'busy' | null> {
    const { clock, settings, counters, log, http } = this.#ctx
    const { timeoutMs: defaultMs, captureBytes } = settings.deliver
    const startedAt = clock.now()
    const timeoutMs = endpoint.request.timeout === 0 ? defaultMs : endpoint.request.timeout
    let request: Outbound
    try {
      const prepared = prepareRequest(this.#ctx, loaded, endpoint, event, timeoutMs, until)
      request = prepared instanceof Promise ? await prepared : prepared
      if (trace !== null) request = withHeaders(request, { traceparent: trace })
    } catch (cause) {
      if (until.canceled) return null
      if (cause instanceof PosthornError && cause.code === 'overloaded') return 'busy'
      if (cause instanceof NotRegisteredError && isLeft(loaded)) return 'busy'
      return { outcome: this.#pluginFailed(loaded, endpoint, cause), startedAt, slow: 'unsent' }
    }

    const sentAt = clock.now()
    const since = clock.elapsed()
    counters.outboundProcessing++
    let reply: Reply
    try {
      reply = await http.send(request, new Sending(loaded.delivery.workspaceId, timeoutMs, captureBytes, until), until)
      if (!isReply(reply)) throw new TypeError('the answer of the HTTP client is no Reply')
    } catch (cause) {
      log.error('the HTTP client failed', { cause })
      reply = { kind: 'error', message: 'the HTTP client failed', unreachable: false }
    }
    counters.outboundProcessing--
    if (reply.kind === 'busy') return 'busy'
    if (wasBegun(reply)) counters.outbound++
    if (reply.kind === 'aborted') return null
    const latency = Math.round(clock.elapsed() - since)
    return {
      outcome: this.#recorder.outcomeOf(reply, request, event, latency),
      startedAt: sentAt,
      slow: slownessOf(reply),
    }
  }

  #pluginFailed({ delivery }: Loaded, endpoint: Endpoint, cause: unknown): Outcome {
    const message = recordText(oneLine(cause instanceof Error ? cause.message : 'the plugin failed'), 512)
    this.#ctx.log.warn(`a plugin of endpoint ${endpoint.id} failed: ${message}`, { attempt: delivery.attempt.id })
    this.#ctx.log.debug(`a plugin of endpoint ${endpoint.id} failed`, { cause })
    return { kind: 'plugin_error', message }
  }
}

/** Of a class: an object literal with a getter takes much longer to make. */
class Sending implements SendOptions {
  readonly workspaceId: string
  readonly timeoutMs: number
  readonly captureBytes: number
  readonly #until: Cancellation

  constructor(workspaceId: string, timeoutMs: number, captureBytes: number, until: Cancellation) {
    this.workspaceId = workspaceId
    this.timeoutMs = timeoutMs
    this.captureBytes = captureBytes
    this.#until = until
  }

  get signal(): AbortSignal {
    return this.#until.signal
  }
}

/** Whether a request was begun, as far as is known. Nothing is sent to a denied address. */
function wasBegun(reply: Reply): boolean {
  return reply.kind !== 'denied' && !(reply.kind === 'aborted' && reply.isUnsent === true)
}

function slownessOf(reply: Reply): Sent['slow'] {
  if (reply.kind === 'denied') return 'unsent'
  if (reply.kind === 'response') return !(reply.ended ?? true) // a client of the application may leave out `ended`
  return reply.kind === 'timeout' || (reply.kind === 'error' && (reply.unreachable || reply.ended === false))
}

/** How a try ended, for telemetry. `seconds`: the time of the whole try; the time of an answered request is more exact. */
function endOf(sent: Sent | 'busy' | null, seconds: number): AttemptEnd {
  if (sent === null) return { status: null, error: 'aborted', seconds }
  if (sent === 'busy') return { status: null, error: 'busy', seconds }
  const { outcome } = sent
  if (outcome.kind === 'answered') {
    return { status: outcome.response.status, error: null, seconds: outcome.response.latency / 1000 }
  }
  const canceled =
    outcome.kind === 'endpoint_gone' || outcome.kind === 'endpoint_disabled' || outcome.kind === 'event_gone'
  return { status: null, error: canceled ? 'failed' : outcome.kind, seconds }
}
