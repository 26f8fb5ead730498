import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

import { verifyWebhook } from '../../src/verify.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver that answers 500 once, then 200. */
export async function startReceiver() {
  const received: Received[] = []
  let seen = () => {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(received.length === 1 ? 500 : 200).end()
      seen()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    async until(count: number) {
      while (received.length < count) await new Promise<void>((resolve) => (seen = resolve))
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Uses a whole server: configuration by sync, an event through the gateway past its checks, a failed try and a signed
 * second one, and what the server tells of it. `functions` is whether the function plugin runs there.
 */
export async function useServer(
  { admin, gateway }: { readonly admin: string; readonly gateway: string },
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  { functions, work }: { readonly functions: boolean; work?: () => Promise<unknown> },
): Promise<void> {
  const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
  const post = (url: string, body: string) => fetch(url, { method: 'POST', body })
  const script = 'function handle() { webhookx.request.setHeader("x-by", "function") }'
  const synced = await post(
    `${admin}/config/sync`,
    JSON.stringify({
      endpoints: [
        {
          name: 'shop',
          request: { url: receiver.url },
          events: ['order.*'],
          retry: { config: { attempts: [0, 0] } },
          plugins: [
            { name: 'standard-webhooks', config: { secrets: [secret] } },
            ...(functions ? [{ name: 'function', config: { function: script } }] : []),
          ],
        },
      ],
      sources: [
        {
          name: 'orders',
          config: { http: { path: '/orders' } },
          rate_limit: { quota: 10, period: 60 },
          plugins: [
            { name: 'basic-auth', config: { username: 'a', password: 'b' } },
            {
              name: 'event-validation',
              config: { version: 'draft-07', schemas: { 'order.paid': '{"required":["order"]}' } },
            },
          ],
        },
      ],
    }),
  )
  assert.equal(synced.status, 200, await synced.clone().text())

  const order = '{"order":12345678901234567890,"to":"Genève"}'
  const send = (data: string, user = 'a:b') =>
    fetch(`${gateway}/orders`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(user)}` },
      body: `{"event_type":"order.paid","data":${data}}`,
    })
  assert.equal((await send(order, 'a:x')).status, 401)
  assert.equal((await send('{}')).status, 400)
  const accepted = await send(order)
  assert.equal(accepted.status, 200, await accepted.clone().text())
  assert.equal(accepted.headers.get('x-ratelimit-remaining'), '7')
  await work?.()
  await receiver.until(2)

  for (const [i, { headers, body }] of receiver.received.entries()) {
    assert.equal(body, order)
    assert.equal(headers['webhook-attempt'], String(i + 1))
    assert.equal(headers['webhook-id'], accepted.headers.get('webhook-event-id'))
    if (functions) assert.equal(headers['x-by'], 'function')
    await verifyWebhook({ headers, body }, secret)
  }
  for (;;) {
    const answer = await fetch(`${admin}/attempts?sort=id.asc&event_id=${accepted.headers.get('webhook-event-id')}`)
    const { data } = (await answer.json()) as { data: { status: string }[] }
    if (data.every(({ status }) => status === 'FAILED' || status === 'SUCCESSFUL')) {
      assert.deepEqual(
        data.map(({ status }) => status),
        ['FAILED', 'SUCCESSFUL'],
      )
      return
    }
  }
}
