import { expect, test } from 'vitest'

import type { Storage } from '../../src/contracts/storage.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const url = 'https://shop.test/hooks'
const other = 'https://other.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

onEveryEngine((fresh) => {
  async function started(given?: Storage) {
    const posthorn = createTestPosthorn({ logger: silent, storage: given ?? (await fresh()) })
    const retry = { config: { attempts: [0, 60] } }
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'], retry })
    await posthorn.endpoints.create('default', { id: 'other', request: { url: other }, events: ['*'], retry })
    const publish = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => from + i).reduce(async (before, n) => {
        await before
        await posthorn.events.create('default', { event_type: 'x', data: { n } })
      }, Promise.resolve() as Promise<unknown>)
    const sentTo = (to: string) =>
      posthorn.deliveries.filter((each) => each.url === to).map(({ body }) => JSON.parse(body ?? 'null').n as number)
    const pause = (paused: boolean) => posthorn.endpoints.update('default', 'shop', { paused })
    return { posthorn, publish, sentTo, pause }
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

  test('while an endpoint is paused its attempts wait; then all are sent, in order of time, and none is lost', async () => {
    const { posthorn, publish, sentTo, pause } = await started()
    await publish(0, 2)
    await pause(true)
    await posthorn.drain()
    expect([sentTo(url), sentTo(other)]).toEqual([[], [0, 1]])
    for (let minute = 0; minute < 3; minute++) {
      await publish(2 + minute * 10, 12 + minute * 10)
      await posthorn.advance('7m') // the pause of the queue ends in between
    }
    expect([sentTo(url), sentTo(other).length]).toEqual([[], 32])
    const [waiting] = (await posthorn.events.list('default', { sort: 'id.asc', limit: 1 })).data
    const told = (await posthorn.events.explain('default', waiting!.id)).find(
      ({ endpoint_id }) => endpoint_id === 'shop',
    )
    expect(told).toMatchObject({ matched: true, next_due_at: null, reason: expect.stringContaining('is paused') })

    await pause(false)
    await posthorn.drain()
    expect(sentTo(url)).toEqual(upTo(32))
    const attempts = (await posthorn.attempts.list('default', { endpoint_id: 'shop', limit: 100 })).data
    expect(attempts.map(({ status }) => status)).toEqual(Array.from({ length: 32 }, () => 'SUCCESSFUL'))
  })

  test('a retry that falls due while the endpoint is paused waits too', async () => {
    const { posthorn, publish, sentTo, pause } = await started()
    posthorn.receiver(url).answers(500, 200)
    await publish(0, 1)
    await posthorn.drain()
    await pause(true)
    await posthorn.advance('1h')
    expect(sentTo(url)).toEqual([0])
    await posthorn.config.sync('default', await unpaused(posthorn))
    await posthorn.drain()
    expect(sentTo(url)).toEqual([0, 0])
  })

  test('what was held back takes no more than the slots of one endpoint, so that fresh ones of others go at once', async () => {
    const posthorn = createTestPosthorn({
      logger: silent,
      storage: await fresh(),
      deliver: { concurrency: 16, perEndpoint: 2 },
    })
    for (const [id, to] of [
      ['shop', url],
      ['other', other],
    ] as const) {
      await posthorn.endpoints.create('default', { id, request: { url: to }, events: [`${id}.*`] })
    }
    const publish = (event_type: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) => posthorn.events.create('default', { event_type, data: { n } })),
      )
    await publish('other.warm', 1) // an endpoint that answered before
    await posthorn.endpoints.patch('default', 'shop', { paused: true })
    await publish('shop.held', 120)
    await posthorn.drain()
    await posthorn.endpoints.patch('default', 'shop', { paused: false })
    const before = posthorn.deliveries.length
    await publish('other.fresh', 20)
    await posthorn.drain()
    const sent = posthorn.deliveries.slice(before).map((each) => each.url)
    expect(sent.filter((each) => each === url)).toHaveLength(120)
    // Two by two: by the time of the last fresh one about as many old ones were sent.
    expect(sent.lastIndexOf(other)).toBeLessThan(60)
  })

  test('turning a paused endpoint off cancels what waits, at once', async () => {
    const { posthorn, publish, sentTo, pause } = await started()
    await pause(true)
    await publish(0, 3)
    await posthorn.drain()
    await posthorn.endpoints.update('default', 'shop', { enabled: false })
    await posthorn.drain()
    expect(sentTo(url)).toEqual([])
    const attempts = (await posthorn.attempts.list('default', { endpoint_id: 'shop', limit: 100 })).data
    expect(attempts.map(({ error_code }) => error_code)).toEqual(Array.from({ length: 3 }, () => 'ENDPOINT_DISABLED'))
  })

  test('a pause that the queue was not told to end is over within ten minutes', async () => {
    const storage = await fresh()
    const { resume: _lost, ...queue } = storage.queue!
    const { posthorn, publish, sentTo, pause } = await started({ ...storage, queue })
    await pause(true)
    await publish(0, 1)
    await posthorn.drain()
    await pause(false)
    await posthorn.drain()
    expect(sentTo(url)).toEqual([])
    await posthorn.advance('10m')
    expect(sentTo(url)).toEqual([0])
  })

  async function unpaused(posthorn: Awaited<ReturnType<typeof started>>['posthorn']) {
    const { endpoints } = await posthorn.config.dump('default')
    return { endpoints: (endpoints ?? []).map((entry) => ({ ...entry, paused: false })) }
  }
})
