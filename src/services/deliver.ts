import type { CompiledConfiguration, Context } from '../context.ts'
import type { Reply } from '../contracts/http-client.ts'
import type { Outbound } from '../contracts/plugin.ts'
import type { Claim, Job } from '../contracts/queue.ts'
import type { Delivery, Settled, Settlement, StoredRequest } from '../contracts/storage.ts'
import type { AttemptEnd } from '../contracts/telemetry.ts'
import { endedAttempt } from '../core/attempt.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { recordFields, recordText } from '../core/capture.ts'
import { oneLine } from '../core/one-line.ts'
import { identified, outboundRequest, requestProblem, withHeaders } from '../core/request.ts'
import { type Ended, type Outcome, settle } from '../core/settle.ts'
import type { Attempt, FinalStatus } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { StoredEvent } from '../schema/event.ts'
import { follow } from './follow.ts'
import { type Gatherer, gatherer } from './gather.ts'
import { inTime } from './in-time.ts'
import { jobOf } from './ingest.ts'
import { repeatedErrors } from './repeated-errors.ts'
import { DeliveryContext, runOutbound } from './outbound.ts'
import { senderOf } from '../core/sender.ts'

/** An open attempt with all that is needed to make it. `endpoint` is null when it is gone. */
export interface Loaded {
  readonly delivery: Delivery
  readonly configuration: CompiledConfiguration
  readonly endpoint: Endpoint | null
}

export interface Deliver {
  /** What is needed to make each open attempt; closed ones, and those of deleted workspaces, are left out. */
  load(ids: readonly string[]): Promise<readonly Loaded[]>
  /** Sends a request, or finds why not. Null when it was canceled: then nothing is known of what the receiver saw. */
  attempt(loaded: Loaded, until: Cancellation): Promise<Sent | null>
  /** What follows from a try, to be stored. `retries`: whether another try may follow; default true. */
  conclude(loaded: Loaded, sent: Sent, claim: Claim | null, options?: { retries: boolean }): Conclusion
  /**
   * Stores a conclusion in one step; if it `lingers`, with others within 50 ms. It may be called again when it failed: the
   * attempt is closed once, and told of once. Answers the attempt's status; null when the attempt was closed otherwise.
   */
  settle(conclusion: Conclusion, options?: { lingers: boolean }): Promise<FinalStatus | null>
  /** Writes the settlements that linger, and waits for all. */
  idle(): Promise<void>
  /** Rejects with `unavailable` what waits for the storage. */
  giveUp(): void
  /** Settlements that wait to be written. */
  readonly waiting: () => number
}

export type Conclusion = Ended

export interface Sent {
  readonly outcome: Outcome
  readonly startedAt: number
  /** Whether the endpoint timed out, could not be reached, or did not end its answer in time. */
  readonly slow: boolean
}

