import { expect, test } from 'vitest'

import type { HttpClient } from '../../src/contracts/http-client.ts'
import { Cancellation } from '../../src/core/cancellation.ts'
import { senderOf } from '../../src/core/sender.ts'
import { client } from './client.ts'
import { rawReceiver } from './receiver.ts'

const options = { timeoutMs: 5000, captureBytes: 1000 }

async function unanswered() {
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => (arrived = resolve))
  const { url, sockets } = await rawReceiver((socket) => void socket.once('data', arrived))
  return { request: { method: 'POST', url, headers: {}, body: '{}' }, arrival, sockets }
}

test('a delivery that is canceled ends its request and closes the connection', async () => {
  const { request, arrival, sockets } = await unanswered()
  const cancellation = new Cancellation()
  const reply = senderOf(client().http)(request, options, cancellation)
  await arrival
  cancellation.cancel()
  expect(await reply).toEqual({ kind: 'aborted' })
  await expect.poll(() => sockets.size).toBe(0)
})

test('a client that a host wrapped around ours is the one that sends, and its signal tells the same', async () => {
  const { request, arrival, sockets } = await unanswered()
  const { http } = client()
  const sent: string[] = []
  const wrapped: HttpClient = {
    ...http,
    send(outbound, how) {
      sent.push(outbound.url)
      return http.send(outbound, how)
    },
  }
  const cancellation = new Cancellation()
  const reply = senderOf(wrapped)(request, options, cancellation)
  await arrival
  cancellation.cancel()
  expect(await reply).toEqual({ kind: 'aborted' })
  expect(sent).toEqual([request.url])
  await expect.poll(() => sockets.size).toBe(0)
})
