import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Queue } from '../../src/contracts/queue.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A worker whose claims are counted, at the times they are made. `hears`: its queue wakes it, by `wake` here. */
async function counted({ hears }: { hears: boolean }) {
  const clock = fakeClock()
  const startedAt = clock.now()
  const { onAdded: _own, nextDueAt: _peek, ...plain } = memory().queue
  const http = heldHttp()
  const claims: number[] = []
  const added: ((where: 'here' | 'elsewhere') => void)[] = []
  const queue: Queue = {
    ...plain,
    claim: (options) => {
      claims.push(clock.now() - startedAt)
      return plain.claim(options)
    },
    ...(hears && {
      onAdded: async (wake) => {
        added.push(wake)
        return async () => {}
      },
    }),
  }
  const storage = memory()
  const make = () =>
    makePosthorn({ ...portablePlatform, batches: true })({ storage, queue, clock, http, logger: quiet })
  const posthorn = make()
  await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
  return {
    posthorn,
    /** Another process on the same storage and queue, which only publishes. */
    publisher: make(),
    clock,
    http,
    claims,
    wake: (where: 'here' | 'elsewhere' = 'elsewhere') => added.forEach((ring) => ring(where)),
    gapsSince: (at: number) => {
      const times = [...new Set(claims)].filter((time) => time >= at)
      return times.slice(1).map((time, i) => time - times[i]!)
    },
  }
}

