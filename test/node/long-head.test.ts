import type { Socket } from 'node:net'

import { onTestFinished, expect, test } from 'vitest'

import { guardedClient } from '../../adapters/node/http-client.ts'
import { loadUndici } from '../../adapters/node/undici-connections.ts'
import { rawReceiver } from './receiver.ts'

type Client = NonNullable<Awaited<ReturnType<typeof loadUndici>>>
type Connect = (options: object, done: (error: Error | null, socket: Socket | null) => void) => void

const tooLong = 'the status line and headers of the answer are longer than 16 KiB'

/** A client over undici, and the lengths of what undici reads of the answers. */
async function watched() {
  const reads: number[] = []
  const Real = (await loadUndici())!
  class Watched extends Real {
    constructor(origin: string, { connect, ...options }: { connect: Connect }) {
      super(origin, {
        ...options,
        connect: ((request, done) =>
          connect(request, (error, socket) => {
            const read = socket?.read.bind(socket)
            if (read !== undefined) {
              socket!.read = (size) => {
                const bytes = read(size)
                if (bytes !== null) reads.push(bytes.length)
                return bytes
              }
            }
            done(error, socket)
          })) as Connect,
      } as ConstructorParameters<Client>[1])
    }
  }
  const http = guardedClient({ deny: [], allow: [] }, async () => Watched as unknown as Client)
  onTestFinished(() => http.close?.())
  const send = (url: string) =>
    http.send(
      { method: 'POST', url, headers: {}, body: '{}' },
      { timeoutMs: 2000, signal: new AbortController().signal, captureBytes: 65_536 },
    )
  return { reads, send }
}

const answering = (answer: string) => rawReceiver((socket) => void socket.on('data', () => void socket.write(answer)))

test('a head of thousands of lines is given up before it is parsed', async () => {
  const { reads, send } = await watched()
  const { url } = await answering(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(5000)}\r\n`)
  expect(await send(url)).toEqual({ kind: 'error', message: tooLong, unreachable: false, ended: false })
  expect(Math.max(0, ...reads)).toBeLessThanOrEqual(16_384)
})

test('a long body that comes with its head is read, on a kept connection too', async () => {
  const { reads, send } = await watched()
  const body = 'x'.repeat(40_000)
  const { url, sockets } = await answering(`HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n${body}`)
  expect(await send(url)).toMatchObject({ kind: 'response', body, ended: true })
  expect(await send(url)).toMatchObject({ kind: 'response', body, ended: true })
  expect(reads.reduce((sum, length) => sum + length)).toBeGreaterThan(80_000)
  expect(sockets.size).toBe(1)
})
