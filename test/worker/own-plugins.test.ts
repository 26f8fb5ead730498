import * as v from 'valibot'
import { expect, test } from 'vitest'

import { definePlugin, type PreparedPlugin } from '../../src/contracts/plugin.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

// Plugins of the application may be written in JavaScript.

async function withPlugin(side: 'inbound' | 'outbound', run: (request: never) => unknown) {
  const errors: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
  const prepared = { [side]: run } as PreparedPlugin
  const plugin = definePlugin({ name: 'own', sides: [side], config: v.object({}), prepare: () => prepared })
  const posthorn = createTestPosthorn({ plugins: [plugin], logger })
  const endpoint = await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
  const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  const on = side === 'outbound' ? { endpoint_id: endpoint.id } : { source_id: source.id }
  await posthorn.plugins.create('default', { ...on, name: 'own', config: {} })
  return { posthorn, errors }
}

const noOutbound: Record<string, (request: object) => unknown> = {
  nothing: () => undefined,
  'a text': () => 'ok',
  'no headers': (request) => ({ ...request, headers: undefined }),
  'a header that is no text': (request) => ({ ...request, headers: { 'x-n': 5 } }),
  'a url that is no text': (request) => ({ ...request, url: new URL('https://shop.test/') }),
  'no method': (request) => ({ ...request, method: undefined }),
  'a body that is no text': (request) => ({ ...request, body: { n: 1 } }),
  'no body': (request) => ({ ...request, body: undefined }),
}

test.each(
  Object.entries(noOutbound).flatMap(([what, run]) => [
    [what, 'at once', run] as const,
    [what, 'later', async (request: object) => run(request)] as const,
  ]),
)('a plugin that answers %s, %s, fails the attempt, which says so', async (_what, _when, run) => {
  const { posthorn } = await withPlugin('outbound', run)
  await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  await posthorn.drain()
  const [first] = (await posthorn.attempts.list('default', { sort: 'id.asc' })).data
  expect(first).toMatchObject({ status: 'FAILED', error_message: "plugin 'own' answered no request" })
  expect(posthorn.deliveries).toHaveLength(0)
})

const noInbound: Record<string, (request: object) => unknown> = {
  nothing: () => undefined,
  'a text': () => 'ok',
  'no headers': (request) => ({ ...request, headers: undefined }),
  'headers that are an object': (request) => ({ ...request, headers: {} }),
  'a url that is a text': (request) => ({ ...request, url: 'https://shop.test/' }),
  'a body that is a text': (request) => ({ ...request, body: '{}' }),
}

test.each(
  Object.entries(noInbound).flatMap(([what, run]) => [
    [what, 'at once', run] as const,
    [what, 'later', async (request: object) => run(request)] as const,
  ]),
)('a plugin that answers %s, %s, refuses the request with 500, and the log says why', async (_what, _when, run) => {
  const { posthorn, errors } = await withPlugin('inbound', run)
  const answer = await posthorn.gateway.fetch(
    new Request('http://gateway.test/in', { method: 'POST', body: '{"event_type":"x","data":{}}' }),
  )
  expect(answer.status).toBe(500)
  expect(errors).toEqual([
    expect.stringMatching(/^plugin .* \(own\) failed: it answered neither a request nor a Response$/),
  ])
  expect((await posthorn.events.list('default')).data).toHaveLength(0)
})