/** Makes attempts: load, send, settle. Whoever calls it decides when, and holds the job meanwhile. */
export function deliverService(ctx: Context): Deliver {
  const { deliver } = ctx.settings
  const headerBounds = {
    maxBytes: deliver.captureBytes,
    redact: new Set(deliver.redactHeaders.map((name) => name.toLowerCase())),
  }
  const tally = ctx.settings.breaker !== undefined
  const complain = repeatedErrors(ctx.clock, ctx.log)
  const send = senderOf(ctx.http)

  const settlements: Gatherer<Settlement, Settled> = gatherer({
    flush,
    bytesOf: ({ request, response }) => 512 + (request?.body?.length ?? 0) + (response?.body?.length ?? 0),
    clock: ctx.clock,
    gathers: ctx.gathers,
  })

  async function flush(batch: readonly Settlement[]): Promise<readonly Settled[]> {
    const answers = await ctx.storage.attempts.settle(batch, { enqueue: ctx.ownQueue })
    const next: Job[] = []
    const claims: Claim[] = []
    batch.forEach((settlement, i) => {
      if (settlement.next !== null && answers[i]!.settled) next.push(jobOf(settlement.workspaceId, settlement.next))
      if (!ctx.ownQueue && settlement.claim !== null) claims.push(settlement.claim)
    })
    if (next.length > 0) ctx.enqueued(next)
    if (claims.length > 0) await complete(claims)
    return answers
  }

  /** After the settlement. A job that is not completed is claimed again when its hold lapses, and its attempt found closed. */
  async function complete(claims: readonly Claim[]): Promise<void> {
    try {
      await ctx.queue.complete(claims)
    } catch (cause) {
      complain('jobs of ended attempts could not be completed', cause)
    }
  }

  async function load(ids: readonly string[]): Promise<readonly Loaded[]> {
    const deliveries = await ctx.storage.attempts.load(ids)
    const loaded: Loaded[] = []
    for (const delivery of deliveries) {
      const configuration = await ctx.configuration.atLeast(delivery.workspaceId, delivery.revision)
      if (configuration === null) continue
      loaded.push({
        delivery,
        configuration,
        endpoint: configuration.endpoints.get(delivery.attempt.endpoint_id) ?? null,
      })
    }
    return loaded
  }

  function attempt(loaded: Loaded, until: Cancellation): Promise<Sent | null> {
    const startedAt = ctx.clock.now()
    const since = ctx.clock.elapsed()
    const { delivery, endpoint } = loaded
    const ended = (outcome: Outcome) => Promise.resolve<Sent>({ outcome, startedAt, slow: false })
    if (endpoint === null) return ended({ kind: 'endpoint_gone' })
    if (!endpoint.enabled) return ended({ kind: 'endpoint_disabled' })
    if (delivery.event === null) return ended({ kind: 'event_gone' })

    const { event, attempt: planned } = delivery
    return follow(
      ctx.telemetry?.attempt({
        workspaceId: delivery.workspaceId,
        eventId: event.id,
        eventType: event.event_type,
        endpointId: endpoint.id,
        attemptId: planned.id,
        attemptNumber: planned.attempt_number,
        method: endpoint.request.method,
        url: endpoint.request.url,
        parent: delivery.trace ?? null,
      }),
      (trace) => make(loaded, endpoint, event, until, trace),
      (sent) => endOf(sent ?? null, (ctx.clock.elapsed() - since) / 1000),
    )
  }

  /** Prepares the request and sends it. */
  async function make(
    loaded: Loaded,
    endpoint: Endpoint,
    event: StoredEvent,
    until: Cancellation,
    trace: string | null,
  ): Promise<Sent | null> {
    const startedAt = ctx.clock.now()
    const timeoutMs = endpoint.request.timeout === 0 ? deliver.timeoutMs : endpoint.request.timeout
    let request: Outbound
    try {
      const prepared = prepareRequest(loaded, endpoint, event, timeoutMs, until)
      request = prepared instanceof Promise ? await prepared : prepared
      if (trace !== null) request = withHeaders(request, { traceparent: trace })
    } catch (cause) {
      if (until.canceled) return null
      const message = pluginMessage(cause)
      ctx.log.warn(`a plugin of endpoint ${endpoint.id} failed: ${message}`, { attempt: loaded.delivery.attempt.id })
      ctx.log.debug(`a plugin of endpoint ${endpoint.id} failed`, { cause })
      return { outcome: { kind: 'plugin_error', message }, startedAt, slow: false }
    }

    const sentAt = ctx.clock.now()
    const since = ctx.clock.elapsed()
    ctx.counters.outboundProcessing++
    let reply: Reply
    try {
      reply = await send(request, { timeoutMs, captureBytes: deliver.captureBytes }, until)
    } catch (cause) {
      ctx.log.error('the HTTP client threw', { cause })
      reply = { kind: 'error', message: 'the HTTP client failed', unreachable: false }
    }
    ctx.counters.outboundProcessing--
    if (reply.kind !== 'denied') ctx.counters.outbound++ // nothing was sent to a denied address
    if (reply.kind === 'aborted') return null
    const latency = Math.round(ctx.clock.elapsed() - since)
    return {
      outcome: outcomeOf(reply, recordRequest(request, event), latency),
      startedAt: sentAt,
      slow: isSlow(reply),
    }
  }

  function prepareRequest(
    loaded: Loaded,
    endpoint: Endpoint,
    event: StoredEvent,
    timeoutMs: number,
    until: Cancellation,
  ): Outbound | Promise<Outbound> {
    const plugins = loaded.configuration.pluginsOf(endpoint.id)
    const base = outboundRequest(endpoint, event, deliver.userAgent)
    const { workspaceId, attempt: planned } = loaded.delivery
    if (plugins.length === 0) return identified(base, event, planned)
    const told = { now: ctx.clock.now(), log: ctx.log, workspaceId, event, attempt: planned, endpoint }
    const context = new DeliveryContext(told, until)
    const running = runOutbound(plugins, base, context)
    // A plugin that never settles may not hold a slot for ever: it has the time the request would have.
    const late = () => new Error(`plugins did not finish within ${timeoutMs} ms`)
    const finish = (changed: Outbound): Outbound => {
      const problem = requestProblem(changed, base)
      if (problem !== null) throw new Error(problem)
      return identified(changed, event, planned)
    }
    return running instanceof Promise ? inTime(ctx.clock, timeoutMs, running, late).then(finish) : finish(running)
  }

  function recordRequest(request: Outbound, event: StoredEvent): StoredRequest {
    const fromEvent = request.body !== null && request.body === event.data
    return {
      method: request.method,
      url: request.url,
      headers: recordFields(request.headers, headerBounds),
      body: fromEvent || request.body === null ? null : recordText(request.body, deliver.captureBytes),
      fromEvent,
    }
  }

  function outcomeOf(reply: Exclude<Reply, { kind: 'aborted' }>, request: StoredRequest, latency: number): Outcome {
    switch (reply.kind) {
      case 'timeout':
      case 'denied':
        return { kind: reply.kind, request, message: reply.message }
      case 'error':
        return { kind: 'failed', request, message: reply.message }
      case 'response': {
        const headers = recordFields(reply.headers, headerBounds)
        const response = { status: reply.status, latency, headers, body: reply.body }
        return { kind: 'answered', request, response, retryAfter: reply.headers['retry-after'] }
      }
    }
  }

  async function write(
    { settlement, pauseUntil }: Conclusion,
    { lingers } = { lingers: false },
  ): Promise<FinalStatus | null> {
    // Paused before it is settled, so that the next job of the endpoint cannot slip through in between.
    if (pauseUntil !== null) await ctx.queue.pause([{ group: settlement.attempt.endpoint_id, until: pauseUntil }])
    const { settled, disabled } = await settlements.add(settlement, { lingers })
    if (!settled) return null
    tell(settlement, disabled)
    return settlement.status
  }

  function tell(settlement: Settlement, disabled: boolean): void {
    const { workspaceId: workspace_id, status, exhausted, error_code } = settlement
    const attempt = shownEnding(settlement)
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

  return {
    load,
    attempt,
    conclude: (loaded, sent, claim, { retries } = { retries: true }) =>
      settle(
        {
          workspaceId: loaded.delivery.workspaceId,
          attempt: loaded.delivery.attempt,
          claim,
          endpoint: loaded.endpoint,
          startedAt: sent.startedAt,
          retries,
          tally,
        },
        sent.outcome,
        ctx.clock.now(),
        ctx.newId,
      ),
    settle: write,
    idle: () => settlements.idle(),
    giveUp: () => settlements.giveUp(),
    waiting: () => settlements.waiting(),
  }
}

function isSlow(reply: Reply): boolean {
  if (reply.kind === 'response') return !(reply.ended ?? true) // a client of the host's own may not say
  return reply.kind === 'timeout' || (reply.kind === 'error' && reply.unreachable)
}

function pluginMessage(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : 'the plugin failed'
  return recordText(oneLine(message), 512)
}

/** What is told of a try; the time of a request that was answered is known exactly. */
function endOf(sent: Sent | null, seconds: number): AttemptEnd {
  if (sent === null) return { status: null, error: 'aborted', seconds }
  const { outcome } = sent
  if (outcome.kind === 'answered') {
    return { status: outcome.response.status, error: null, seconds: outcome.response.latency / 1000 }
  }
  const canceled =
    outcome.kind === 'endpoint_gone' || outcome.kind === 'endpoint_disabled' || outcome.kind === 'event_gone'
  return { status: null, error: canceled ? 'failed' : outcome.kind, seconds }
}

/** How listeners see an attempt that ended: as lists show it, headers and bodies null. */
function shownEnding(settlement: Settlement): Attempt {
  const { attempt, request, response } = settlement
  const sent = request === null ? null : { method: request.method, url: request.url, headers: null, body: null }
  const got =
    response === null ? null : { status: response.status, latency: response.latency, headers: null, body: null }
  return endedAttempt(attempt, settlement, sent, got)
}
