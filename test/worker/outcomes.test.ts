import { afterEach, describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A worker with an endpoint that has answered before. */
async function worker({ inProcess, perEndpoint = 64 }: { inProcess: boolean; perEndpoint?: number }) {
  const clock = fakeClock()
  const http = heldHttp()
  /** How many outcomes each write had. */
  const writes: number[] = []
  const storage = memory()
  const counting = {
    ...storage.attempts,
    settle: (...[batch, options]: Parameters<typeof storage.attempts.settle>) => {
      writes.push(batch.length)
      return storage.attempts.settle(batch, options)
    },
  }
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
    storage: { ...intercepted(storage, async (_name, call) => await call()), attempts: counting, inProcess },
    clock,
    http,
    logger: quiet,
    deliver: { perEndpoint },
  })
  await posthorn.endpoints.create('default', { request: { url: 'https://e.test/' }, events: ['*'] })
  await posthorn.start()
  stops.push(() => posthorn.stop({ timeoutMs: 0 }))
  const deliver = async (count: number) => {
    for (let n = 0; n < count; n++) await posthorn.events.create('default', { event_type: 'e', data: {} })
    await clock.advance(0)
    for (const held of http.inFlight.splice(0)) held.answer(ok)
    await clock.advance(0)
  }
  const delivered = async () =>
    (await posthorn.attempts.list('default', { limit: 100 })).data.filter(({ status }) => status === 'SUCCESSFUL')
      .length
  await deliver(1)
  await clock.advance(1000)
  writes.length = 0
  return { posthorn, clock, http, deliver, delivered, writes }
}

describe('outcomes of deliveries', () => {
  test('that come within 100 ms are stored together', async () => {
    const { clock, deliver, delivered, writes } = await worker({ inProcess: false })
    for (let n = 0; n < 5; n++) {
      await deliver(1)
      await clock.advance(19)
    }
    expect(writes).toEqual([])
    await clock.advance(5)
    expect(writes).toEqual([5])
    expect(await delivered()).toBe(6)
  })

  test('are stored as soon as sixteen wait', async () => {
    const { deliver, delivered, writes } = await worker({ inProcess: false })
    await deliver(15)
    expect(writes).toEqual([])
    await deliver(1)
    expect(writes).toEqual([16])
    expect(await delivered()).toBe(17)
  })

  test('hold no slot while they wait', async () => {
    const { deliver, http, writes } = await worker({ inProcess: false, perEndpoint: 2 })
    for (let n = 0; n < 3; n++) await deliver(2)
    expect(writes).toEqual([])
    expect(http.sent).toHaveLength(1 + 6)
  })

  test('are stored at once when the worker stops', async () => {
    const { posthorn, deliver, delivered, writes } = await worker({ inProcess: false })
    await deliver(3)
    await posthorn.stop()
    expect(writes).toEqual([3])
    expect(await delivered()).toBe(4)
  })

  test('are stored at once where the storage is in this process', async () => {
    const { deliver, delivered } = await worker({ inProcess: true })
    await deliver(1)
    expect(await delivered()).toBe(2)
  })
})
