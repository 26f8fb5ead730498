import { inspect } from 'node:util'

import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import pg from 'pg'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import { redis } from '../../../adapters/redis/index.ts'
import { definePlugin } from '../../../src/contracts/plugin.ts'
import type { PluginInput } from '../../../src/schema/plugin.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import { openTelemetry } from '../../../src/otel.ts'
import { createTestPosthorn } from '../../../src/testing/test-posthorn.ts'
import { clients as postgresClients, schemasOf } from '../../support/postgres.ts'
import { clients as redisClients, describeRedis, freshNamespace, sharedRedis } from '../../support/redis.ts'
import { keyNamed } from './keys.ts'

const spans = new InMemorySpanExporter()
const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 })
const meters = new MeterProvider({ readers: [reader] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
metrics.setGlobalMeterProvider(meters)
afterAll(() => meters.shutdown())

const bytes = (byte: number, length = 32) => Buffer.alloc(length, byte).toString('base64')
const signed = ['github', 'gitlab', 'shopify', 'slack', 'stripe', 'zendesk'] as const

/** A secret of each kind. Their marks are looked for, so that a part of a secret is found too. */
const secrets = {
  authorization: 'Bearer planted-authorization-0001',
  cookie: 'session=planted-cookie-0002',
  'x-api-key': 'planted-api-key-0003',
  'x-auth-token': 'planted-auth-token-0004',
  'api-key': 'planted-key-0005',
  'x-signature-key': 'planted-signature-key-0006',
  whsec: `whsec_${bytes(0x41)}`,
  ending: `whsec_${bytes(0x42)}`,
  whsk: `whsk_${bytes(0x43)}`,
  signing: 'planted-signing-secret-0007',
  password: 'planted-password-0008',
  key: 'planted-key-auth-0009',
  hmac: 'planted-hmac-0010',
  okta: 'planted-okta-0011',
  openai: `whsec_${bytes(0x44)}`,
  standard: `whsec_${bytes(0x45)}`,
  custom: 'planted-custom-0012',
  nested: 'planted-nested-0013',
  ...Object.fromEntries(signed.map((name, i) => [name, `planted-${name}-01${i}`])),
}
const url = 'https://shop.test/hooks'
const headerNames = ['authorization', 'cookie', 'x-api-key', 'x-auth-token', 'api-key', 'x-signature-key'] as const

const custom = definePlugin({
  name: 'custom',
  sides: ['outbound'],
  secrets: ['token', 'accounts[].password'],
  config: v.object({ token: v.string(), accounts: v.array(v.object({ password: v.string() })) }),
  prepare: () => ({
    outbound() {
      throw new Error('the plugin broke')
    },
  }),
})

/** Plants all secrets, works with them, and answers everything that anybody may read of it. */
async function wholeOutput(storage: Storage): Promise<string> {
  const output: string[] = []
  const say = (...parts: unknown[]) =>
    void output.push(...parts.map((part) => (typeof part === 'string' ? part : inspect(part, { depth: 20 }))))
  const logger = { debug: say, info: say, warn: say, error: say }
  spans.reset()
  measured.reset()
  const telemetry = await openTelemetry()
  const keys = [keyNamed('2026-11')]
  const posthorn = createTestPosthorn({ storage, logger, telemetry, plugins: [custom], secrets: { keys } })
  for (const name of ['event', 'attempt', 'exhausted'] as const) posthorn.on(name, say)
  const ask = async (method: string, path: string, body?: unknown) => {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await posthorn.admin.fetch(new Request(`http://admin.test${path}`, init))
    say(await answer.text(), [...answer.headers])
    return answer.status
  }
  const headers = Object.fromEntries(headerNames.map((name) => [name, secrets[name]]))
  const retry = { config: { attempts: [0, 1] } }
  await posthorn.endpoints.create('default', { id: 'shop', request: { url, headers }, events: ['*'], retry })
  const expires_at = posthorn.clock.now() + 60_000
  const outbound = [
    {
      name: 'standard-webhooks',
      config: { secrets: [secrets.whsec, secrets.whsk, { secret: secrets.ending, expires_at }] },
    },
    { name: 'webhookx-signature', config: { signing_secret: secrets.signing } },
  ]
  for (const plugin of outbound)
    await posthorn.plugins.create('default', { ...plugin, endpoint_id: 'shop' } as PluginInput)
  const provider = (name: string, provider_config: object) => ({
    name: 'connect-auth',
    config: { provider: name, provider_config },
  })
  const inbound = [
    { name: 'basic-auth', config: { username: 'shop', password: secrets.password } },
    { name: 'key-auth', config: { param_name: 'key', param_locations: ['header'], key: secrets.key } },
    { name: 'hmac-auth', config: { signature_header: 'x-signature', secret: secrets.hmac } },
    provider('okta', { authentication_field: 'x-okta', authentication_secret: secrets.okta }),
    provider('openai', { secret: secrets.openai }),
    provider('standard-webhooks', { secret: secrets.standard }),
    ...signed.map((name) => provider(name, { secret: (secrets as Record<string, string>)[name] })),
  ]
  for (const [i, plugin] of inbound.entries()) {
    await posthorn.sources.create('default', { id: `source-${i}`, config: { http: { path: `/${i}` } } })
    await posthorn.plugins.create('default', { ...plugin, source_id: `source-${i}` } as PluginInput)
    const answer = await posthorn.gateway.fetch(new Request(`http://in.test/${i}`, { method: 'POST', body: '{}' }))
    expect(answer.status).toBe(401)
    say(await answer.text())
  }

  const { id } = await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  posthorn.receiver(url).answers(500, 200)
  await posthorn.advance('1m')
  expect(posthorn.deliveries.map((delivery) => delivery.headers['x-auth-token'])).toEqual([
    secrets['x-auth-token'],
    secrets['x-auth-token'],
  ])
  const config = { token: secrets.custom, accounts: [{ password: secrets.nested }] }
  await posthorn.plugins.create('default', { name: 'custom', endpoint_id: 'shop', config })
  await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  await posthorn.advance('1m')

  // What is kept of requests with a key, and what a repeat is answered.
  const keyed = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'idempotency-key': path }, body: JSON.stringify(body) }
    const post = () => posthorn.admin.fetch(new Request(`http://admin.test${path}`, init))
    const [first, again] = [await post(), await post()]
    expect([first.ok, again.headers.get('idempotent-replayed')]).toEqual([true, 'true'])
    expect(found(await first.text())).not.toEqual([]) // the one answer in clear
    say(await again.text())
  }
  await keyed('/endpoints', { id: 'keyed', request: { url, headers }, enabled: false })
  await keyed('/plugins', { ...outbound[0], endpoint_id: 'keyed' })
  await keyed('/endpoints/keyed/secret/rotate', { secret: secrets.openai, overlap_seconds: 60 })

  // Reads, refusals and reports.
  for (const path of [
    '/endpoints',
    '/endpoints/shop',
    '/plugins',
    '/attempts',
    `/events/${id}/explain`,
    '/openapi.json',
  ]) {
    expect(await ask('GET', path)).toBe(200)
  }
  for (const attempt of (await posthorn.attempts.list('default')).data) await ask('GET', `/attempts/${attempt.id}`)
  for (const query of ['', '?secrets=masked', '?secrets=sealed']) await ask('POST', `/config/dump${query}`)
  expect(await ask('POST', '/plugins', { ...outbound[1], endpoint_id: 'shop' })).toBe(400)
  const broken = { name: 'standard-webhooks', endpoint_id: 'shop', config: { secrets: [`${secrets.whsec}!`] } }
  expect(await ask('POST', '/plugins', broken)).toBe(400)
  expect(await ask('POST', '/endpoints/shop/secret/rotate', { secret: secrets.whsk, overlap_seconds: -1 })).toBe(400)
  for (const path of ['/', '/health', '/metrics']) {
    say(await (await posthorn.statusHandler.fetch(new Request(`http://status.test${path}`))).text())
  }
  say(await posthorn.secrets.status(), await posthorn.secrets.reseal())
  expect((await posthorn.secrets.status()).clear).toBe(0)
  await reader.forceFlush()
  const told = spans
    .getFinishedSpans()
    .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
  expect(told.length).toBeGreaterThan(3)
  expect(measured.getMetrics()).not.toEqual([])
  say(JSON.stringify(told), JSON.stringify(measured.getMetrics()))
  return output.join('\n')
}

