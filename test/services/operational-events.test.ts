import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { Options } from '../../src/options.ts'
import { faulty } from '../../src/testing/faulty.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const shop = 'https://shop.test/'
const duty = 'https://duty.test/'

function instance(options: Options = {}): TestPosthorn {
  return createTestPosthorn({ logger, operations: { workspace: 'ops' }, ...options })
}

async function endpoints(posthorn: TestPosthorn): Promise<void> {
  await posthorn.workspaces.ensure({ id: 'ops' })
  const retry = { config: { attempts: [0] } }
  await posthorn.endpoints.create('default', { id: 'shop', request: { url: shop }, events: ['*'], retry })
  await posthorn.endpoints.create('ops', { id: 'duty', request: { url: duty }, events: ['posthorn.**'], retry })
}

const changed = 'posthorn.configuration.changed'

/** All operational events, oldest first, as type and data. */
async function published(posthorn: TestPosthorn): Promise<[string, Record<string, unknown>][]> {
  const events: [string, Record<string, unknown>][] = []
  for await (const event of posthorn.events.each('ops', { sort: 'id.asc' })) {
    events.push([event.event_type, event.data as Record<string, unknown>])
  }
  return events
}

/** Those of what went wrong. */
async function told(posthorn: TestPosthorn): Promise<[string, Record<string, unknown>][]> {
  return (await published(posthorn)).filter(([type]) => type !== changed)
}

const types = (events: readonly [string, unknown][]): string[] => events.map(([type]) => type)

onEveryEngine((fresh) => {
  test('what goes wrong with deliveries is told once, and that it ended; nothing of the own workspace', async () => {
    const posthorn = instance({ storage: await fresh(), admin: { publicUrl: 'https://ops.test/admin' } })
    await endpoints(posthorn)
    posthorn.receiver(shop).answers(500, 410, 200)
    posthorn.receiver(duty).answers(500)
    const publish = () => posthorn.events.create('default', { event_type: 'paid', data: {} })
    const first = await publish()
    await posthorn.advance('1s')
    expect(types(await told(posthorn)), 'at once').toEqual(['posthorn.delivery.exhausted'])
    await publish()
    await posthorn.advance('2m')
    await posthorn.endpoints.update('default', 'shop', { enabled: true })
    await publish()
    await posthorn.advance('2m')
    await posthorn.tick()

    const events = await told(posthorn)
    expect(types(events).toSorted()).toEqual([
      'posthorn.delivery.exhausted',
      'posthorn.delivery.exhausted',
      'posthorn.endpoint.disabled',
      'posthorn.endpoint.recovered',
    ])
    const { data: attempts } = await posthorn.attempts.list('default', { event_id: first.id })
    const place = 'https://ops.test/admin/workspaces/default'
    expect(events[0]![1]).toEqual({
      workspace_id: 'default',
      endpoint_id: 'shop',
      event_id: first.id,
      event_type: 'paid',
      attempt_id: attempts[0]!.id,
      tries: 1,
      response_status: 500,
      error_code: null,
      reason: 'status 500',
      at: attempts[0]!.updated_at,
      links: {
        endpoint: `${place}/endpoints/shop`,
        event: `${place}/events/${first.id}`,
        attempt: `${place}/attempts/${attempts[0]!.id}`,
      },
    })
    const disabled = events.find(([type]) => type === 'posthorn.endpoint.disabled')![1]
    expect(disabled).toMatchObject({ endpoint_id: 'shop', reason: 'gone', exhausted_deliveries: 2 })
    const recovered = events.find(([type]) => type === 'posthorn.endpoint.recovered')![1]
    expect(recovered).toMatchObject({ endpoint_id: 'shop', troubled_since: disabled['at'] })
    const sent = posthorn.deliveries.filter(
      ({ url, headers }) => url === duty && headers['webhook-event-type'] !== changed,
    )
    expect(sent, 'sent like others').toHaveLength(4)
  })
})

