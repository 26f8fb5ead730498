import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Reply } from '../../src/contracts/http-client.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { claimed } from '../support/claimed.ts'
import { heldHttp, ok, timedOut } from '../support/held-http.ts'

const denied: Reply = { kind: 'denied', message: 'the host is denied' }
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function instance(deliver: { concurrency: number; perEndpoint: number }) {
  const clock = fakeClock()
  const http = heldHttp()
  const calls: string[] = []
  const waitFor = new Map<string, Promise<void>>()
  const engine = memory()
  const storage = intercepted(claimed(engine), async (name, call) => {
    calls.push(name)
    await waitFor.get(name)
    return await call()
  })
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
    storage,
    clock,
    http,
    logger: quiet,
    deliver,
  })
  const endpoint = (id: string, changes: object = {}) =>
    posthorn.endpoints.create('default', {
      id,
      request: { url: `https://${id}.test/` },
      events: [id],
      retry: { config: { attempts: [0] } },
      ...changes,
    })
  const publish = async (id: string, count: number) => {
    for (let n = 0; n < count; n++) await posthorn.events.create('default', { event_type: id, data: { n } })
  }
  const inFlightTo = (id: string) => http.inFlight.filter(({ request }) => request.url === `https://${id}.test/`)
  const stop = async () => {
    const stopping = posthorn.stop({ timeoutMs: 0 })
    await clock.advance(1000)
    await stopping
  }
  return { posthorn, clock, http, calls, waitFor, endpoint, publish, inFlightTo, stop }
}

describe('one endpoint', () => {
  test('has no more requests in flight than its share, and the rest goes to others', async () => {
    const { posthorn, clock, http, endpoint, publish, inFlightTo, stop } = await instance({
      concurrency: 10,
      perEndpoint: 4,
    })
    await endpoint('busy')
    await endpoint('calm')
    await publish('busy', 50)
    await publish('calm', 2)
    await posthorn.start()
    await clock.advance(0)
    for (const held of http.inFlight.splice(0)) held.answer(ok)
    await clock.advance(0)
    expect([inFlightTo('busy').length, inFlightTo('calm').length]).toEqual([4, 1])
    http.inFlight[0]!.answer(ok)
    await clock.advance(0)
    expect(inFlightTo('busy')).toHaveLength(4)
    await stop()
  })

  test('gets all slots again that fell free while a claim was under way that took others of its jobs', async () => {
    const { posthorn, clock, http, waitFor, endpoint, publish, inFlightTo, stop } = await instance({
      concurrency: 10,
      perEndpoint: 4,
    })
    await endpoint('busy')
    await publish('busy', 20)
    await posthorn.start()
    await clock.advance(0)
    http.inFlight[0]!.answer(ok)
    await clock.advance(0)
    expect(inFlightTo('busy')).toHaveLength(4)
    let claimed = (): void => {}
    waitFor.set('queue.claim', new Promise((resolve) => (claimed = resolve)))
    for (const held of http.inFlight.slice()) {
      held.answer(ok)
      await clock.advance(0)
    }
    claimed()
    await clock.advance(0)
    expect(inFlightTo('busy')).toHaveLength(4)
    await stop()
  })

  test('that is new and answers late gets its slots, though nobody knows how many jobs of low priority it has', async () => {
    const { posthorn, clock, endpoint, publish, inFlightTo, stop } = await instance({ concurrency: 16, perEndpoint: 8 })
    await endpoint('paused', { paused: true })
    await posthorn.start()
    await clock.advance('1m')
    await publish('paused', 6)
    await posthorn.endpoints.update('default', 'paused', { paused: false })
    await clock.advance('4s')
    expect(inFlightTo('paused')).toHaveLength(1)
    inFlightTo('paused')[0]!.answer(ok)
    await clock.advance(50)
    expect(inFlightTo('paused')).toHaveLength(2) // a quarter of the slots
    await stop()
  })

  test('that timed out gets one request at a time until it answers', async () => {
    const { posthorn, clock, endpoint, publish, inFlightTo, stop } = await instance({ concurrency: 10, perEndpoint: 4 })
    await endpoint('slow')
    await publish('slow', 20)
    await posthorn.start()
    await clock.advance(0)
    inFlightTo('slow')[0]!.answer(ok)
    await clock.advance(0)
    expect(inFlightTo('slow')).toHaveLength(4)
    for (const held of inFlightTo('slow')) held.answer(timedOut)
    await clock.advance(0)
    expect(inFlightTo('slow')).toHaveLength(1)
    inFlightTo('slow')[0]!.answer(ok)
    await clock.advance(20) // no sooner after the claim that came when it answered before
    expect(inFlightTo('slow')).toHaveLength(4)
    await stop()
  })

  test('that timed out gets one request at a time, whatever was not sent to it meanwhile', async () => {
    const { posthorn, clock, endpoint, publish, inFlightTo, stop } = await instance({ concurrency: 10, perEndpoint: 4 })
    await endpoint('silent')
    await publish('silent', 20)
    await posthorn.start()
    await clock.advance(0)
    inFlightTo('silent')[0]!.answer(timedOut)
    for (let n = 0; n < 3; n++) {
      await clock.advance('5s')
      expect(inFlightTo('silent')).toHaveLength(1)
      inFlightTo('silent')[0]!.answer(denied)
    }
    await clock.advance('5s')
    expect(inFlightTo('silent')).toHaveLength(1)
    await stop()
  })

  test('to which nothing may be sent has its tries one right after the other', async () => {
    const { posthorn, clock, http, endpoint, publish, stop } = await instance({ concurrency: 10, perEndpoint: 4 })
    await endpoint('forbidden')
    await publish('forbidden', 200)
    await posthorn.start()
    for (let n = 0; n < 100; n++) {
      await clock.advance(1)
      for (const held of http.inFlight.slice()) held.answer(denied)
    }
    expect(http.sent).toHaveLength(200)
    await stop()
  })
})

