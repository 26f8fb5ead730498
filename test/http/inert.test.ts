import { expect, test } from 'vitest'

import { definePlugin } from '../../src/contracts/plugin.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { object } from '../../src/schema/fields.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { memoryLog } from './api.ts'

// What a source answers comes from the host's origin: in a browser nothing of it may run or stay.

const body = '{"event_type":"x","data":{}}'

function gateway(options: Parameters<typeof createTestPosthorn>[0] = {}) {
  const posthorn = createTestPosthorn(options)
  const post = (path = '/in', sent = body) =>
    posthorn.gateway.fetch(new Request(`http://gateway.test${path}`, { method: 'POST', body: sent }))
  return { posthorn, post }
}

function expectInert({ headers }: Response) {
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
}

test('every answer of the gateway, a refusal too', async () => {
  const { posthorn, post } = gateway({ gateway: { maxBodyBytes: 100 } })
  const response = { code: 200, content_type: 'text/html', body: '<script>alert(1)</script>' }
  await posthorn.sources.create('default', { config: { http: { path: '/in', response } } })
  await posthorn.sources.create('default', {
    config: { http: { path: '/limited' } },
    rate_limit: { quota: 0, period: 1 },
  })
  for (const [path, sent, status] of [
    ['/in', body, 200],
    ['/nowhere', body, 404],
    ['/in', '{', 400],
    ['/in', 'x'.repeat(101), 413],
    ['/limited', body, 429],
  ] as const) {
    const answer = await post(path, sent)
    expect(answer.status).toBe(status)
    expectInert(answer)
  }
})

test('what a plugin of the host answers, whatever it is made of', async () => {
  const redirects = definePlugin({
    name: 'redirects',
    sides: ['inbound'],
    config: object({}),
    prepare: () => ({ inbound: () => Response.redirect('https://example.com/', 302) }),
  })
  const { posthorn, post } = gateway({ plugins: [redirects] })
  await posthorn.sources.create('default', { id: 's', config: { http: { path: '/in' } } })
  await posthorn.plugins.create('default', { name: 'redirects', source_id: 's' })
  const answer = await post()
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://example.com/'])
  expectInert(answer)
})

test('exit() of a function sets listed headers; others are left out, with one line in the log', async () => {
  const logger = memoryLog()
  const { posthorn, post } = gateway({ plugins: [functionPlugin()], logger })
  const answer = async (status: number, headers: object) => {
    const source = await posthorn.sources.create('default', { config: {} })
    const code = `function handle() { webhookx.response.exit(${status}, ${JSON.stringify(headers)}, 'text') }`
    await posthorn.plugins.create('default', { name: 'function', source_id: source.id, config: { function: code } })
    return await post(source.config.http.path)
  }
  const passing = {
    'content-type': 'text/html',
    'Cache-Control': 'no-store',
    'retry-after': '5',
    'X-Reason': 'signature',
  }
  const left = {
    'set-cookie': 'a=1',
    'Service-Worker-Allowed': '/',
    'strict-transport-security': 'max-age=1',
    'access-control-allow-origin': '*',
    'clear-site-data': '"*"',
    'public-key-pins': 'x',
    link: '</x>; rel=preload',
    'content-security-policy': 'default-src *',
    'x-accel-redirect': '/etc/passwd',
    'x-sendfile': '/etc/passwd',
    location: 'https://evil.example/',
  }
  const found = await answer(200, { ...passing, ...left, 'x-content-type-options': 'sniff' })
  for (const [name, value] of Object.entries(passing)) expect(found.headers.get(name), name).toBe(value)
  for (const name of Object.keys(left)) {
    if (name !== 'content-security-policy') expect(found.headers.has(name), name).toBe(false)
  }
  expectInert(found)
  const lines = logger.lines.filter(({ message }) => message.startsWith('exit: '))
  expect(lines).toHaveLength(1)
  expect(lines[0]!.message).toContain('set-cookie')

  const moved = await answer(303, { location: 'https://example.com/' })
  expect(moved.headers.get('location')).toBe('https://example.com/')
})
