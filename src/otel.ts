import type { Attributes, Context, Span, SpanContext } from '@opentelemetry/api'

import type { AttemptEnd, Followed, PublishEnd, Telemetry } from './contracts/telemetry.ts'
import { PosthornError } from './errors.ts'
import { lazy } from './runtime/lazy.ts'

export type { Telemetry } from './contracts/telemetry.ts'

const name = '@opentelemetry/api'
const scope = 'posthorn'

const openTelemetryApi = lazy(() =>
  import('@opentelemetry/api').catch((cause: unknown) => {
    throw new PosthornError('internal', `posthorn/otel needs: npm install ${name}`, { cause })
  }),
)

/** As the semantic conventions advise for http.client.request.duration, seconds. */
const explicitBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/**
 * Spans and metrics by OpenTelemetry's semantic conventions, through the providers that the host has registered. A
 * PRODUCER span `publish <workspace>` for each event stored, and, in the same trace, a CLIENT span `<method>` for each attempt,
 * whose context goes out as `traceparent`; the metrics
 * `http.client.request.duration`, `messaging.client.operation.duration` and `messaging.client.sent.messages`. Queries
 * of urls, headers and bodies are left out. Trace state and baggage are not carried.
 *
 * @throws PosthornError `internal` that names what to install where `@opentelemetry/api` is missing.
 * @example const posthorn = createPosthorn({ storage, telemetry: await openTelemetry() })
 */
export async function openTelemetry(): Promise<Telemetry> {
  const api = await openTelemetryApi()
  const tracer = api.trace.getTracer(scope)
  const meter = api.metrics.getMeter(scope)
  const requests = meter.createHistogram('http.client.request.duration', {
    unit: 's',
    description: 'Duration of HTTP client requests.',
    advice: { explicitBucketBoundaries },
  })
  const operations = meter.createHistogram('messaging.client.operation.duration', {
    unit: 's',
    description: 'Duration of messaging operations initiated by a producer.',
    advice: { explicitBucketBoundaries },
  })
  const messages = meter.createCounter('messaging.client.sent.messages', {
    unit: '{message}',
    description: 'Number of messages that were attempted to be sent.',
  })

  function followed<End>(span: Span, around: Context, end: (end: End) => void): Followed<End> {
    const inside = api.trace.setSpan(around, span)
    const context = span.spanContext()
    return {
      trace: api.isSpanContextValid(context) ? traceparent(context) : null,
      within: (work) => api.context.with(inside, work),
      end(how) {
        end(how)
        span.end()
      },
    }
  }

  const behind = (context: Context, parent: string | null): Context => {
    const remote = parent === null ? null : spanContext(parent)
    return remote === null ? context : api.trace.setSpanContext(context, remote)
  }

  return {
    current() {
      const context = api.trace.getSpanContext(api.context.active())
      return context !== undefined && api.isSpanContextValid(context) ? traceparent(context) : null
    },

    publish({ workspaceId, eventId, eventType, parent }) {
      const operation = {
        'messaging.system': scope,
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
        'messaging.destination.name': workspaceId,
      }
      const around = behind(api.context.active(), parent)
      const attributes = { ...operation, 'messaging.message.id': eventId, 'posthorn.event.type': eventType }
      const span = tracer.startSpan(`publish ${workspaceId}`, { kind: api.SpanKind.PRODUCER, attributes }, around)
      return followed<PublishEnd>(span, around, ({ result, seconds }) => {
        const failure: Attributes = result === 'failed' ? { 'error.type': 'failed' } : {}
        span.setAttributes({ ...failure, 'posthorn.publish.result': result })
        if (result === 'failed') span.setStatus({ code: api.SpanStatusCode.ERROR })
        operations.record(seconds, { ...operation, ...failure })
        if (result === 'stored' || result === 'failed') messages.add(1, { ...operation, ...failure })
      })
    },

    attempt({ workspaceId, eventId, eventType, endpointId, attemptId, attemptNumber, method, url, parent }) {
      const request = { 'http.request.method': method, ...serverOf(url) }
      const attributes = {
        ...request,
        'url.full': withoutQuery(url),
        'messaging.message.id': eventId,
        'posthorn.workspace.id': workspaceId,
        'posthorn.event.type': eventType,
        'posthorn.endpoint.id': endpointId,
        'posthorn.attempt.id': attemptId,
        ...(attemptNumber > 1 && { 'http.request.resend_count': attemptNumber - 1 }),
      }
      const around = behind(api.ROOT_CONTEXT, parent)
      const span = tracer.startSpan(method, { kind: api.SpanKind.CLIENT, attributes }, around)
      return followed<AttemptEnd>(span, around, ({ status, error, seconds }) => {
        const failure = error ?? (status !== null && status >= 400 ? String(status) : null)
        const outcome: Attributes = {
          ...(status !== null && { 'http.response.status_code': status }),
          ...(failure !== null && { 'error.type': failure }),
        }
        span.setAttributes(outcome)
        if (failure !== null) span.setStatus({ code: api.SpanStatusCode.ERROR })
        // A plugin that failed left nothing to send.
        if (error !== 'plugin_error' && error !== 'busy') requests.record(seconds, { ...request, ...outcome })
      })
    },
  }
}

/** W3C Trace Context, version 00. */
function traceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function spanContext(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function serverOf(text: string): Attributes {
  const { hostname, port, protocol } = new URL(text) // an endpoint's url was checked when it was written
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** A query may hold a token of the receiver's. */
function withoutQuery(text: string): string {
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`
}
