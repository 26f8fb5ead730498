import { expect, test } from 'vitest'

import type { HttpClient } from '../../src/contracts/http-client.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { ok } from '../support/held-http.ts'

// An HTTP client of the application may be written in JavaScript.

const failures: Record<string, () => unknown> = {
  throws: () => {
    throw new Error('no route')
  },
  'answers nothing': () => undefined,
  'answers a text': () => 'ok',
  'answers a Response of fetch': () => new Response('ok'),
  'answers no kind': () => ({ status: 200, headers: {}, body: '' }),
  'answers another kind': () => ({ kind: 'done', message: '' }),
  'answers no headers': () => ({ kind: 'response', status: 200, body: '' }),
  'answers headers that are no texts': () => ({ ...ok, headers: { 'retry-after': 5 } }),
  'answers no body': () => ({ kind: 'response', status: 200, headers: {} }),
  'answers a status that is no number': () => ({ ...ok, status: '200' }),
  'answers an error without a message': () => ({ kind: 'error', unreachable: true }),
}

test.each(Object.entries(failures))(
  'a delivery whose HTTP client %s has failed, and the next one is made',
  async (_, fail) => {
    const clock = fakeClock()
    const errors: string[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    let sends = 0
    const http = { send: async () => (++sends === 1 ? fail() : ok) } as HttpClient
    const posthorn = makePosthorn({ ...portablePlatform, batches: true })({ http, clock, logger })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
    await posthorn.start()
    await clock.advance(1000)
    const [first] = (await posthorn.attempts.list('default', { sort: 'id.asc' })).data
    expect(first).toMatchObject({ status: 'FAILED', error_message: 'the HTTP client failed' })
    expect(errors).toEqual(['the HTTP client failed'])
    await clock.advance(60_000)
    const { data } = await posthorn.attempts.list('default', { sort: 'id.asc' })
    expect(data.map(({ status }) => status)).toEqual(['FAILED', 'SUCCESSFUL'])
    await posthorn.stop()
  },
)