test('endpoints that do not answer have half of the slots together, and a healthy one finds the others free', async () => {
  const { posthorn, clock, http, endpoint, publish, inFlightTo, stop } = await instance({
    concurrency: 8,
    perEndpoint: 2,
  })
  const dead = Array.from({ length: 20 }, (_, i) => `dead${i}`)
  for (const id of dead) {
    await endpoint(id)
    await publish(id, 3)
  }
  await posthorn.start()
  for (let round = 0; round < 20; round++) {
    await clock.advance(50)
    for (const held of http.inFlight.splice(0)) held.answer(timedOut)
  }
  for (const id of dead) await publish(id, 3)
  await endpoint('healthy')
  await publish('healthy', 3)
  await clock.advance(100)
  expect(http.inFlight.length - inFlightTo('healthy').length).toBeLessThanOrEqual(4)
  inFlightTo('healthy')[0]!.answer(ok)
  await clock.advance(100)
  expect(inFlightTo('healthy')).toHaveLength(2)
  await stop()
})

test('as many silent endpoints as there are slots, each with a backlog, leave a healthy one its deliveries', async () => {
  const { posthorn, clock, http, endpoint, publish, inFlightTo, stop } = await instance({
    concurrency: 16,
    perEndpoint: 4,
  })
  await endpoint('healthy')
  await publish('healthy', 1)
  await posthorn.start()
  await clock.advance(0)
  for (const held of inFlightTo('healthy')) held.answer(ok)

  for (let i = 0; i < 16; i++) {
    await endpoint(`silent${i}`)
    await publish(`silent${i}`, 20)
  }
  await clock.advance(100)
  for (let n = 0; n < 10; n++) {
    await publish('healthy', 1)
    await clock.advance(100)
    expect(inFlightTo('healthy')).toHaveLength(1)
    inFlightTo('healthy')[0]!.answer(ok)
    await clock.advance(100)
    // Every second the silent ones run into their timeouts.
    if (n % 5 === 4) for (const held of http.inFlight.splice(0)) held.answer(timedOut)
  }
  await stop()
})

test('new endpoints that are silent for half a second give way to other new ones, and leave a quarter of the slots to those who are known to answer', async () => {
  const { posthorn, clock, http, endpoint, publish, inFlightTo, stop } = await instance({
    concurrency: 16,
    perEndpoint: 4,
  })
  const silent = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      await endpoint(`silent${i}`)
      await publish(`silent${i}`, 20)
    }
  }
  await silent(0, 7)
  await endpoint('new')
  await publish('new', 9)
  await posthorn.start()
  await clock.advance(0)
  expect([http.inFlight.length, inFlightTo('new').length]).toEqual([3, 0])
  await clock.advance(1200)
  expect([http.inFlight.length, inFlightTo('new').length]).toEqual([8, 1])
  inFlightTo('new')[0]!.answer(ok)
  await clock.advance(0)
  expect(inFlightTo('new')).toHaveLength(4)
  for (const held of inFlightTo('new')) held.answer(ok)
  await clock.advance(0)

  await silent(7, 30)
  await clock.advance(5000)
  expect(inFlightTo('new')).toHaveLength(4)
  expect(http.inFlight.length).toBeLessThanOrEqual(4 + 12)
  await stop()
})

