import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterEach, expect, test } from 'vitest'

import { type Program, program } from '../support/program.ts'

// Over sockets: the built server, which has all plugins, on memory, delivering to a receiver on loopback.

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A provider that no plugin knows: it signs `<time>:<body>`, and its payload is no event yet. */
const inbound = `
  const secret = 'acme-secret'
  function handle() {
    const { request, response, utils, log } = webhookx
    const [, time, signature] = /^t=(\\d+), h=([0-9a-f]+)$/.exec(request.getHeader('X-Acme-Signature') ?? '') ?? []
    const expected = utils.encode('hex', utils.hmac('SHA-256', secret, time + ':' + request.getBody()))
    if (signature === undefined || !utils.timingSafeEqual(signature, expected)) {
      response.exit(403, { 'x-reason': 'signature' }, { error: 'not from Acme' })
    }
    const { id, kind, object } = JSON.parse(request.getBody())
    request.setBody({ event_type: 'acme.' + kind, data: object, unique_id: id })
  }`

/** What the receiver understands, made of what the provider told. */
const outbound = `
  function handle() {
    const { order, cents, currency } = JSON.parse(webhookx.request.getBody())
    webhookx.request.setHeader('X-Channel', 'orders')
    webhookx.request.setBody({ text: 'Order ' + order + ': ' + (cents / 100).toFixed(2) + ' ' + currency })
  }`

async function receiver() {
  const received: { readonly channel: unknown; readonly type: unknown; readonly body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { 'x-channel': channel, 'webhook-event-type': type } = request.headers
      received.push({ channel, type, body: Buffer.concat(chunks).toString() })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received }
}

/** The server with one source at `/in` and one endpoint that gets all events. */
async function exampleServer(hooks: string) {
  const env = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0', DENY: '', DATABASE_URL: '', REDIS_URL: '' }
  const server: Program = program(process.execPath, ['dist/cli/index.js', 'serve', '--log', 'text'], { env })
  closing.push(() => server.stop())
  const face = async (name: string) => (await server.says(new RegExp(`^${name} `))).split(/ +/)[1]!
  const [admin, gateway] = [await face('admin'), await face('gateway')]

  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${admin}${path}`, { method: 'POST', body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as { readonly id: string } }
  }
  const endpoint = await post('/endpoints', { request: { url: hooks }, events: ['*'] })
  const source = await post('/sources', { config: { http: { path: '/in' } } })
  return {
    server,
    admin,
    endpointId: endpoint.body.id,
    sourceId: source.body.id,
    plugin: (plugin: object) => post('/plugins', plugin),
    async send(body: string, headers: Readonly<Record<string, string>> = {}) {
      const answer = await fetch(`${gateway}/in`, { method: 'POST', headers, body })
      return { status: answer.status, reason: answer.headers.get('x-reason'), text: await answer.text() }
    },
  }
}

function signed(body: string, secret = 'acme-secret', time = '1726285679') {
  const signature = createHmac('sha256', secret).update(`${time}:${body}`).digest('hex')
  return { 'x-acme-signature': `t=${time}, h=${signature}` }
}

const slow = { timeout: 60_000 }

test('a function checks an unknown provider, another one maps its payload for the receiver', slow, async () => {
  const { url, received } = await receiver()
  const { server, admin, endpointId, sourceId, plugin, send } = await exampleServer(url)
  const guard = await plugin({ name: 'function', source_id: sourceId, config: { function: inbound } })
  const mapping = await plugin({ name: 'function', endpoint_id: endpointId, config: { function: outbound } })
  expect([guard.status, mapping.status]).toEqual([201, 201])

  const body = '{"id":"e1","kind":"order","object":{"order":7,"cents":1250,"currency":"€"}}'
  const refusal = { status: 403, reason: 'signature', text: '{"error":"not from Acme"}' }
  expect(await send(body)).toEqual(refusal)
  expect(await send(body, signed(body, 'another'))).toEqual(refusal)
  expect(await send(`${body} `, signed(body))).toEqual(refusal)
  expect(await send(body, signed(body))).toMatchObject({ status: 200 })
  expect(await send(body, signed(body))).toMatchObject({ status: 200 }) // the provider sends it again

  const mapped = { channel: 'orders', type: 'acme.order', body: '{"text":"Order 7: 12.50 €"}' }
  await expect.poll(() => received, { timeout: 20_000 }).toEqual([mapped])
  const page = (await (await fetch(`${admin}/events`)).json()) as { data: readonly object[] }
  expect(page.data).toMatchObject([
    { event_type: 'acme.order', unique_id: 'e1', data: { order: 7, cents: 1250, currency: '€' } },
  ])

  // The function fails on what is signed but no JSON: the sender learns nothing, the log says what and where.
  for (let i = 0; i < 2; i++) expect(await send('{', signed('{'))).toMatchObject({ status: 500, reason: null })
  expect(await server.says(/ failed: /)).toMatch(new RegExp(`^plugin ${guard.body.id} \\(function\\) failed: `))
  expect(await server.stop()).toBe(0)
  expect((await server.ended()).split('\n').slice(5)).toHaveLength(2)
  expect(received).toHaveLength(1)
})

test('events that do not conform to the schema of their type go nowhere', slow, async () => {
  const { url, received } = await receiver()
  const { sourceId, plugin, send } = await exampleServer(url)
  const validation = (schema: object) =>
    plugin({
      name: 'event-validation',
      source_id: sourceId,
      config: { version: 'draft-2020-12', schemas: { 'order.paid': JSON.stringify(schema) }, verbose_response: true },
    })
  expect(await validation({ properties: { n: { minimum: 'one' } } })).toMatchObject({
    status: 400,
    body: {
      error: { fields: { config: { schemas: { 'order.paid': "at 'properties/n/minimum': value must be number" } } } },
    },
  })
  const name = { type: 'string', pattern: '^(a+)+$' }
  expect(await validation({ required: ['n'], properties: { n: { type: 'integer' }, name } })).toMatchObject({
    status: 201,
  })

  const event = (data: object) => JSON.stringify({ event_type: 'order.paid', data })
  const refused = await send(event({ n: 1.5, name: `${'a'.repeat(50_000)}b` }))
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    400,
    {
      message: 'event data does not conform to schema',
      error: ["at 'n': value must be integer", "at 'name': string doesn't match the pattern"],
    },
  ])
  expect(await send(event({ n: 1, name: 'aaa' }))).toMatchObject({ status: 200 })
  await expect.poll(() => received.map(({ body }) => body), { timeout: 20_000 }).toEqual(['{"n":1,"name":"aaa"}'])
})