test('an endpoint that the breaker disabled is told, though the breaker may be asked again', async () => {
  const posthorn = instance({ breaker: { minimum: 2 } })
  await endpoints(posthorn)
  posthorn.receiver(shop).answers(500)
  for (let n = 0; n < 3; n++) await posthorn.events.create('default', { event_type: 'paid', data: {} })
  await posthorn.advance('15m')
  await posthorn.tick()
  const events = (await told(posthorn)).filter(([type]) => type === 'posthorn.endpoint.disabled')
  expect(events).toEqual([[expect.any(String), expect.objectContaining({ endpoint_id: 'shop', reason: 'breaker' })]])
})

test('an endpoint that fails for days is told at half the time, and when it is disabled', async () => {
  const posthorn = instance({ deliver: { disableAfterDays: 2 } })
  await endpoints(posthorn)
  posthorn.receiver(shop).answers(500)
  for (let n = 0; n < 10; n++) await posthorn.events.create('default', { event_type: 'paid', data: {} })
  await posthorn.advance('50h')
  await posthorn.tick()
  const events = (await told(posthorn)).filter(([type]) => type.startsWith('posthorn.endpoint.'))
  const about = { workspace_id: 'default', endpoint_id: 'shop', exhausted_deliveries: 10 }
  expect(events).toEqual([
    ['posthorn.endpoint.failing', expect.objectContaining({ ...about, reason: null })],
    ['posthorn.endpoint.disabled', expect.objectContaining({ ...about, reason: 'failing' })],
  ])
})

test('changes of configuration are told with who made them, those of the own workspace are not', async () => {
  const posthorn = instance()
  await endpoints(posthorn)
  await posthorn.as('ann').endpoints.patch('default', 'shop', { paused: true })
  await posthorn.drain()
  const events = (await published(posthorn)).filter(([type]) => type === changed)
  const at = expect.any(Number) as number
  expect(events.map(([, data]) => data)).toEqual([
    { workspace_id: 'default', id: 'shop', operation: 'endpoints.create', actor: null, at },
    { workspace_id: 'default', id: 'shop', operation: 'endpoints.patch', actor: 'ann', at },
  ])
})

test('the workspace is made where it is not there, and nothing is told without the option', async () => {
  const storage = memory()
  for (const operations of [undefined, { workspace: 'ops' }]) {
    const posthorn = createTestPosthorn({ storage, logger, ...(operations && { operations }) })
    if (operations === undefined) {
      const retry = { config: { attempts: [0] } }
      await posthorn.endpoints.create('default', { id: 'shop', request: { url: shop }, events: ['*'], retry })
    }
    posthorn.receiver(shop).answers(500)
    await posthorn.events.create('default', { event_type: 'paid', data: {} })
    await posthorn.advance('3m')
    await posthorn.tick()
  }
  const posthorn = instance({ storage })
  expect(types(await told(posthorn))).toEqual(['posthorn.delivery.exhausted'])
})

test('a backlog that is due for more than five minutes is told once an hour', async () => {
  const posthorn = instance()
  await endpoints(posthorn)
  await posthorn.endpoints.update('default', 'shop', { rate_limit: { quota: 0, period: 60 } })
  await posthorn.events.create('default', { event_type: 'paid', data: {} })
  await posthorn.tick()
  for (let minute = 0; minute < 8; minute++) {
    await posthorn.clock.advance('1m')
    await posthorn.tick()
  }
  expect(await told(posthorn)).toEqual([
    ['posthorn.backlog.growing', expect.objectContaining({ queue_size: 1, age_seconds: 360 })],
  ])
})

test('the minute’s work is done at each minute that passes, though nothing but operational events needs it', async () => {
  const posthorn = instance()
  await endpoints(posthorn)
  await posthorn.drain()
  await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  for (let n = 0; n < 20; n++)
    await posthorn.gateway.fetch(new Request('http://in.test/in', { method: 'POST', body: '!' }))
  const start = posthorn.clock.now()
  await posthorn.advance('30m')
  const { data } = await posthorn.events.list('ops', { event_type: 'posthorn.source.refusing' })
  expect(data).toHaveLength(1)
  expect(data[0]!.created_at - start).toBeLessThanOrEqual(6 * 60_000)
  const { data: attempts } = await posthorn.attempts.list('ops', { event_id: data[0]!.id })
  expect(attempts).toMatchObject([{ status: 'SUCCESSFUL', attempted_at: data[0]!.created_at }])
})