describe('many silent endpoints', () => {
  async function silence() {
    const all = await instance({ concurrency: 128, perEndpoint: 4 })
    await all.endpoint('healthy')
    await all.publish('healthy', 1)
    await all.posthorn.start()
    await all.clock.advance(0)
    for (const held of all.inFlightTo('healthy')) held.answer(ok)
    for (let i = 0; i < 80; i++) {
      await all.endpoint(`silent${i}`)
      await all.publish(`silent${i}`, 20)
    }
    await all.clock.advance(5000)
    const toSilent = () => all.http.inFlight.length - all.inFlightTo('healthy').length
    return { ...all, toSilent }
  }

  test('that run into their timeouts at one moment are tried again a few at a time', async () => {
    const { clock, http, toSilent, stop } = await silence()
    for (const held of http.inFlight.splice(0)) held.answer(timedOut)
    let before = 0
    for (let turn = 0; turn < 20; turn++) {
      await clock.advance(20)
      expect(toSilent() - before).toBeLessThanOrEqual(2)
      before = toSilent()
    }
    await clock.advance(2000)
    expect(toSilent()).toBe(48)
    await stop()
  })

  test('whose timeouts came together soon have them apart, and no more claims than tries', async () => {
    const { clock, http, calls, stop } = await silence()
    const timeOut = 700
    const sentAt = new Map<object, number>()
    const starts: number[] = []
    for (let at = 0; at < 10_000; at += 10) {
      for (const held of http.inFlight) {
        if (sentAt.has(held)) continue
        sentAt.set(held, at)
        starts.push(at)
      }
      for (const held of http.inFlight.filter((each) => at - sentAt.get(each)! >= timeOut)) held.answer(timedOut)
      if (at === 5000) calls.length = 0
      await clock.advance(10)
    }
    const late = starts.filter((at) => at >= 5000)
    const inEach = Array.from({ length: 25 }, (_, i) => late.filter((at) => Math.floor((at - 5000) / 200) === i).length)
    expect(Math.min(...inEach)).toBeGreaterThanOrEqual(7)
    expect(Math.max(...inEach)).toBeLessThanOrEqual(18)
    expect(calls.filter((name) => name === 'queue.claim').length).toBeLessThanOrEqual(late.length + 10)
    await stop()
  })

  test('cost no write of their own while others are written, and are written when the worker stops', async () => {
    const { posthorn, clock, http, calls, publish, inFlightTo } = await silence()
    const failed = async () => {
      const page = await posthorn.attempts.list('default', { status: 'FAILED', page_size: 1 })
      return 'total' in page ? page.total : NaN
    }
    expect(await failed()).toBe(0)
    const settles = () => calls.filter((name) => name === 'attempts.settle').length
    await publish('healthy', 1)
    await clock.advance(0)
    calls.length = 0
    for (const held of http.inFlight.filter(({ request }) => !request.url.includes('healthy')).slice(0, 3)) {
      held.answer(timedOut)
      await clock.advance(10)
    }
    expect(settles()).toBe(0)
    inFlightTo('healthy')[0]!.answer(ok)
    await clock.advance(0)
    expect(settles()).toBe(1)
    expect(await failed()).toBe(3)

    http.inFlight[0]!.answer(timedOut)
    await clock.advance(0)
    const stopping = posthorn.stop({ timeoutMs: 1000 })
    await clock.advance(0)
    expect(settles()).toBe(2)
    const left = http.inFlight.splice(0)
    for (const held of left) held.answer(timedOut)
    await clock.advance(0)
    await stopping
    expect(await failed()).toBe(4 + left.length)
  })

  test('are sent to after one that answers, though their deliveries are older, and with the same claim', async () => {
    const { clock, http, calls, publish, stop } = await silence()
    for (const held of http.inFlight.splice(0)) held.answer(timedOut)
    await clock.advance(20)
    calls.length = 0
    const from = http.sent.length
    await publish('healthy', 1)
    await clock.advance(1)
    const urls = http.sent.slice(from).map(({ url }) => url)
    expect(urls[0]).toBe('https://healthy.test/')
    expect(urls).toHaveLength(2)
    await clock.advance(15)
    // One for the job, and one for what memory tells of it: it tells its own process too.
    expect(calls.filter((name) => name === 'queue.claim').length).toBeLessThanOrEqual(2)
    await stop()
  })
})

