import { context, metrics, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { openTelemetry } from '../../src/otel.ts'
import type { Options } from '../../src/options.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const url = 'https://shop.test:8443/hooks?token=t0ken'

const spanExporter = new InMemorySpanExporter()
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })
const meters = new MeterProvider({ readers: [reader] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] }))
metrics.setGlobalMeterProvider(meters)

beforeEach(async () => {
  await reader.forceFlush()
  spanExporter.reset()
  metricExporter.reset()
})
afterAll(() => meters.shutdown())

const spans = () => spanExporter.getFinishedSpans()
const ofKind = (kind: SpanKind) => spans().filter((span) => span.kind === kind)

async function measured(name: string) {
  await reader.forceFlush()
  const all = metricExporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: found }) => found))
  const metric = all.find(({ descriptor }) => descriptor.name === name)!
  return {
    unit: metric.descriptor.unit,
    points: metric.dataPoints.map(({ attributes, value }) => ({ attributes, value })),
  }
}

async function instance(options: Options = {}) {
  const posthorn = createTestPosthorn({ telemetry: await openTelemetry(), logger: silent, ...options })
  await posthorn.endpoints.create('default', { id: 'shop', request: { url, timeout: 3000 }, events: ['*'] })
  return posthorn
}

describe('the spans of an event', () => {
  test('go from the host by way of storage to each attempt, in one trace', async () => {
    const posthorn = await instance()
    posthorn.receiver(url).answers(500, 204)
    let request: Span | undefined
    const event = await trace.getTracer('host').startActiveSpan('GET /checkout', async (span) => {
      request = span
      const made = await posthorn.events.create('default', { event_type: 'order.created', data: {} })
      span.end()
      return made
    })
    await posthorn.advance('1h')

    const { traceId, spanId } = request!.spanContext()
    expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
    const [publish] = ofKind(SpanKind.PRODUCER)
    expect(publish).toMatchObject({ name: 'publish default', parentSpanContext: { spanId } })
    expect(publish!.attributes).toEqual({
      'messaging.system': 'posthorn',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'default',
      'messaging.message.id': event.id,
      'posthorn.event.type': 'order.created',
      'posthorn.publish.result': 'stored',
    })

    const attempts = ofKind(SpanKind.CLIENT)
    const ids = (await posthorn.attempts.list('default', { sort: 'id.asc' })).data.map(({ id }) => id)
    const common = {
      'http.request.method': 'POST',
      'server.address': 'shop.test',
      'server.port': 8443,
      'url.full': 'https://shop.test:8443/hooks',
      'messaging.message.id': event.id,
      'posthorn.workspace.id': 'default',
      'posthorn.event.type': 'order.created',
      'posthorn.endpoint.id': 'shop',
    }
    expect(attempts.map(({ attributes }) => attributes)).toEqual([
      { ...common, 'posthorn.attempt.id': ids[0], 'http.response.status_code': 500, 'error.type': '500' },
      { ...common, 'posthorn.attempt.id': ids[1], 'http.response.status_code': 204, 'http.request.resend_count': 1 },
    ])
    for (const span of attempts) {
      expect(span).toMatchObject({
        name: 'POST',
        parentSpanContext: { spanId: publish!.spanContext().spanId, isRemote: true },
      })
    }
    expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
    expect(posthorn.deliveries.map(({ headers }) => headers['traceparent'])).toEqual(
      attempts.map((span) => `00-${traceId}-${span.spanContext().spanId}-01`),
    )
  })

  test('belong to the request that an async source accepted', async () => {
    const posthorn = await instance()
    await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
    const body = '{"event_type":"x","data":{}}'
    await trace.getTracer('host').startActiveSpan('POST /in', async (span) => {
      await posthorn.gateway.fetch(new Request('http://gateway.test/in', { method: 'POST', body }))
      span.end()
    })
    await posthorn.drain()
    const [accepted] = ofKind(SpanKind.INTERNAL)
    const [publish] = ofKind(SpanKind.PRODUCER)
    const [attempt] = ofKind(SpanKind.CLIENT)
    expect(publish!.parentSpanContext?.spanId).toBe(accepted!.spanContext().spanId)
    expect(attempt!.parentSpanContext?.spanId).toBe(publish!.spanContext().spanId)
  })

  test('begin a trace of their own where the host has none', async () => {
    const posthorn = await instance()
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(2)
    expect(spans()).toHaveLength(4)
  })

  test('tell what kept an attempt from an answer', async () => {
    const posthorn = await instance()
    posthorn.receiver(url).answers('hang', 'reset')
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.advance('5m')
    expect(ofKind(SpanKind.CLIENT).map(({ attributes }) => attributes['error.type'])).toEqual(['timeout', 'failed'])
  })

  test('of a seen unique_id and of a storage that refuses say so', async () => {
    const { memory } = await import('../../adapters/memory/index.ts')
    const { PosthornError } = await import('../../src/errors.ts')
    const store = memory()
    let down = false
    const ingest: typeof store.events.ingest = async (entries, options) => {
      if (down) throw new PosthornError('unavailable', 'down')
      return await store.events.ingest(entries, options)
    }
    const posthorn = await instance({ storage: { ...store, events: { ...store.events, ingest } } })
    const publish = () => posthorn.events.create('default', { event_type: 'x', data: {}, unique_id: 'once' })
    await publish()
    await publish()
    down = true
    await expect(publish()).rejects.toThrow('down')
    expect(ofKind(SpanKind.PRODUCER).map(({ attributes }) => attributes['posthorn.publish.result'])).toEqual([
      'stored',
      'duplicate',
      'failed',
    ])
    expect(ofKind(SpanKind.PRODUCER).at(-1)!.status.code).toBe(SpanStatusCode.ERROR)
  })
})

describe('the metrics', () => {
  test('have the names, units and attributes of the semantic conventions', async () => {
    const posthorn = await instance()
    posthorn.receiver(url).answers(200, 'hang', 200)
    for (let n = 0; n < 2; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.advance('5m')
    const operation = {
      'messaging.system': 'posthorn',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'default',
    }
    expect(await measured('messaging.client.sent.messages')).toEqual({
      unit: '{message}',
      points: [{ attributes: operation, value: 2 }],
    })
    expect(await measured('messaging.client.operation.duration')).toMatchObject({
      unit: 's',
      points: [{ attributes: operation, value: { count: 2 } }],
    })
    const request = { 'http.request.method': 'POST', 'server.address': 'shop.test', 'server.port': 8443 }
    expect(await measured('http.client.request.duration')).toMatchObject({
      unit: 's',
      points: [
        {
          attributes: { ...request, 'http.response.status_code': 200 },
          value: {
            count: 2,
            buckets: { boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
          },
        },
        { attributes: { ...request, 'error.type': 'timeout' }, value: { count: 1, sum: 3 } },
      ],
    })
  })
})

test('without telemetry nothing is sent that tells of a trace', async () => {
  const posthorn = createTestPosthorn()
  await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
  await trace.getTracer('host').startActiveSpan('GET /', async (span) => {
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    span.end()
  })
  await posthorn.drain()
  expect(posthorn.deliveries[0]!.headers).not.toHaveProperty('traceparent')
  expect(spans()).toHaveLength(1)
})
