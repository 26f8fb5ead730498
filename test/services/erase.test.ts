import { expect, test } from 'vitest'

import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/hooks'

async function published(posthorn: TestPosthorn) {
  await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
  const make = (event_type: string, unique_id: string) =>
    posthorn.events.create('default', { event_type, unique_id, data: { unique_id } })
  const [a, b, c] = [await make('order.paid', 'a'), await make('order.paid', 'b'), await make('order.sent', 'c')]
  return { a, b, c }
}

const ask = async (posthorn: TestPosthorn, method: string, path: string, body?: object) => {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await posthorn.admin.fetch(new Request(`http://admin.test${path}`, init))
  return [response.status, response.status === 204 ? null : await response.json()]
}

test('an erased event is gone, and what was open of it is not sent', async () => {
  const posthorn = createTestPosthorn()
  const { a } = await published(posthorn)
  expect(await ask(posthorn, 'DELETE', `/events/${a.id}`)).toEqual([204, null])
  expect(await ask(posthorn, 'DELETE', `/events/${a.id}`)).toEqual([204, null])
  await posthorn.drain()
  expect(posthorn.receiver(url).received.length).toBe(2)
  await expect(posthorn.events.get('default', a.id)).rejects.toMatchObject({ code: 'not_found' })
  expect(await posthorn.attempts.list('default', { event_id: a.id })).toMatchObject({ total: 0 })
})

test('events are erased by filters, in steps that any later call goes on with', async () => {
  const posthorn = createTestPosthorn()
  await published(posthorn)
  await posthorn.drain()
  expect(await posthorn.events.erase('default', { event_type: 'order.paid', limit: 1 })).toEqual({
    erased: 1,
    more: true,
  })
  expect(await posthorn.events.erase('default', { event_type: 'order.paid' })).toEqual({ erased: 1, more: false })
  expect(
    await ask(posthorn, 'POST', '/events/erase', { unique_id: 'c', created_at: { gt: posthorn.clock.now() } }),
  ).toEqual([200, { erased: 0, more: false }])
  expect(await ask(posthorn, 'POST', '/events/erase', { unique_id: 'c' })).toEqual([200, { erased: 1, more: false }])
  expect((await ask(posthorn, 'POST', '/events/erase', {}))[0]).toBe(400)
  expect(await posthorn.events.list('default')).toMatchObject({ total: 0 })
})
