import { expect, test } from 'vitest'

import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const url = 'https://shop.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

onEveryEngine((fresh) => {
  async function started(deliver = {}) {
    const posthorn = createTestPosthorn({ logger: silent, storage: await fresh(), deliver })
    const retry = { config: { attempts: [0] } }
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'], retry })
    const publish = (event_type: string, count: number) =>
      posthorn.events.createMany(
        'default',
        Array.from({ length: count }, (_, n) => ({ event_type, data: { event_type, n } })),
      )
    const sent = () => posthorn.deliveries.map(({ body }) => JSON.parse(body ?? 'null') as { event_type: string })
    const types = () => sent().map(({ event_type }) => event_type)
    return { posthorn, publish, types }
  }

  test('fresh events overtake a replay to the same endpoint', async () => {
    const { posthorn, publish, types } = await started({ perEndpoint: 4, concurrency: 4 })
    posthorn.receiver(url).answers(...Array.from({ length: 60 }, () => 500))
    await publish('old', 60)
    await posthorn.drain()
    expect(types()).toHaveLength(60)
    expect(await posthorn.events.replay('default', {})).toMatchObject({ created: 60 })
    await publish('fresh', 20)
    await posthorn.drain()
    const after = types().slice(60)
    expect(after.filter((type) => type === 'old')).toHaveLength(60)
    // One replayed event may be on its way beside the fresh ones.
    expect(after.lastIndexOf('fresh')).toBeLessThan(26)
  })

  test('what an endpoint missed comes behind fresh events too', async () => {
    const { posthorn, publish, types } = await started({ perEndpoint: 4, concurrency: 4 })
    await posthorn.endpoints.patch('default', 'shop', { enabled: false })
    await publish('old', 60)
    await posthorn.endpoints.patch('default', 'shop', { enabled: true })
    const report = await posthorn.events.replay('default', { missing: true, endpoint_id: 'shop' })
    expect(report).toMatchObject({ created: 60 })
    await publish('fresh', 20)
    await posthorn.drain()
    expect(types().filter((type) => type === 'old')).toHaveLength(60)
    expect(types().lastIndexOf('fresh')).toBeLessThan(26)
  })

  test('a follow-up of a replay stays behind fresh events', async () => {
    const { posthorn, publish, types } = await started({ perEndpoint: 4, concurrency: 4 })
    const config = { attempts: [0, 60] }
    await posthorn.endpoints.patch('default', 'shop', { enabled: false, retry: { config } })
    await publish('old', 40)
    await posthorn.endpoints.patch('default', 'shop', { enabled: true })
    posthorn.receiver(url).answers(...Array.from({ length: 40 }, () => 500))
    await posthorn.events.replay('default', { missing: true, endpoint_id: 'shop' })
    await posthorn.drain()
    expect(types()).toHaveLength(40)
    await posthorn.clock.advance(60_000)
    await publish('fresh', 20)
    await posthorn.drain()
    const after = types().slice(40)
    expect(after.filter((type) => type === 'old')).toHaveLength(40)
    expect(after.lastIndexOf('fresh')).toBeLessThan(26)
  })

  test('after a pause fresh events overtake what waited', async () => {
    const { posthorn, publish, types } = await started({ perEndpoint: 4, concurrency: 4 })
    await publish('warm', 1)
    await posthorn.drain()
    await posthorn.endpoints.patch('default', 'shop', { paused: true })
    await publish('held', 60)
    await posthorn.drain()
    await posthorn.endpoints.patch('default', 'shop', { paused: false })
    await publish('fresh', 20)
    await posthorn.drain()
    expect(types().filter((type) => type === 'held')).toHaveLength(60)
    expect(types().lastIndexOf('fresh')).toBeLessThan(28)
  })
})
