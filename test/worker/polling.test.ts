import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Queue } from '../../src/contracts/queue.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A worker whose claims are counted, at the times they are made. `hears`: its queue wakes it, by `wake` here. */
async function counted({ hears }: { hears: boolean }) {
  const clock = fakeClock()
  const startedAt = clock.now()
  const { onAdded: _own, nextDueAt: _peek, ...plain } = memory().queue
  const http = heldHttp()
  const claims: number[] = []
  const added: (() => void)[] = []
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
    makePosthorn({ ...portablePlatform, gathers: true })({ storage, queue, clock, http, logger: quiet })
  const posthorn = make()
  await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
  return {
    posthorn,
    /** Another process on the same storage and queue, which only publishes. */
    publisher: make(),
    clock,
    http,
    claims,
    wake: () => added.forEach((ring) => ring()),
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
  const create = makePosthorn({ ...portablePlatform, gathers: true })
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

test('after work a worker asks as often as at first', async () => {
  const { posthorn, clock, http, claims, gapsSince } = await counted({ hears: false })
  await posthorn.start()
  await clock.advance('1m')
  await posthorn.events.create('default', { event_type: 'x', data: {} })
  await clock.advance(0)
  http.inFlight[0]!.answer(ok)
  await clock.advance(0)
  const idleSince = claims.at(-1)!
  await clock.advance('10s')
  expect(gapsSince(idleSince).slice(0, 3)).toEqual([50, 100, 200])
  await posthorn.stop()
})