/** A planted secret is found by itself, and a key by its digits without the padding, which masks show parts of. */
function found(text: string): readonly string[] {
  return Object.entries(secrets)
    .filter(
      ([, secret]) =>
        text.includes(secret) || text.includes(secret.replace(/^(wh\w+_|Bearer |session=)/, '').replace(/=+$/, '')),
    )
    .map(([name]) => name)
}

test('more than twenty kinds are planted, and would be found', () => {
  expect(Object.keys(secrets).length).toBeGreaterThan(20)
  expect(found(JSON.stringify(secrets))).toEqual(Object.keys(secrets))
})

test('on memory no planted secret is in anything that a run tells', async () => {
  const storage = memory()
  const output = await wholeOutput(storage)
  expect(output).toContain('the plugin broke')
  expect(output).toContain('whsec_…')
  expect(found(output)).toEqual([])
  expect(found(JSON.stringify(await storage.configuration('default')))).toEqual([])
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl') ?? '' })
  afterAll(() => pool.end())

  test('no planted secret is in what a run tells, or in any table', async () => {
    const [{ open }] = postgresClients as readonly [(typeof postgresClients)[number]]
    const connected = open(inject('postgresUrl')!) // skipped where it is null
    const schemas = schemasOf(connected.handle)
    const { subject, close } = await schemas.open()
    const output = await wholeOutput(subject)
    const tables = await pool.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    )
    const texts = await Promise.all(
      // Tables of other suites may go meanwhile.
      tables.rows.map(({ name }) => pool.query<{ t: string }>(`select t::text as t from ${name} t`).catch(() => null)),
    )
    const dump = texts.flatMap((result) => result?.rows.map(({ t }) => t) ?? []).join('\n')
    expect(dump).toContain('sealed:v1:2026-11:')
    expect([found(output), found(dump)]).toEqual([[], []])
    await close()
    await schemas.drop()
    await connected.close()
  })
})

