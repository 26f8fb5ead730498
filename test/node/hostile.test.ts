import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

import { describe, expect, test } from 'vitest'

import { expectKind, connectionKinds } from './client.ts'
import { rawReceiver, receiver } from './receiver.ts'

const head = 'HTTP/1.1 200 OK\r\n'

/** Answers the first bytes of a connection by a function of the socket. */
const onRequest = (answer: (socket: Socket) => void) => (socket: Socket) =>
  void socket.once('data', () => answer(socket))

/** Writes the same bytes as long as the other side takes them. */
function pour(socket: Socket, bytes: string | Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', write)
  write()
}

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('a receiver', () => {
    test('that never answers costs the timeout and no more, and its connection is closed', async () => {
      const { url, sockets } = await rawReceiver((socket) => void socket.resume())
      const startedAt = performance.now()
      const reply = await client().send(url, { timeoutMs: 200 })
      expect(reply).toEqual({ kind: 'timeout', message: 'timed out after 200 ms waiting for headers' })
      expect(performance.now() - startedAt).toBeLessThan(1000)
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('that drips its headers is timed out', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => {
          socket.write(`${head}x-long: `)
          const timer = setInterval(() => socket.write('x'), 20)
          socket.on('close', () => clearInterval(timer))
        }),
      )
      expect(await client().send(url, { timeoutMs: 300 })).toMatchObject({ kind: 'timeout' })
    })

    test('whose body stalls has answered: what came is kept', async () => {
      const { url, sockets } = await rawReceiver(
        onRequest((socket) => void socket.write(`${head}content-length: 100\r\nx-a: 1\r\n\r\npartial`)),
      )
      const reply = expectKind(await client().send(url, { timeoutMs: 300 }), 'response')
      expect(reply).toMatchObject({ status: 200, body: 'partial', headers: { 'x-a': '1', 'content-length': '100' } })
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('with an endless body is read up to the bound, and its connection is closed', async () => {
      const { url, sockets } = await rawReceiver(
        onRequest((socket) => {
          socket.write(`${head}\r\n`)
          pour(socket, 'x'.repeat(65_536))
        }),
      )
      const reply = expectKind(await client().send(url, { captureBytes: 1000 }), 'response')
      expect(reply.body).toBe('x'.repeat(1000))
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('that announces 10 GB is read up to the bound', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => {
          socket.write(`${head}content-length: 10000000000\r\n\r\n`)
          pour(socket, 'y'.repeat(65_536))
        }),
      )
      const reply = expectKind(await client().send(url), 'response')
      expect(reply.body).toHaveLength(65_536)
    })

    test('that resets in its body has answered with what came', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => {
          socket.write(`${head}content-length: 100\r\n\r\nhalf`)
          setTimeout(() => socket.resetAndDestroy(), 50)
        }),
      )
      expect(await client().send(url)).toMatchObject({ kind: 'response', status: 200, body: 'half' })
    })

    test('that resets before it answers, on a fresh connection, is an error and asked once', async () => {
      let requests = 0
      const { url } = await rawReceiver(
        onRequest((socket) => {
          requests++
          socket.resetAndDestroy()
        }),
      )
      expect(await client().send(url)).toEqual({
        kind: 'error',
        message: 'connection closed before an answer came',
        unreachable: false,
      })
      expect(requests).toBe(1)
    })

    test.each([
      ['a malformed status line', 'HTTP/9.9 what\r\n\r\n'],
      ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
      ['two lengths', `${head}content-length: 1\r\ncontent-length: 2\r\n\r\nx`],
      ['a length and chunks', `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a header without a name', `${head}: x\r\n\r\n`],
    ])('that answers %s is an error that says so', async (_what, bytes) => {
      const { url } = await rawReceiver(onRequest((socket) => void socket.write(bytes)))
      const reply = expectKind(await client().send(url), 'error')
      expect(reply.message).toMatch(/^the answer is not HTTP \(.+\)$/)
      expect(reply.unreachable).toBe(false)
    })

    test('with a header of 1 MB is an error', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => void socket.write(`${head}x: ${'x'.repeat(1_000_000)}\r\n\r\n`)),
      )
      expect(await client().send(url)).toMatchObject({
        kind: 'error',
        message: 'the status line and headers of the answer are longer than 16 KiB',
      })
    })

    test('that sends endless informational answers is given up soon', async () => {
      const { url } = await rawReceiver(onRequest((socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')))
      expect(await client().send(url)).toMatchObject({
        kind: 'error',
        message: 'the receiver sent too many informational answers',
      })
    })

    test('that sends 100 Continue without being asked is understood, if not the first time', async () => {
      const { url } = await rawReceiver((socket) =>
        socket.on('data', () => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${head}content-length: 2\r\n\r\nok`)),
      )
      const { send } = client()
      const first = await send(url)
      if (first.kind !== 'response') {
        expect(first).toEqual({
          kind: 'error',
          message: 'the receiver sent 100 Continue without being asked for it',
          unreachable: false,
        })
      }
      expect(await send(url)).toMatchObject({ kind: 'response', status: 200, body: 'ok' })
    })

    test('may send a few of them before its answer', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => {
          socket.write('HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n')
          socket.write(`${head}content-length: 2\r\n\r\nok`)
        }),
      )
      expect(await client().send(url)).toMatchObject({ kind: 'response', status: 200, body: 'ok' })
    })

    test('that wants to switch protocols has answered so', async () => {
      const { url } = await rawReceiver(
        onRequest((socket) => void socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')),
      )
      expect(await client().send(url)).toMatchObject({ kind: 'response', status: 101, body: '' })
    })

    test('with a bomb in gzip is not unpacked', async () => {
      const bomb = gzipSync(Buffer.alloc(50_000_000))
      const { url } = await receiver((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb)
      })
      const reply = expectKind(await client().send(url), 'response')
      expect(reply.headers['content-encoding']).toBe('gzip')
      expect(Buffer.byteLength(reply.body)).toBeLessThanOrEqual(65_536)
    })

    test('that redirects is answered by its redirect', async () => {
      let requests = 0
      const { url } = await receiver((_request, response) => {
        requests++
        response.writeHead(307, { location: '/elsewhere' }).end('moved')
      })
      expect(await client().send(url)).toMatchObject({
        kind: 'response',
        status: 307,
        headers: { location: '/elsewhere' },
        body: 'moved',
      })
      expect(requests).toBe(1)
    })

    test('cannot fill the record with headers', async () => {
      const { url } = await receiver((_request, response) => {
        for (let i = 0; i < 100; i++) response.setHeader(`x-${i}`, 'v'.repeat(100))
        response.end()
      })
      const reply = expectKind(await client().send(url, { captureBytes: 500 }), 'response')
      expect(JSON.stringify(reply.headers).length).toBeLessThan(800)
    })
  })

  describe('a kept connection', () => {
    test('that the receiver closes just when it is used again costs one silent retry on a fresh one', async () => {
      const bodies: string[] = []
      let connections = 0
      const { url } = await rawReceiver((socket) => {
        connections++
        let requests = 0
        socket.on('data', (bytes) => {
          bodies.push(bytes.toString().split('\r\n\r\n')[1]!)
          // The first connection answers once, then reads the next request and resets.
          if (++requests === 1) socket.write(`${head}content-length: 2\r\n\r\nok`)
          else socket.resetAndDestroy()
        })
      })
      const { send } = client()
      expect(await send(url, { request: { body: 'first' } })).toMatchObject({ kind: 'response' })
      expect(await send(url, { request: { body: 'second' } })).toMatchObject({ kind: 'response', body: 'ok' })
      expect(connections).toBe(2)
      expect(bodies).toEqual(['first', 'second', 'second'])
    })

    test('is not retried a second time, nor on another kept connection', async () => {
      let resets = 0
      let isClosing = false
      const { url } = await rawReceiver((socket) => {
        socket.on('data', () => {
          if (isClosing) {
            resets++
            socket.resetAndDestroy()
          } else setTimeout(() => socket.write(`${head}content-length: 2\r\n\r\nok`), 20)
        })
      })
      const { http, send } = client()
      await Promise.all([send(url), send(url), send(url)])
      expect(http.connections).toBe(3)
      isClosing = true
      expect(await send(url)).toMatchObject({ kind: 'error', message: 'connection closed before an answer came' })
      expect(resets).toBe(2)
      await expect.poll(() => http.connections).toBe(0)
    })

    test('that breaks after a byte of the answer is not tried again', async () => {
      let requests = 0
      const { url } = await rawReceiver((socket) => {
        socket.on('data', () => {
          if (++requests === 1) return void socket.write(`${head}content-length: 2\r\n\r\nok`)
          socket.write('H')
          setTimeout(() => socket.resetAndDestroy(), 20)
        })
      })
      const { send } = client()
      await send(url)
      expect(await send(url)).toMatchObject({ kind: 'error' })
      expect(requests).toBe(2)
    })

    test('carries the next request when the answer was read to its end, and is closed when it was not', async () => {
      let connections = 0
      const { url, server } = await receiver(
        (request, response) => void response.end('x'.repeat(request.url === '/big' ? 2000 : 1000)),
      )
      server.on('connection', () => connections++)
      const { send } = client()
      await send(url, { captureBytes: 1000 })
      await send(url, { captureBytes: 1000 })
      expect(connections).toBe(1)
      await send(`${url}big`, { captureBytes: 1000 })
      await send(url, { captureBytes: 1000 })
      expect(connections).toBe(2)
    })

    test('whose answer came before the request was read is not used again', async () => {
      let connections = 0
      const { url } = await rawReceiver((socket) => {
        connections++
        socket.once('data', () => {
          socket.pause()
          socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno')
        })
      })
      const { send } = client()
      const body = 'x'.repeat(20_000_000)
      expect(await send(url, { request: { body } })).toMatchObject({ kind: 'response', status: 413, body: 'no' })
      expect(await send(url)).toMatchObject({ kind: 'response', status: 413 })
      expect(connections).toBe(2)
    })

    test('on which an answer comes that nobody asked for gives it to nobody', async () => {
      const answer = (body: string): string => `${head}content-length: ${body.length}\r\n\r\n${body}`
      let requests = 0
      let forged = 0
      const { url } = await rawReceiver((socket) => {
        socket.on('data', () => {
          socket.write(answer(`answer ${++requests}`))
          setTimeout(() => socket.write(answer('forged'), () => void forged++), 20)
        })
      })
      const { send } = client()
      expect(await send(url)).toMatchObject({ body: 'answer 1' })
      await expect.poll(() => forged).toBe(1)
      await new Promise((later) => setTimeout(later, 40))
      expect(await send(url)).toMatchObject({ body: 'answer 2' })
    })

    test('that is idle for more than four seconds is closed', async () => {
      const { url } = await receiver((_request, response) => void response.end())
      const { http, send } = client()
      await send(url)
      expect(http.connections).toBe(1)
      await expect.poll(() => http.connections, { timeout: 6000, interval: 100 }).toBe(0)
    })
  })
})
