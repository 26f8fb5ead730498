import type { Socket } from 'node:net'

import { describe, expect, test } from 'vitest'

import { restOfAnswerMs } from '../../src/core/rest-of-answer.ts'
import { expectKind, connectionKinds } from './client.ts'
import { rawReceiver, receiver } from './receiver.ts'

const head = 'HTTP/1.1 200 OK\r\n'
const chunked = `${head}transfer-encoding: chunked\r\n\r\n`
const bound = 16_384
const headTooLong = 'the status line and headers of the answer are longer than 16 KiB'
const framingTooLong = 'the chunk extensions or the trailer of the answer are longer than 16 KiB'

/** Answers each request of a connection by a function of the socket. */
const onRequest = (answer: (socket: Socket) => void) => (socket: Socket) => void socket.on('data', () => answer(socket))

/** Writes the pieces one after the other, `everyMs` apart. */
function drip(socket: Socket, pieces: readonly string[], everyMs: number): void {
  let next = 0
  const timer = setInterval(() => {
    if (next < pieces.length) socket.write(pieces[next++]!)
    else clearInterval(timer)
  }, everyMs)
  socket.on('close', () => clearInterval(timer))
}

/** `ranMs`: `tookMs` without the time in which this process was held. On a busy machine that may be seconds. */
async function timed<T>(work: Promise<T>): Promise<{ result: T; tookMs: number; ranMs: number }> {
  const startedAt = performance.now()
  let heldMs = 0
  let last = startedAt
  const timer = setInterval(() => {
    const now = performance.now()
    heldMs += Math.max(0, now - last - 20)
    last = now
  }, 10)
  const result = await work
  clearInterval(timer)
  const tookMs = performance.now() - startedAt
  return { result, tookMs, ranMs: tookMs - heldMs }
}

