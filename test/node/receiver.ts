import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

/** A receiver on a free loopback port, closed with all its connections when the test is over. */
export async function receiver(listener: RequestListener): Promise<{ url: string; port: number; server: Server }> {
  const server = createHttpServer(listener)
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}/`, port, server }
}

/** A receiver that speaks in bytes: for answers that no HTTP server would give. */
export async function rawReceiver(
  onConnection: (socket: Socket) => void,
): Promise<{ url: string; port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // clients go away in these tests
    onConnection(socket)
  })
  const port = await listen(server, sockets)
  return { url: `http://127.0.0.1:${port}/`, port, sockets }
}

export async function listen(
  server: ReturnType<typeof createServer>,
  sockets = new Set<Socket>(),
  host = '127.0.0.1',
): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((ready) => server.listen(0, host, ready))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => server.close(closed))
  })
  return (server.address() as AddressInfo).port // it listens on a port
}
