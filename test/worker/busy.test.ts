import { describe, expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import { Cancellation } from '../../src/core/cancellation.ts'
import type { HttpClient, SendOptions } from '../../src/contracts/http-client.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { PosthornError } from '../../src/errors.ts'
import { object } from '../../src/schema/fields.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import { Rests } from '../../src/worker/resting-endpoints.ts'
import { wakeup } from '../../src/worker/wakeup.ts'
import { ok } from '../support/held-http.ts'

const url = 'https://shop.test/hooks'

/** An instance whose HTTP client has no place for the first `times` requests to `url`. */
function withoutPlaces(times: number) {
  const clock = fakeClock()
  const asked: (SendOptions & { readonly url: string; readonly at: number })[] = []
  let left = times
  const http: HttpClient = {
    async send(request, options) {
      asked.push({ ...options, url: request.url, at: clock.now() })
      if (request.url === url && left-- > 0) return { kind: 'busy', message: 'no connection was free in time' }
      return ok
    },
  }
  return { asked, clock, posthorn: makePosthorn({ ...portablePlatform, batches: true })({ http, clock }) }
}

const publish = (posthorn: Posthorn, n: number) =>
  posthorn.events.create('default', { event_type: 'order.paid', data: { n } })

async function attemptsOf(posthorn: Posthorn) {
  return (await posthorn.attempts.list('default', { sort: 'id.asc' })).data
}

describe('a delivery for which there is no place', () => {
  test('on a connection goes back to the queue as it was, is no try, and is made later', async () => {
    const { asked, clock, posthorn } = withoutPlaces(3)
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    await posthorn.endpoints.create('default', { request: { url: 'https://other.test/' }, events: ['*'] })
    const due = clock.now()
    await publish(posthorn, 1)

    expect(await posthorn.tick()).toMatchObject({ delivered: 1, failed: 0, remaining: 1 })
    const waiting = (await attemptsOf(posthorn)).find(({ endpoint_id }) => endpoint_id === 'shop')
    expect(waiting).toMatchObject({ status: 'QUEUED', attempt_number: 1, attempted_at: null, scheduled_at: due })
    expect((await posthorn.status()).outbound_requests).toBe(1)

    await posthorn.drain({ until: due + 10_000 })
    const attempts = await attemptsOf(posthorn)
    expect(attempts.map(({ status, attempt_number, error_code }) => [status, attempt_number, error_code])).toEqual([
      ['SUCCESSFUL', 1, null],
      ['SUCCESSFUL', 1, null],
    ])
    const times = asked.filter((request) => request.url === url).map(({ at }) => at - due)
    expect(times).toHaveLength(4)
    // The endpoint rests between, so that the job does not go back and forth.
    for (const [i, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(500 * i)
    expect(times.at(-1)).toBeLessThan(2500)
    expect(new Set(asked.map(({ workspaceId }) => workspaceId))).toEqual(new Set(['default']))
  })

  test('of a plugin neither; what else a plugin throws is PLUGIN_ERROR', async () => {
    let thrown: Error | null = new PosthornError('overloaded', 'too many functions are running')
    const plugin = definePlugin({
      name: 'busy',
      sides: ['outbound'],
      config: object({}),
      prepare: () => ({
        outbound(request) {
          if (thrown !== null) throw thrown
          return request
        },
      }),
    })
    const posthorn = createTestPosthorn({ plugins: [plugin] })
    const { id } = await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
    await posthorn.plugins.create('default', { endpoint_id: id, name: 'busy', config: {} })
    const event = await publish(posthorn, 1)
    await posthorn.tick()
    await posthorn.advance('5s')
    expect(await attemptsOf(posthorn)).toMatchObject([{ status: 'QUEUED', attempt_number: 1, attempted_at: null }])

    thrown = null
    await posthorn.advance('1s')
    expect(await attemptsOf(posthorn)).toMatchObject([{ status: 'SUCCESSFUL', event_id: event.id, attempt_number: 1 }])

    thrown = new Error('no')
    await publish(posthorn, 2)
    await posthorn.tick()
    expect((await attemptsOf(posthorn))[1]).toMatchObject({ status: 'FAILED', error_code: 'PLUGIN_ERROR' })
  })

  test('that waits for its share has all of its time when its turn comes', async () => {
    let waitMs = 0
    let runMs = 0
    const posthorn = createTestPosthorn({
      plugins: [
        definePlugin({
          name: 'patient',
          sides: ['outbound'],
          config: object({}),
          prepare: () => ({
            async outbound(request, { pause }) {
              const resume = pause?.()
              await posthorn.clock.sleep(waitMs)
              resume?.()
              await posthorn.clock.sleep(runMs)
              return request
            },
          }),
        }),
      ],
    })
    const { id } = await posthorn.endpoints.create('default', { request: { url, timeout: 1000 }, events: ['*'] })
    await posthorn.plugins.create('default', { endpoint_id: id, name: 'patient', config: {} })
    await posthorn.start()
    waitMs = 5000
    runMs = 900
    await publish(posthorn, 1)
    await posthorn.clock.advance('7s')
    expect(await attemptsOf(posthorn)).toMatchObject([{ status: 'SUCCESSFUL' }])
    runMs = 1100
    await publish(posthorn, 2)
    await posthorn.clock.advance('7s')
    expect((await attemptsOf(posthorn))[1]).toMatchObject({ status: 'FAILED', error_code: 'PLUGIN_ERROR' })
    const stopping = posthorn.stop()
    await posthorn.clock.advance('10s')
    await stopping
  })
})

test('where 2,000 endpoints rest, a job of a further one stays here for as long', async () => {
  const fake = fakeClock()
  const clock = engineClock(fake, async () => 0, { debug() {}, info() {}, warn() {}, error() {} })
  const rests = new Rests(clock, wakeup(clock))
  const job = new Cancellation()
  for (let n = 0; n < 2000; n++) await rests.begin(`${n}`, job)
  let mayLeave = false
  void rests.begin('one more', job).then(() => (mayLeave = true))
  const canceled = new Cancellation()
  const early = rests.begin('and one more', canceled)
  canceled.cancel()
  await early
  await fake.advance(499)
  expect(mayLeave).toBe(false)
  await fake.advance(1)
  expect(mayLeave).toBe(true)
  await rests.begin('later', job)
  expect(rests.has('later')).toBe(true)
})

describe('a request that was canceled', () => {
  test.each([
    ['counts as none where none was begun', { kind: 'aborted', isUnsent: true } as const, 0],
    ['counts where it may have been sent', { kind: 'aborted' } as const, 1],
  ])('%s', async (_what, reply, counted) => {
    const clock = fakeClock()
    const posthorn = makePosthorn({ ...portablePlatform, batches: true })({ clock, http: { send: async () => reply } })
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
    await publish(posthorn, 1)
    await posthorn.tick()
    expect((await posthorn.status()).outbound_requests).toBe(counted)
  })
})

test('an endpoint that has no place again rests anew, and rings once', async () => {
  const fake = fakeClock()
  const clock = engineClock(fake, async () => 0, { debug() {}, info() {}, warn() {}, error() {} })
  const causes: string[] = []
  const rings = { ...wakeup(clock), wake: (cause: string) => void causes.push(cause) }
  const rests = new Rests(clock, rings)
  const job = new Cancellation()
  for (let n = 0; n < 3; n++) {
    await rests.begin('shop', job)
    await fake.advance(100)
  }
  await fake.advance(399)
  expect([causes, rests.has('shop')]).toEqual([[], true])
  await fake.advance(1)
  expect([causes, rests.has('shop')]).toEqual([['rested'], false])
})
