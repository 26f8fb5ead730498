import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'

import { Failure } from './failure.ts'

interface Handler {
  fetch(request: Request): Promise<Response>
}

/** One port on which a handler answers. */
export interface Face {
  readonly url: string
  /** Takes no new request, and resolves when those under way are answered. */
  close(): Promise<void>
}

/** @throws Failure when the port is in use or must not be taken. */
export async function listen(handler: Handler, address: { host: string; port: number; name: string }): Promise<Face> {
  const { host, port, name } = address
  const answer = getRequestListener((request) => handler.fetch(request), { overrideGlobalObjects: false })
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Failure(`cannot listen on ${host}:${port} for ${name}: ${reasons[codeOf(error)] ?? codeOf(error)}`)
  }
  const bound = (server.address() as AddressInfo).port // the address of a TCP server is an `AddressInfo`
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, close: () => closed(server) }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'the port needs more rights',
  EADDRNOTAVAIL: 'this machine has no such address',
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason'
}

const lookAgainMs = 50

/** A kept-alive connection falls idle when the answer is out, and only then may be closed. */
async function closed(server: Server): Promise<void> {
  const over = once(server, 'close')
  server.close()
  const idle = setInterval(() => server.closeIdleConnections(), lookAgainMs)
  await over
  clearInterval(idle)
}
