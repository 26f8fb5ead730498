import { expect, test } from 'vitest'

import type { HttpClient } from '../../src/contracts/http-client.ts'
import { Cancellation } from '../../src/core/cancellation.ts'
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
  const reply = client().http.send(request, { ...options, signal: cancellation.signal }, cancellation)
  await arrival
  cancellation.cancel()
  expect(await reply).toEqual({ kind: 'aborted' })
  await expect.poll(() => sockets.size).toBe(0)
})

test.each(['the worker', 'the host'])('a client of the host that copies the options for ours hears %s', async (who) => {
  const { request, arrival, sockets } = await unanswered()
  const { http } = client()
  const own = new AbortController()
  const wrapped: HttpClient = {
    ...http,
    send: (outbound, how) => http.send(outbound, { ...how, signal: AbortSignal.any([how.signal, own.signal]) }),
  }
  const cancellation = new Cancellation()
  const reply = wrapped.send(request, { ...options, signal: cancellation.signal }, cancellation)
  await arrival
  if (who === 'the host') own.abort()
  else cancellation.cancel()
  expect(await reply).toEqual({ kind: 'aborted' })
  await expect.poll(() => sockets.size).toBe(0)
})
