import { describe, expect, test } from 'vitest'

import type { HttpClient } from '../../src/contracts/http-client.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const url = 'https://shop.test/hooks'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

const withEndpoint = (posthorn: TestPosthorn, changes: object = {}) =>
  posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['order.*'], ...changes })

const post = async (posthorn: TestPosthorn, path: string, body?: string) => {
  const response = await posthorn.admin.fetch(
    new Request(`http://admin.test${path}`, { method: 'POST', ...(body !== undefined && { body }) }),
  )
  return { status: response.status, body: await response.json() }
}

describe('a test delivery', () => {
  test('is made at once, signed, and answered with its attempt', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await posthorn.plugins.create('default', {
      name: 'standard-webhooks',
      endpoint_id: 'shop',
      config: { secrets: [secret] },
    })
    posthorn.receiver(url).answers({ status: 202, headers: { 'x-seen': 'yes' }, body: 'thanks' })
    const attempt = await posthorn.endpoints.test('default', 'shop')
    expect(attempt).toMatchObject({
      endpoint_id: 'shop',
      status: 'SUCCESSFUL',
      attempt_number: 1,
      trigger_mode: 'TEST',
      attempted_at: posthorn.clock.now(),
      request: { method: 'POST', url, body: '{"message":"A test delivery from Posthorn."}' },
      response: { status: 202, headers: { 'x-seen': 'yes' }, body: 'thanks' },
    })
    expect(posthorn.deliveries).toHaveLength(1)
    const [delivery] = posthorn.deliveries
    expect(delivery!.headers['webhook-event-type']).toBe('posthorn.test')
    expect(await delivery!.verify(secret)).toEqual({ message: 'A test delivery from Posthorn.' })
    expect(await posthorn.attempts.get('default', attempt.id)).toEqual(attempt)
  })

  test('goes to its endpoint alone, whatever that wants, and is not made again by the worker', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    await posthorn.endpoints.create('default', { request: { url: 'https://other.test/' }, events: ['*'] })
    await posthorn.endpoints.test('default', 'shop')
    await posthorn.advance('1h')
    expect(posthorn.deliveries.map((delivery) => delivery.url)).toEqual([url])
    expect((await posthorn.status()).queue.size).toBe(0)
  })

  test('that fails is not retried', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    posthorn.receiver(url).answers(500)
    expect(await posthorn.endpoints.test('default', 'shop')).toMatchObject({ status: 'FAILED', exhausted: true })
    await posthorn.advance('2h')
    expect(posthorn.deliveries).toHaveLength(1)
  })

  test('was due when it was made, wherever it is told of', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    const ended: number[] = []
    posthorn.on('attempt', ({ attempt }) => void ended.push(attempt.scheduled_at))
    const now = posthorn.clock.now()
    const made = await posthorn.endpoints.test('default', 'shop')
    const again = await posthorn.endpoints.test('default', 'shop')
    const listed = await posthorn.attempts.list('default')
    const shown = [made, again, ...listed.data].map((attempt) => attempt.scheduled_at)
    expect(shown).toEqual([now, now, now, now])
    expect(ended).toEqual([now, now])
  })

  test('is made also to a disabled endpoint, which stays disabled', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn, { enabled: false })
    expect(await posthorn.endpoints.test('default', 'shop')).toMatchObject({
      status: 'SUCCESSFUL',
      trigger_mode: 'TEST',
    })
    expect(posthorn.deliveries).toHaveLength(1)
    expect(await posthorn.endpoints.get('default', 'shop')).toMatchObject({ enabled: false })
  })

  test('has the type and the data that are asked for, over HTTP byte for byte', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    const data = '{"n": 12345678901234567890}'
    const { status, body } = await post(
      posthorn,
      '/workspaces/default/endpoints/shop/test',
      `{"event_type":"order.paid","data":${data}}`,
    )
    expect([status, body]).toMatchObject([200, { status: 'SUCCESSFUL', request: { body: data } }])
    expect(posthorn.deliveries[0]).toMatchObject({ body: data, headers: { 'webhook-event-type': 'order.paid' } })
    expect((await post(posthorn, '/endpoints/shop/test')).status).toBe(200)
  })

  test.each(['[1, 2.0]', 'null', '"text"', '0'])('may hold any JSON value: %s', async (data) => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    expect((await post(posthorn, '/endpoints/shop/test', `{"data":${data}}`)).status).toBe(200)
    expect(posthorn.deliveries[0]).toMatchObject({ body: data })
    await posthorn.endpoints.test('default', 'shop', { data: JSON.parse(data) })
    expect(posthorn.deliveries[1]).toMatchObject({ body: JSON.stringify(JSON.parse(data)) })
  })

  test('of what is not there, or with what is no event, is refused', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    expect(await post(posthorn, '/endpoints/unknown/test')).toEqual({ status: 404, body: { message: 'Not found' } })
    await expect(posthorn.endpoints.test('default', '\0')).rejects.toMatchObject({ code: 'not_found' })
    expect(await post(posthorn, '/endpoints/shop/test', '{"event_type":"","data":[]}')).toMatchObject({
      status: 400,
      body: { error: { fields: { event_type: 'minimum string length is 1' } } },
    })
    for (const body of ['null', '[]', '5', '"text"', 'false']) {
      const { status, body: answer } = await post(posthorn, '/endpoints/shop/test', body)
      const message = body === 'null' ? 'Value is not nullable' : 'value must be an object'
      expect([status, answer], body).toEqual([400, { message }])
      await expect(posthorn.endpoints.test('default', 'shop', JSON.parse(body))).rejects.toMatchObject({
        body: { message },
      })
    }
    expect(posthorn.deliveries).toHaveLength(0)
  })
})

