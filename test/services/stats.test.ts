import { describe, expect, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createAdminClient } from '../../src/client.ts'
import type { Options } from '../../src/options.ts'
import type { Attempt } from '../../src/schema/attempt.ts'
import type { StatsBucket } from '../../src/schema/stats.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const hourMs = 3_600_000
const names = ['succeeded', 'failed', 'exhausted', 'canceled'] as const

function total(buckets: readonly StatsBucket[]) {
  return names.map((name) => buckets.reduce((sum, bucket) => sum + bucket[name], 0))
}

/** An endpoint that fails now and then, with three tries each. */
async function shop(options: Options = {}) {
  const posthorn = createTestPosthorn({ logger: { debug() {}, info() {}, warn() {}, error() {} }, ...options })
  const endpoint = (id: string, attempts = [0, 5, 5]) =>
    posthorn.endpoints.create('default', {
      id,
      request: { url: `https://${id}.test/` },
      events: ['*'],
      retry: { config: { attempts } },
    })
  const publish = async (type: string, times = 1) => {
    for (let n = 0; n < times; n++) await posthorn.events.create('default', { event_type: type, data: {} })
    await posthorn.advance('1m')
  }
  return { posthorn, endpoint, publish }
}

test('memory sums outcomes a few at a time, so that the event loop is not held for long', async () => {
  const storage = memory()
  const { posthorn, endpoint } = await shop({ storage })
  await endpoint('one')
  const events = Array.from({ length: 250 }, () => ({ event_type: 'paid', data: {} }))
  await posthorn.events.createMany('default', events)
  await posthorn.tick()
  expect(await storage.statistics.fold()).toBeLessThan(100)
  expect(total((await posthorn.stats('default')).data)).toEqual([250, 0, 0, 0])
})

