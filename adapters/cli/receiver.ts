import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that arrived, as a receiver of webhooks sees it. */
export interface Arrival {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A server on loopback that answers 200 and tells what arrives. */
export async function receiver(onArrival: (arrival: Arrival) => void): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.end()
      onArrival({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // the address of a TCP server is an `AddressInfo`
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
