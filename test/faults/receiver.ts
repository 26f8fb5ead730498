import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An endpoint that counts what it gets. */
export interface Receiver {
  readonly url: string
  /** Requests by the id of their attempt. */
  readonly attempts: ReadonlyMap<string, number>
  /** The events that were answered 200. */
  readonly events: ReadonlySet<string>
  close(): void
}

/** @param failing whether this attempt of an event is answered 500. Default: none is. */
export async function startReceiver(
  delayMs: number,
  failing: (event: string, attempt: number) => boolean = () => false,
): Promise<Receiver> {
  const attempts = new Map<string, number>()
  const events = new Set<string>()
  const server = createServer((request, response) => {
    const header = (name: string) => String(request.headers[name])
    const attempt = header('webhook-delivery-id')
    attempts.set(attempt, (attempts.get(attempt) ?? 0) + 1)
    request.resume()
    setTimeout(() => {
      const bad = failing(header('webhook-id'), Number(header('webhook-attempt')))
      if (!bad) events.add(header('webhook-id'))
      response.writeHead(bad ? 500 : 200).end()
    }, delayMs)
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // a TCP server's address is one
    attempts,
    events,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