test('a source that refuses more than half of five minutes is told, and again only after it was well', async () => {
  const posthorn = instance()
  await endpoints(posthorn)
  const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  const send = (body: string) => posthorn.gateway.fetch(new Request('http://in.test/in', { method: 'POST', body }))
  const good = '{"event_type":"paid","data":{}}'
  const window = async (bad: number, fine: number) => {
    for (let n = 0; n < bad; n++) await send('no JSON')
    for (let n = 0; n < fine; n++) await send(good)
    await posthorn.advance('5m')
    await posthorn.tick()
  }
  await window(6, 6)
  await window(9, 0)
  expect(await told(posthorn)).toEqual([])
  await window(7, 6)
  await window(20, 0)
  await window(0, 20)
  await window(20, 0)
  const events = await told(posthorn)
  expect(events.map(([type, { source_id, requests, refused }]) => [type, source_id, requests, refused])).toEqual([
    ['posthorn.source.refusing', source.id, 13, 7],
    ['posthorn.source.refusing', source.id, 20, 20],
  ])
})

describe.each(['before', 'after'] as const)('a crash %s the n-th call of storage', (mode) => {
  const types = ['delivery.exhausted', 'endpoint.disabled'].map((type) => `posthorn.${type}`)

  /** Two deliveries fail for good, the second of which disables its endpoint; the breaker disables another endpoint. */
  async function scenario(storage: Storage): Promise<void> {
    const posthorn = instance({ storage, breaker: { minimum: 2 } })
    posthorn.receiver(shop).answers(500, 410)
    posthorn.receiver('https://late.test/').answers(500)
    try {
      for (const event_type of ['paid', 'paid', 'late', 'late']) {
        await posthorn.events.create('default', { event_type, data: {} })
        await posthorn.tick()
      }
      await posthorn.advance('90s')
    } catch {
      // The process died here; another one takes over.
    }
  }

  async function fresh(): Promise<Storage> {
    const storage = memory()
    const posthorn = instance({ storage })
    await endpoints(posthorn)
    await posthorn.endpoints.update('default', 'shop', { events: ['paid'] })
    const retry = { config: { attempts: [0] } }
    const request = { url: 'https://late.test/' }
    await posthorn.endpoints.create('default', { id: 'late', request, events: ['late'], retry })
    return storage
  }

  test('loses no operational event and doubles none, whatever n', { timeout: 120_000 }, async () => {
    let calls = 0
    let first = Infinity
    const onCall = (count: number, name: string): void => {
      calls = count
      if (name === 'attempts.settle') first = Math.min(first, count)
    }
    await scenario(faulty(await fresh(), { failAt: Infinity, mode, onCall }))
    expect(calls - first).toBeGreaterThan(50)

    // Before the first attempt ends there is no cause.
    for (let failAt = first; failAt <= calls; failAt++) {
      const storage = await fresh()
      await scenario(faulty(storage, { failAt, mode }))
      const survivor = instance({ storage, breaker: { minimum: 2 } })
      survivor.receiver(shop).answers(500)
      survivor.receiver('https://late.test/').answers(500)
      await survivor.advance('3m')
      await survivor.tick()
      const exhausted: string[] = []
      for await (const attempt of survivor.attempts.each('default')) if (attempt.exhausted) exhausted.push(attempt.id)
      const events = await told(survivor)
      const about = (type: string, name: string) =>
        events.filter(([each]) => each === type).map(([, data]) => data[name] as string)
      expect(about(types[0]!, 'attempt_id').toSorted(), `call ${failAt}`).toEqual(exhausted.toSorted())
      const off: string[] = []
      for (const id of ['late', 'shop']) if (!(await survivor.endpoints.get('default', id)).enabled) off.push(id)
      expect(about(types[1]!, 'endpoint_id').toSorted(), `call ${failAt}`).toEqual(off)
    }
  })
})