test('when a slot of many silent endpoints falls free, one job is claimed for it, not one of each', async () => {
  const { posthorn, clock, http, calls, endpoint, publish, stop } = await instance({ concurrency: 16, perEndpoint: 4 })
  for (let i = 0; i < 40; i++) {
    await endpoint(`silent${i}`)
    await publish(`silent${i}`, 20)
  }
  await posthorn.start()
  for (let round = 0; round < 10; round++) {
    await clock.advance(600)
    for (const held of http.inFlight.splice(0)) held.answer(timedOut)
  }
  await clock.advance(600)
  calls.length = 0
  const sentBefore = http.sent.length
  for (let n = 0; n < 100; n++) {
    http.inFlight.shift()!.answer(timedOut)
    await clock.advance(30)
  }
  expect(http.sent.length - sentBefore).toBe(100)
  expect(calls.filter((name) => name === 'queue.release').length).toBeLessThanOrEqual(20)
  await stop()
})

describe('where answers take a second', () => {
  /** Twelve endpoints after five seconds; with 200 events due for each, much is left. */
  async function lateAnswers(due = 200) {
    const all = await instance({ concurrency: 256, perEndpoint: 16 })
    for (let i = 0; i < 12; i++) {
      await all.endpoint(`late${i}`)
      await all.publish(`late${i}`, due)
    }
    await all.posthorn.start()
    for (let second = 0; second < 5; second++) {
      await all.clock.advance(1000)
      for (const held of all.http.inFlight.splice(0)) held.answer(ok)
    }
    return all
  }

  test('slots that fall free together are filled one after another', async () => {
    const { clock, http, stop } = await lateAnswers()
    await clock.advance(100)
    expect(http.inFlight.length).toBeGreaterThan(30)
    expect(http.inFlight.length).toBeLessThan(90)
    await clock.advance(500)
    expect(http.inFlight.length).toBeGreaterThanOrEqual(180)
    await stop()
  })

  test('a new job of another workspace is claimed at once all the same', async () => {
    const { posthorn, clock, inFlightTo, stop } = await lateAnswers()
    await posthorn.workspaces.create({ id: 'other' })
    await posthorn.endpoints.create('other', { request: { url: 'https://quick.test/' }, events: ['*'] })
    await clock.advance(90)
    await posthorn.events.create('other', { event_type: 'x', data: {} })
    await clock.advance(1)
    expect(inFlightTo('quick')).toHaveLength(1)
    await stop()
  })

  test('jobs that are given back, as new endpoints have no slot left, are not claimed again and again', async () => {
    const { clock, calls, endpoint, publish, stop } = await lateAnswers(40)
    for (let i = 0; i < 300; i++) await endpoint(`new${i}`, { events: ['news'] })
    calls.length = 0
    await publish('news', 1)
    await clock.advance(400)
    expect(calls.filter((name) => name === 'queue.claim').length).toBeLessThanOrEqual(15)
    expect(calls.filter((name) => name === 'queue.release').length).toBeLessThanOrEqual(5)
    await stop()
  })
})

test('a limited endpoint with 1,000 deliveries waiting costs a handful of queue calls each time it may send, not a storm', async () => {
  const { posthorn, clock, http, calls, endpoint, publish, stop } = await instance({ concurrency: 64, perEndpoint: 16 })
  await endpoint('limited', { rate_limit: { quota: 1, period: 10 } })
  await publish('limited', 1000)
  await posthorn.start()
  await clock.advance(0)
  for (const held of http.inFlight.splice(0)) held.answer(ok)
  await clock.advance(1000)
  calls.length = 0
  for (let second = 0; second < 100; second++) {
    await clock.advance(1000)
    for (const held of http.inFlight.splice(0)) held.answer(ok)
  }
  expect(http.sent).toHaveLength(11)
  const changing = calls.filter((name) =>
    ['queue.release', 'queue.pause', 'queue.complete', 'queue.add'].includes(name),
  )
  expect(changing.length).toBeLessThanOrEqual(10 * 4)
  await stop()
})

test('deliveries to an endpoint that were left out while the limiter was asked go when it has answered', async () => {
  const { posthorn, clock, waitFor, endpoint, publish, inFlightTo, stop } = await instance({
    concurrency: 8,
    perEndpoint: 4,
  })
  await endpoint('limited', { rate_limit: { quota: 100, period: 1 } })
  await publish('limited', 1)
  await posthorn.start()
  await clock.advance(0)
  inFlightTo('limited')[0]!.answer(ok)
  await clock.advance(0)
  let answer = (): void => {}
  waitFor.set('limiter.take', new Promise((resolve) => (answer = resolve)))
  for (let n = 0; n < 2; n++) {
    await publish('limited', 1)
    await clock.advance(0)
  }
  expect(inFlightTo('limited')).toHaveLength(0)
  answer()
  await clock.advance(0)
  expect(inFlightTo('limited')).toHaveLength(2)
  await stop()
})
