import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const maxMs = 5000

async function drip(socket: Socket, text: string): Promise<void> {
  for (const part of text) {
    if (socket.destroyed) return
    socket.write(part)
    await sleep(100)
  }
  socket.destroy()
}

async function pour(response: ServerResponse): Promise<void> {
  const block = Buffer.alloc(16_384, 'x')
  const until = performance.now() + maxMs
  while (!response.destroyed && performance.now() < until) {
    if (!response.write(block)) await sleep(20)
  }
  response.destroy()
}

/** How receivers behave, by the path that they are reached at. */
const manners: Readonly<Record<string, (response: ServerResponse, socket: Socket) => unknown>> = {
  '/good': (response) => response.end(),
  '/silent': () => {},
  '/drip': (_response, socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  '/dripping-body': (_response, socket) => drip(socket, `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(30)}`),
  '/endless': (response) => pour(response),
  '/reset': (_response, socket) => socket.resetAndDestroy(),
  '/reset-midway': (_response, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nxx', () => socket.resetAndDestroy())
  },
  '/long-head': (_response, socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
  '/many-heads': (_response, socket) => socket.end(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(5000)}\r\n`),
  '/early': (_response, socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)),
  '/garbage': (_response, socket) => socket.end(Buffer.alloc(10_000, 0xfe)),
  '/extensions': (_response, socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${'e'.repeat(100_000)}`),
  '/gone': (response) => response.writeHead(410).end(),
  '/later': (response) => response.writeHead(503, { 'retry-after': '31536000' }).end(),
  '/elsewhere': (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  '/slow': (response) => sleep(1500).then(() => response.end()),
}

export const hostilePaths: readonly string[] = Object.keys(manners).filter((path) => path !== '/good')

/** Receivers of every manner, on a free port. */
export async function openReceivers(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    void manners[request.url ?? '']?.(response, request.socket)
  })
  server.on('connection', (socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receivers have no port')
  return { server, port: address.port }
}
