import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { version } from '../../src/version.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const url = 'https://shop.test/'

async function scrape(posthorn: TestPosthorn, path = '/metrics') {
  const response = await posthorn.statusHandler.fetch(new Request(`http://status.test${path}`))
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return await response.text()
}

/** The values by name and labels. */
function values(text: string): Record<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

describe('a scrape', () => {
  test('is the text format of Prometheus: families with help and type, then their samples', async () => {
    const posthorn = createTestPosthorn()
    await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    const text = await scrape(posthorn, '/status/metrics/')
    expect(text.endsWith('\n')).toBe(true)
    const families = text.split('# HELP ').slice(1)
    const names = families.map((family) => /^\S+/.exec(family)![0])
    expect(new Set(names).size).toBe(names.length)
    for (const [i, family] of families.entries()) {
      const [, typeLine, ...samples] = family.trimEnd().split('\n')
      expect(typeLine).toMatch(new RegExp(`^# TYPE ${names[i]} (counter|gauge|histogram)$`))
      for (const line of samples) {
        expect(line).toMatch(/^posthorn_[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[\d.e+-]+$/)
        expect(line.startsWith(names[i]!)).toBe(true)
      }
      if (names[i]!.endsWith('_total')) expect(typeLine).toMatch(/counter$/)
    }
  })

  test('tells what happened in this process', async () => {
    const posthorn = createTestPosthorn()
    const { id } = await posthorn.endpoints.create('default', {
      request: { url, timeout: 3000 },
      events: ['*'],
      retry: { config: { attempts: [0, 60] } },
    })
    await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
    posthorn.receiver(url).answers(200, 'hang', 500, 410)
    for (let n = 0; n < 2; n++) {
      await posthorn.events.create('default', { event_type: 'x', data: {} })
      await posthorn.advance('2m')
    }
    await posthorn.events.retry('default', (await posthorn.events.list('default')).data[0]!.id, id)
    await posthorn.drain()
    const body = '{"event_type":"x","data":{}}'
    await posthorn.gateway.fetch(new Request('http://gateway.test/in', { method: 'POST', body }))
    await posthorn.gateway.fetch(new Request('http://gateway.test/no', { method: 'POST', body }))
    const text = await scrape(posthorn)
    expect(text).toContain(`posthorn_info{version="${version}",runtime="`)
    expect(values(text)).toMatchObject({
      posthorn_uptime_seconds: 240,
      'posthorn_up{component="storage"}': 1,
      'posthorn_up{component="queue"}': 1,
      'posthorn_up{component="inbox"}': 1,
      posthorn_inbound_requests_total: 2,
      posthorn_inbound_failed_requests_total: 1,
      posthorn_events_total: 2,
      posthorn_outbound_requests_total: 4,
      posthorn_outbound_requests_in_flight: 0,
      'posthorn_attempts_total{status="SUCCESSFUL",error_code=""}': 1,
      'posthorn_attempts_total{status="FAILED",error_code="TIMEOUT"}': 1,
      'posthorn_attempts_total{status="FAILED",error_code=""}': 2,
      'posthorn_attempt_duration_seconds_bucket{le="0.005"}': 3,
      'posthorn_attempt_duration_seconds_bucket{le="2.5"}': 3,
      'posthorn_attempt_duration_seconds_bucket{le="5"}': 4,
      'posthorn_attempt_duration_seconds_bucket{le="+Inf"}': 4,
      posthorn_attempt_duration_seconds_sum: 3,
      posthorn_attempt_duration_seconds_count: 4,
      posthorn_deliveries_exhausted_total: 2,
      'posthorn_endpoints_disabled_total{reason="gone"}': 1,
      'posthorn_endpoints_disabled_total{reason="breaker"}': 0,
      'posthorn_endpoints_disabled_total{reason="failing"}': 0,
      'posthorn_overloaded_total{what="gateway"}': 0,
      posthorn_queue_jobs: 0,
      posthorn_queue_backlog_seconds: 0,
      posthorn_inbox_messages: 1,
    })
  })

  test('has as many series for many endpoints as for one', async () => {
    const posthorn = createTestPosthorn()
    const names = async () => Object.keys(values(await scrape(posthorn)))
    const one = async (n: number) => {
      const input = { request: { url: `https://shop-${n}.test/` }, events: [`type.${n}`] }
      await posthorn.endpoints.create('default', input)
      await posthorn.events.create('default', { event_type: `type.${n}`, data: {} })
    }
    await one(0)
    await posthorn.drain()
    const before = await names()
    for (let n = 1; n <= 30; n++) await one(n)
    await posthorn.drain()
    expect(await names()).toEqual(before)
  })

  test('tells what is known when the storage is down or does not answer', async () => {
    const store = memory()
    const queue = { ...store.queue, stats: () => new Promise<never>(() => {}) }
    const stats = () => Promise.reject(new Error('down'))
    const posthorn = createTestPosthorn({ storage: { ...store, queue, stats }, logger: silent })
    const answer = scrape(posthorn)
    await posthorn.clock.advance('5s')
    const found = values(await answer)
    expect(found).toMatchObject({
      'posthorn_up{component="storage"}': 0,
      'posthorn_up{component="queue"}': 0,
      'posthorn_up{component="inbox"}': 1,
      posthorn_events_total: 0,
    })
    expect(found).not.toHaveProperty('posthorn_queue_jobs')
  })
})