describe('a worker with nothing to do', () => {
  test('asks after 50 ms, then less and less often, once a second in the end', async () => {
    const { posthorn, clock, gapsSince, claims } = await counted({ hears: false })
    await posthorn.start()
    await clock.advance('1m')
    expect(gapsSince(0).slice(0, 8)).toEqual([50, 100, 200, 400, 800, 1000, 1000, 1000])
    expect(claims.length).toBeLessThan(66)
    await posthorn.stop()
  })

  test('asks every ten seconds in the end where its queue wakes it', async () => {
    const { posthorn, clock, gapsSince, claims } = await counted({ hears: true })
    await posthorn.start()
    await clock.advance('2m')
    expect(gapsSince(0).slice(0, 11)).toEqual([50, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
    expect(claims.length).toBeLessThan(22)
    await posthorn.stop()
  })

  test('asks at once when it is woken, whatever it waits for', async () => {
    const { posthorn, publisher, clock, claims, http, wake } = await counted({ hears: true })
    await posthorn.start()
    await clock.advance('1m')
    const asked = claims.length
    await publisher.events.create('default', { event_type: 'x', data: {} })
    await clock.advance(0)
    expect(claims.length).toBe(asked)
    wake('here') // this process knows of what it added itself
    await clock.advance(0)
    expect(claims.length).toBe(asked)
    wake()
    await clock.advance(0)
    expect(http.inFlight).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await posthorn.stop()
  })

  test('finds within ten seconds what it was not woken for', async () => {
    const { posthorn, publisher, clock, http } = await counted({ hears: true })
    await posthorn.start()
    await clock.advance('1m')
    await publisher.events.create('default', { event_type: 'x', data: {} })
    await clock.advance('10s')
    expect(http.inFlight).toHaveLength(1)
    http.inFlight[0]!.answer(ok)
    await posthorn.stop()
  })
})

test('while work is due a worker does not wait: a hundred jobs in slots of two take no time', async () => {
  const clock = fakeClock()
  const http = { send: async () => ok }
  const create = makePosthorn({ ...portablePlatform, batches: true })
  const posthorn = create({ clock, http, logger: quiet, deliver: { concurrency: 2, perEndpoint: 2 } })
  await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
  for (let i = 0; i < 100; i++) await posthorn.events.create('default', { event_type: 'x', data: { i } })
  await posthorn.start()
  await clock.advance(0)
  const statuses = async () =>
    (await posthorn.attempts.list('default', { limit: 100 })).data.map(({ status }) => status)
  for (let turn = 0; turn < 200 && (await statuses()).includes('QUEUED'); turn++) await clock.advance(0)
  expect(new Set(await statuses())).toEqual(new Set(['SUCCESSFUL']))
  await posthorn.stop()
})

test('while jobs wait for slots a worker does not ask when the next job falls due, and finds what falls due meanwhile', async () => {
  const clock = fakeClock()
  const http = heldHttp()
  let asked = 0
  const storage = intercepted(memory(), async (name, call) => {
    if (name === 'queue.nextDueAt') asked++
    return await call()
  })
  const create = makePosthorn({ ...portablePlatform, batches: true })
  const posthorn = create({ storage, clock, http, logger: quiet, deliver: { concurrency: 16, perEndpoint: 16 } })
  await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
  await posthorn.workspaces.create({ id: 'other' })
  await posthorn.endpoints.create('other', {
    request: { url: 'https://other.test/' },
    events: ['*'],
    retry: { config: { attempts: [0, 5] } },
  })
  const failed = { ...ok, status: 500 }
  const inFlight = (part: string) => http.inFlight.filter(({ request }) => request.url.includes(part))
  await posthorn.start()
  for (const workspace of ['default', 'other']) {
    await posthorn.events.create(workspace, { event_type: 'x', data: {} })
    await clock.advance(0)
    http.inFlight.at(-1)!.answer(workspace === 'other' ? failed : ok)
    await clock.advance(0)
  }
  for (let i = 0; i < 500; i++) await posthorn.events.create('default', { event_type: 'x', data: { i } })
  await clock.advance(0)
  asked = 0
  for (let turn = 0; turn < 200; turn++) {
    inFlight('/a.test')[0]!.answer(ok)
    await clock.advance(20)
  }
  expect(asked).toBe(0)
  expect(inFlight('/a.test').length).toBeGreaterThanOrEqual(8)
  await clock.advance(1050)
  expect(inFlight('other.test')).toHaveLength(1)
  const stopping = posthorn.stop({ timeoutMs: 0 })
  await clock.advance(1000)
  await stopping
})

test('after work a worker asks as often as at first', async () => {
  const { posthorn, clock, http, claims, gapsSince } = await counted({ hears: false })
  await posthorn.start()
  await clock.advance('1m')
  await posthorn.events.create('default', { event_type: 'x', data: {} })
  await clock.advance(0)
  http.inFlight[0]!.answer(ok)
  await clock.advance(50) // after the first answer of an endpoint it is looked for more of its jobs
  const idleSince = claims.at(-1)!
  await clock.advance('10s')
  expect(gapsSince(idleSince).slice(0, 3)).toEqual([50, 100, 200])
  await posthorn.stop()
})

describe('a retry', () => {
  async function failing(retries: readonly number[]) {
    const clock = fakeClock()
    const http = heldHttp()
    const claims: number[] = []
    const storage = intercepted(memory(), async (name, call) => {
      if (name === 'queue.claim') claims.push(clock.now())
      return await call()
    })
    const create = makePosthorn({ ...portablePlatform, batches: true })
    const posthorn = create({ storage, clock, http, logger: quiet, deliver: { concurrency: 16, perEndpoint: 2 } })
    const endpoint = (id: string, attempts: readonly number[]) =>
      posthorn.endpoints.create('default', {
        request: { url: `https://${id}.test/` },
        events: [id],
        retry: { config: { attempts: [...attempts] } },
      })
    await endpoint('failing', [0, ...retries])
    await endpoint('slow', [0])
    const publish = async (id: string) => {
      await posthorn.events.create('default', { event_type: id, data: {} })
      await clock.advance(0)
    }
    await posthorn.start()
    await publish('failing')
    http.inFlight[0]!.answer(ok) // no stranger any more
    await clock.advance('1m')
    const stop = async () => {
      const stopping = posthorn.stop({ timeoutMs: 0 })
      await clock.advance(1000)
      await stopping
    }
    return { clock, http, claims, publish, stop }
  }
  const failed = { ...ok, status: 500 }

  test.each([5, 30])('after %i s comes in time, and its planning costs no claim', async (seconds) => {
    const { clock, http, claims, publish, stop } = await failing([seconds])
    await publish('failing')
    await clock.advance(1000)
    claims.length = 0
    http.inFlight[0]!.answer(failed)
    await clock.advance(40)
    expect(claims).toEqual([])
    await clock.advance(seconds * 1000 - 41)
    expect(http.inFlight).toHaveLength(0)
    await clock.advance(1)
    expect(http.inFlight).toHaveLength(1)
    await stop()
  })

  test('is not a second late when jobs of an endpoint that is busy are due all the time', async () => {
    const { clock, http, publish, stop } = await failing([60])
    await publish('slow')
    await publish('slow')
    await publish('failing')
    expect(http.inFlight).toHaveLength(2)
    http.inFlight[1]!.answer(failed)
    await clock.advance('61s')
    expect(http.inFlight.map(({ request }) => request.url)).toEqual(['https://slow.test/', 'https://failing.test/'])
    await stop()
  })
})
