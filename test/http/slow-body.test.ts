import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'

import { serve } from '@hono/node-server'
import { afterEach, expect, test } from 'vitest'

import { createPosthorn } from '../../src/index.ts'

// Over sockets: what becomes of the connection of a body that is not read to its end.

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function gateway(options: { bodyTimeoutMs?: number; maxBodyBytes?: number }) {
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const posthorn = createPosthorn({ gateway: options, logger })
  await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  return await new Promise<number>((resolve) => {
    const server = serve({ fetch: (request) => posthorn.gateway.fetch(request), port: 0, hostname: '127.0.0.1' }, () =>
      resolve((server.address() as AddressInfo).port),
    )
    closing.push(() => server.close())
  })
}

/** Sends parts of a request and answers all that came until the connection was closed. */
async function exchange(port: number, head: string, parts: () => Iterable<string>): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.on('error', () => {}) // the other side may close while something is sent
  socket.write(`POST /in HTTP/1.1\r\nhost: gateway.test\r\n${head}\r\n\r\n`)
  for (const part of parts()) socket.write(part)
  await new Promise((resolve) => socket.on('close', resolve))
  return received
}

test('a body that does not arrive in time is answered 408, and the connection is closed', async () => {
  const port = await gateway({ bodyTimeoutMs: 200 })
  const received = await exchange(port, 'content-length: 100', () => ['{"event_type"'])
  expect(received).toMatch(/^HTTP\/1\.1 408 /)
  expect(received.toLowerCase()).toContain('connection: close')
  expect(received).toContain('{"message":"request timeout"}')
})

test('a body that ends too large is answered 413 before all of it came', async () => {
  const port = await gateway({ maxBodyBytes: 1000 })
  const chunk = `${(500).toString(16)}\r\n${'x'.repeat(500)}\r\n`
  const received = await exchange(port, 'transfer-encoding: chunked\r\nconnection: close', () => [chunk, chunk, chunk])
  expect(received).toMatch(/^HTTP\/1\.1 413 /)
})