/** A status line and headers of so many bytes in all. */
const headOf = (length: number): string => {
  const rest = `${head}content-length: 2\r\nx: \r\n\r\n`
  return rest.replace('x: ', `x: ${'a'.repeat(length - rest.length)}`)
}

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('the rest of an answer', () => {
    test.each([
      ['with a length', `${head}content-length: 100\r\n\r\npart`],
      ['in chunks', `${chunked}4\r\npart\r\n`],
      ['that ends with the connection', `HTTP/1.0 200 OK\r\n\r\npart`],
    ])('%s that stalls has one second, and the connection is closed', async (_what, bytes) => {
      const { url, sockets } = await rawReceiver(onRequest((socket) => void socket.write(bytes)))
      const { result, tookMs, ranMs } = await timed(client().send(url, { timeoutMs: 30_000 }))
      expect(result).toMatchObject({ kind: 'response', status: 200, body: 'part', ended: false })
      expect(tookMs).toBeGreaterThan(restOfAnswerMs - 50)
      expect(ranMs).toBeLessThan(restOfAnswerMs + 500)
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('that drips has one second all the same', async () => {
      const { url, sockets } = await rawReceiver(
        onRequest((socket) => {
          socket.write(chunked)
          drip(
            socket,
            Array.from({ length: 200 }, () => '1\r\nx\r\n'),
            20,
          )
        }),
      )
      const { result, ranMs } = await timed(client().send(url, { timeoutMs: 30_000 }))
      const { body, ended } = expectKind(result, 'response')
      expect(ended).toBe(false)
      expect(body).toMatch(/^x{20,50}$/)
      expect(ranMs).toBeLessThan(restOfAnswerMs + 500)
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('counts from the status that decides, not from an informational one', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => {
          socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
          drip(socket, ['HTTP/1.1 102 Processing\r\n\r\n', `${head}content-length: 2\r\n\r\n`, 'ok'], 600)
        }),
      )
      expect(await client().send(url)).toMatchObject({ kind: 'response', status: 200, body: 'ok', ended: true })
    })

    test('that comes just in time is whole, and its connection carries the next request', async () => {
      let connections = 0
      const { url } = await rawReceiver((socket) => {
        connections++
        onRequest((to) => {
          to.write(`${head}content-length: 4\r\n\r\n`)
          drip(to, ['la', 'te'], 350)
        })(socket)
      })
      const { send } = client()
      expect(await send(url)).toMatchObject({ kind: 'response', body: 'late', ended: true })
      expect(await send(url)).toMatchObject({ kind: 'response', body: 'late', ended: true })
      expect(connections).toBe(1)
    })

    test('that was cut leaves no connection for the next request', async () => {
      let connections = 0
      const { url } = await rawReceiver((socket) => {
        connections++
        onRequest((to) => void to.write(`${head}content-length: 4\r\n\r\n`))(socket)
      })
      const { http, send } = client()
      expect(await send(url, { timeoutMs: 300 })).toMatchObject({ kind: 'response', body: '', ended: false })
      expect(await send(url, { timeoutMs: 300 })).toMatchObject({ kind: 'response', ended: false })
      expect(connections).toBe(2)
      await expect.poll(() => http.connections).toBe(0)
    })

    test('has no more than what is left of the timeout', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => drip(socket, [`${head}content-length: 4\r\n\r\n`, 'la', 'te'], 300)),
      )
      const { result, ranMs } = await timed(client().send(url, { timeoutMs: 500 }))
      expect(result).toMatchObject({ kind: 'response', status: 200, body: '', ended: false })
      expect(ranMs).toBeLessThan(800)
    })

    test('that is longer than what is recorded did come in time', async () => {
      const { url } = await receiver((_request, response) => void response.end('x'.repeat(200_000)))
      expect(await client().send(url, { captureBytes: 1000 })).toMatchObject({ body: 'x'.repeat(1000), ended: true })
    })

    test('ended when the connection without a length was closed, and did not when one with a length was', async () => {
      const whole = await rawReceiver(onRequest((socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nall')))
      expect(await client().send(whole.url)).toMatchObject({ kind: 'response', body: 'all', ended: true })
      const half = await rawReceiver(onRequest((socket) => void socket.end(`${head}content-length: 9\r\n\r\nhalf`)))
      expect(await client().send(half.url)).toMatchObject({ kind: 'response', body: 'half', ended: false })
    })

    test('that we did not wait for is not held against the receiver', async () => {
      const { url } = await rawReceiver(onRequest((socket) => void socket.write(`${head}content-length: 4\r\n\r\n`)))
      const over = new AbortController()
      setTimeout(() => over.abort(), 200)
      expect(await client().send(url, { signal: over.signal })).toMatchObject({ kind: 'response', ended: true })
    })
  })

  describe('the bound of 16 KiB', () => {
    test.each([
      ['in one piece', (bytes: string) => [bytes]],
      ['in pieces', (bytes: string) => bytes.match(/[^]{1,5000}/g)!],
    ])('lets a status line and headers of that length pass, not one byte more, %s', async (_what, cut) => {
      const { url } = await rawReceiver((socket) =>
        socket.on('data', (request) => {
          const length = Number(/x-length: (\d+)/.exec(request.toString())![1])
          drip(socket, [...cut(headOf(length)), 'ok'], 20)
        }),
      )
      const sendFor = (length: number) => client().send(url, { request: { headers: { 'x-length': `${length}` } } })
      expect(await sendFor(bound)).toMatchObject({ kind: 'response', status: 200, body: 'ok', ended: true })
      expect(await sendFor(bound + 1)).toEqual({
        kind: 'error',
        message: headTooLong,
        unreachable: false,
        ended: false,
      })
    })

    test.each([
      ['a status line', `HTTP/1.1 200 ${'a'.repeat(20_000)}`],
      ['a whole status line', `HTTP/1.1 200 ${'a'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\nok`],
      ['a value of a header', `${head}x: ${'a'.repeat(20_000)}`],
      ['a name of a header', `${head}${'a'.repeat(20_000)}`],
      ['an informational answer', `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(20_000)}`],
      ['an answer after one', `HTTP/1.1 103 Early Hints\r\n\r\n${head}x: ${'a'.repeat(20_000)}`],
    ])('ends a try at once for %s', async (_what, bytes) => {
      const { url, sockets } = await rawReceiver(onRequest((socket) => void socket.write(bytes)))
      const { result, ranMs } = await timed(client().send(url))
      expect(result).toEqual({ kind: 'error', message: headTooLong, unreachable: false, ended: false })
      expect(ranMs).toBeLessThan(1000)
      await expect.poll(() => sockets.size).toBe(0)
    })

    test.each([
      ['a chunk extension', `${chunked}2\r\nok\r\n2;${'a'.repeat(20_000)}`],
      ['a whole chunk extension', `${chunked}2\r\nok\r\n2;${'a'.repeat(20_000)}\r\nno\r\n0\r\n\r\n`],
      ['a trailer', `${chunked}2\r\nok\r\n0\r\nx: ${'a'.repeat(20_000)}`],
    ])('ends a try at once although a status came, for %s', async (_what, bytes) => {
      const { url, sockets } = await rawReceiver(onRequest((socket) => void socket.write(bytes)))
      const { result, ranMs } = await timed(client().send(url))
      expect(result).toEqual({ kind: 'error', message: framingTooLong, unreachable: false, ended: false })
      expect(ranMs).toBeLessThan(restOfAnswerMs - 300)
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('holds for a chunk extension that comes in pieces, and lets a shorter one pass', async () => {
      const { url } = await rawReceiver((socket) =>
        socket.on('data', (request) => {
          const length = Number(/x-length: (\d+)/.exec(request.toString())![1])
          const extension = 'a'.repeat(length).match(/[^]{1,5000}/g)!
          drip(socket, [`${chunked}2;`, ...extension, '\r\nok\r\n0\r\n\r\n'], 20)
        }),
      )
      const sendFor = (length: number) => client().send(url, { request: { headers: { 'x-length': `${length}` } } })
      expect(await sendFor(16_000)).toMatchObject({ kind: 'response', body: 'ok', ended: true })
      const { result, ranMs } = await timed(sendFor(20_000))
      expect(result).toEqual({ kind: 'error', message: framingTooLong, unreachable: false, ended: false })
      expect(ranMs).toBeLessThan(restOfAnswerMs - 300)
    })

    test('counts each answer of a kept connection for itself, and no byte of a body', async () => {
      let connections = 0
      const { url } = await rawReceiver((socket) => {
        connections++
        const small = '1\r\nx\r\n'.repeat(10_000)
        onRequest(
          (to) =>
            void to.write(
              `${headOf(10_000).replace('content-length: 2', 'transfer-encoding: chunked')}${small}0\r\n\r\n`,
            ),
        )(socket)
      })
      const { send } = client()
      for (let i = 0; i < 4; i++) {
        expect(await send(url)).toMatchObject({ kind: 'response', body: 'x'.repeat(10_000), ended: true })
      }
      expect(connections).toBe(1)
    })
  })
})