describeRedis('on Redis', () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  beforeAll(async () => (server = await sharedRedis()))
  afterAll(() => server.stop())

  const reads: Readonly<Record<string, (key: string) => readonly [string, ...string[]]>> = {
    string: (key) => ['GET', key],
    hash: (key) => ['HGETALL', key],
    list: (key) => ['LRANGE', key, '0', '-1'],
    set: (key) => ['SMEMBERS', key],
    zset: (key) => ['ZRANGE', key, '0', '-1'],
    stream: (key) => ['XRANGE', key, '-', '+'],
  }

  test('no planted secret is in what a run tells, or under any key', async () => {
    const { client, command, close } = await redisClients[0]!.open(server.url)
    const namespace = freshNamespace()
    const output = await wholeOutput(redis(client, { namespace }))
    const keys = ((await command('KEYS', '*')) as string[]).filter((key) => key.includes(namespace))
    expect(keys.length).toBeGreaterThan(20)
    const values = await Promise.all(
      keys.map(async (key) => command(...reads[String(await command('TYPE', key))]!(key)).catch(() => null)),
    )
    const dump = JSON.stringify([keys, values])
    expect(dump).toContain('sealed:v1:2026-11:')
    expect([found(output), found(dump)]).toEqual([[], []])
    close()
  })
})