onEveryEngine((fresh) => {
  test('sums equal the attempts, by time and by group, after rollups too; test deliveries are left out', async () => {
    const { posthorn, endpoint, publish } = await shop({ storage: await fresh() })
    await endpoint('one')
    await endpoint('two')
    posthorn.receiver('https://two.test/').answers(500, 500, 500, 404, 200)
    await publish('paid', 3)
    const tested = await posthorn.endpoints.test('default', 'one')
    await publish('late', 2)
    await posthorn.endpoints.update('default', 'two', { enabled: false })
    await publish('paid')

    const attempts: Attempt[] = []
    for await (const attempt of posthorn.attempts.each('default')) {
      if (attempt.id !== tested.id) attempts.push(attempt)
    }
    const of = (status: string, more: Partial<Attempt> = {}) => {
      const wanted = Object.entries({ ...more, status }) as [keyof Attempt, unknown][]
      return attempts.filter((attempt) => wanted.every(([name, value]) => attempt[name] === value)).length
    }
    const all = [of('SUCCESSFUL'), of('FAILED'), of('FAILED', { exhausted: true }), of('CANCELED')]
    expect(all[1]).toBe(4)
    expect(total((await posthorn.stats('default')).data)).toEqual(all)
    expect(total((await posthorn.stats('default', { step: 'minute' })).data)).toEqual(all)
    expect(total((await posthorn.stats('default', { step: 'day' })).data)).toEqual(all)
    expect(total((await posthorn.instance.stats()).data)).toEqual(all)

    const { data, groups = [] } = await posthorn.stats('default', { group_by: 'endpoint' })
    expect(total(data)).toEqual(all)
    expect(groups.map(({ group, data: own }) => [group, total(own)])).toEqual([
      ['two', [of('SUCCESSFUL', { endpoint_id: 'two' }), 4, of('FAILED', { endpoint_id: 'two', exhausted: true }), 0]],
      ['one', [of('SUCCESSFUL', { endpoint_id: 'one' }), 0, 0, 0]],
    ])
    const byType = await posthorn.stats('default', { group_by: 'event_type', endpoint_id: 'one' })
    expect(byType.groups?.map(({ group, data: own }) => [group, total(own)[0]])).toEqual([
      ['paid', 4],
      ['late', 2],
    ])
    const late = await posthorn.stats('default', { event_type: 'late' })
    const classes = late.data.find(({ succeeded }) => succeeded > 0)
    expect([classes?.by_class['2xx'], classes?.p50]).toEqual([4, expect.any(Number)])
    const byWorkspace = await posthorn.instance.stats({ group_by: 'workspace' })
    expect(byWorkspace.groups?.map(({ group }) => group)).toEqual(['default'])

    await posthorn.advance('100d')
    await posthorn.tick()
    const from = posthorn.clock.now() - 120 * 24 * hourMs
    expect(total((await posthorn.stats('default', { step: 'day', from })).data)).toEqual(all)
  })

  test('health tells of the last tries, of what waits, of rates and pauses', async () => {
    const { posthorn, endpoint, publish } = await shop({ storage: await fresh() })
    await endpoint('one', [0, 5])
    const fresher = { last_success_at: null, last_failure: null, consecutive_failures: 0, due_now: 0 }
    expect(await posthorn.endpoints.health('default', 'one')).toEqual({
      endpoint_id: 'one',
      enabled: true,
      ...fresher,
      success_rate_1h: null,
      success_rate_24h: null,
      paused_until: null,
      suspect: false,
    })
    await publish('paid')
    posthorn.receiver('https://one.test/').answers(503, 500)
    await publish('paid')
    await posthorn.events.create('default', { event_type: 'paid', data: {} })
    const { data } = await posthorn.attempts.list('default', { status: 'FAILED' })
    const health = await posthorn.endpoints.health('default', 'one')
    expect(health).toMatchObject({
      last_failure: { at: data[0]!.updated_at, attempt_id: data[0]!.id, error_code: null, reason: 'status 500' },
      consecutive_failures: 2,
      due_now: 1,
      success_rate_1h: 1 / 3,
      success_rate_24h: 1 / 3,
      suspect: false,
    })
    expect(health.last_success_at).toBeLessThan(health.last_failure!.at)
    await posthorn.advance('1m')
    posthorn.receiver('https://one.test/').answers('reset')
    await publish('paid')
    expect(await posthorn.endpoints.health('default', 'one')).toMatchObject({ suspect: true, due_now: 0 })
    await expect(posthorn.endpoints.health('default', 'none')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('what statistics are asked', () => {
  const reasons = (...texts: string[]) => ({ code: 'validation', fields: { '@params': texts } })

  test('buckets are aligned, empty ones included, and end with that of now', async () => {
    const { posthorn } = await shop({})
    const now = posthorn.clock.now()
    const { data } = await posthorn.stats('default', { step: 'minute', from: now - 5 * 60_000 + 1 })
    expect(data.map(({ time }) => time)).toEqual([5, 4, 3, 2, 1, 0].map((ago) => now - ago * 60_000))
    expect(data[0]).toEqual({
      time: now - 5 * 60_000,
      succeeded: 0,
      failed: 0,
      exhausted: 0,
      canceled: 0,
      p50: null,
      p95: null,
      p99: null,
      by_class: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 },
    })
    expect((await posthorn.stats('default')).data).toHaveLength(24)
    expect((await posthorn.stats('default', { step: 'day' })).data).toHaveLength(30)
    expect(await posthorn.stats('default', { from: now - hourMs, to: now, group_by: 'endpoint' })).toMatchObject({
      data: [{ time: now - hourMs }],
      groups: [],
    })
  })

  test('what cannot be told is refused by name', async () => {
    const { posthorn } = await shop({})
    const now = posthorn.clock.now()
    const stats = (query: object) => posthorn.stats('default', query)
    await expect(stats({ step: 'minute', from: now - 7 * hourMs })).rejects.toMatchObject(
      reasons('from: minutes are kept for 6 hours; ask for hour or day'),
    )
    await expect(stats({ from: now - 92 * 24 * hourMs })).rejects.toMatchObject(
      reasons(
        'from: hours are kept for 90 days; ask for day',
        `step: 2209 buckets from from to to; at most 1500 are told`,
      ),
    )
    await expect(stats({ step: 'day', from: now, to: now - 24 * hourMs })).rejects.toMatchObject(
      reasons('to: must be later than from'),
    )
    await expect(stats({ step: 'minute', event_type: 'x' })).rejects.toMatchObject(
      reasons('step: minutes are not counted by event type; ask for hour or day'),
    )
    await expect(stats({ step: 'week' })).rejects.toMatchObject(
      reasons('step: value is not one of the allowed values ["minute","hour","day"]'),
    )
    await expect(stats({ group_by: 'workspace' })).rejects.toMatchObject({ code: 'validation' })
    await expect(posthorn.stats('none')).rejects.toMatchObject({ code: 'unknown_workspace' })
  })

  test('HTTP and the client tell the same, and authorize hears what is asked', async () => {
    const heard: unknown[] = []
    const authorize = (_: Request, { operation, workspace }: { operation: string; workspace: object | null }) => {
      heard.push([operation, workspace && 'a workspace'])
      return true
    }
    const { posthorn, endpoint, publish } = await shop({ admin: { authorize } })
    await endpoint('one')
    await publish('paid', 2)
    const send = (url: string, init: RequestInit) => posthorn.admin.fetch(new Request(url, init))
    const client = createAdminClient({ baseUrl: 'http://admin.test', fetch: send })
    const query = { step: 'minute', endpoint_id: 'one', group_by: 'endpoint' } as const
    expect(await client.stats('default', query)).toEqual(await posthorn.stats('default', query))
    expect(await client.instance.stats()).toEqual(await posthorn.instance.stats())
    expect(await client.endpoints.health('default', 'one')).toEqual(await posthorn.endpoints.health('default', 'one'))
    expect(await client.instance.processes()).toEqual(await posthorn.instance.processes())
    expect(heard).toEqual([
      ['stats', 'a workspace'],
      ['instance.stats', null],
      ['endpoints.health', 'a workspace'],
      ['instance.processes', null],
    ])
    const refused = await send('http://admin.test/stats?step=minute&from=abc', {})
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        message: 'Request Validation',
        error: {
          message: 'request validation',
          fields: { '@params': ['from: value abc: an invalid integer: invalid syntax'] },
        },
      },
    ])
  })
})

test('processes are told while they work, and five minutes longer', async () => {
  const { posthorn, endpoint, publish } = await shop({})
  expect(await posthorn.instance.processes()).toEqual([])
  await endpoint('one')
  await publish('paid', 2)
  await posthorn.tick()
  const [process, ...others] = await posthorn.instance.processes()
  expect(others).toEqual([])
  expect(process).toMatchObject({ version: expect.any(String), runtime: expect.any(String), in_flight: 0, sent: 2 })
  await posthorn.clock.advance(299_000)
  expect(await posthorn.instance.processes()).toHaveLength(1)
  await posthorn.clock.advance(2_000)
  expect(await posthorn.instance.processes()).toEqual([])
})

test('bodies of requests are kept where that was asked for, and reasons fit in one line', async () => {
  const { posthorn } = await shop({ gateway: { captureBytes: 8 } })
  const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  const long = 'x'.repeat(5000)
  const send = (body: string) => posthorn.gateway.fetch(new Request('http://in.test/in', { method: 'POST', body }))
  await send('{"event_type":"paid","data":{}}')
  await send(`{"event_type":"${long}","data":{}}`)
  await vi.waitFor(async () => {
    const { data } = await posthorn.sources.requests('default', source.id)
    expect(data.map(({ body }) => body)).toEqual(['{"event_', '{"event_'])
    expect(data[0]!.reason).toMatch(/^Request Validation: .*event_type/)
    expect(data[0]!.reason!.length).toBeLessThanOrEqual(500)
  })
})

test('the last 50 requests of a source are told by the process that took them', async () => {
  const { posthorn } = await shop({})
  const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  const send = (body: string) => posthorn.gateway.fetch(new Request('http://in.test/in', { method: 'POST', body }))
  for (let n = 0; n < 51; n++) await send('no JSON')
  const stored = await send('{"event_type":"paid","data":{}}')
  const { data } = await posthorn.sources.requests('default', source.id)
  expect(data).toHaveLength(50)
  expect(data.slice(0, 2)).toEqual([
    {
      at: posthorn.clock.now(),
      method: 'POST',
      status: 200,
      latency: expect.any(Number),
      event_id: stored.headers.get('webhook-event-id'),
      reason: null,
      body: null,
    },
    {
      at: posthorn.clock.now(),
      method: 'POST',
      status: 400,
      latency: expect.any(Number),
      event_id: null,
      reason: expect.stringContaining('JSON'),
      body: null,
    },
  ])
  await expect(posthorn.sources.requests('default', 'none')).rejects.toMatchObject({ code: 'not_found' })
})