describe('a retry over HTTP', () => {
  test('answers the new attempt', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    const event = await posthorn.events.create('default', { event_type: 'order.created', data: {} })
    const { status, body } = await post(posthorn, `/workspaces/default/events/${event.id}/retry?endpoint_id=shop`)
    expect([status, body]).toMatchObject([
      200,
      { event_id: event.id, endpoint_id: 'shop', status: 'QUEUED', trigger_mode: 'MANUAL', attempt_number: 1 },
    ])
  })

  test.each(['', '?endpoint_id=unknown', '?endpoint_id=%C3%BC'])('with the endpoint %j is refused', async (query) => {
    const posthorn = createTestPosthorn()
    const event = await posthorn.events.create('default', { event_type: 'order.created', data: {} })
    const answer = await post(posthorn, `/events/${event.id}/retry${query}`)
    expect(answer).toEqual({ status: 400, body: { message: 'endpoint not found' } })
  })

  test('of an unknown event is not found', async () => {
    const posthorn = createTestPosthorn()
    await withEndpoint(posthorn)
    for (const id of ['unknown', '%00']) {
      const answer = await post(posthorn, `/events/${id}/retry?endpoint_id=shop`)
      expect(answer).toEqual({ status: 404, body: { message: 'Not found' } })
    }
  })
})

describe('a test delivery without a place for it', () => {
  const instance = (http: HttpClient, deliver = {}) => {
    const clock = fakeClock()
    return { clock, posthorn: makePosthorn({ ...portablePlatform, batches: true })({ http, clock, deliver }) }
  }

  test('is refused beyond the share of its workspace, and nothing is stored of it', async () => {
    const http = heldHttp()
    const { posthorn } = instance(http, { concurrency: 16 })
    await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['order.*'] })
    await posthorn.workspaces.create({ id: 'quiet' })
    await posthorn.endpoints.create('quiet', { id: 'quiet', request: { url }, events: [] })
    const codes: string[] = []
    const tests = Array.from({ length: 30 }, () =>
      posthorn.endpoints.test('default', 'shop').catch(({ code }) => void codes.push(code as string)),
    )
    await expect.poll(() => http.inFlight.length + codes.length).toBe(30)
    expect(new Set(codes)).toEqual(new Set(['overloaded']))
    expect(http.inFlight).toHaveLength(12)
    const { data } = await posthorn.events.list('default', { limit: 100 })
    expect(data).toHaveLength(12)
    const refused = new Request('http://admin.test/endpoints/shop/test', { method: 'POST' })
    expect((await posthorn.admin.fetch(refused)).status).toBe(503)
    const other = posthorn.endpoints.test('quiet', 'quiet')
    await expect.poll(() => http.inFlight.length).toBe(13)
    for (const held of http.inFlight.slice()) held.answer(ok)
    expect(await other).toMatchObject({ status: 'SUCCESSFUL' })
    await Promise.all(tests)
    const again = posthorn.endpoints.test('default', 'shop')
    await expect.poll(() => http.inFlight.length).toBe(1)
    http.inFlight[0]!.answer(ok)
    expect(await again).toMatchObject({ status: 'SUCCESSFUL' })
  })

  test('that finds no connection is left to the worker', async () => {
    let isBusy = true
    const { clock, posthorn } = instance({
      send: async () => (isBusy ? { kind: 'busy', message: 'no connection was free in time' } : ok),
    })
    await posthorn.endpoints.create('default', { id: 'shop', request: { url, timeout: 5000 }, events: [] })
    await expect(posthorn.endpoints.test('default', 'shop')).rejects.toMatchObject({ code: 'overloaded' })
    isBusy = false
    await posthorn.drain({ until: clock.now() + 20_000 })
    expect((await posthorn.attempts.list('default')).data).toMatchObject([{ status: 'SUCCESSFUL', attempt_number: 1 }])
  })
})
