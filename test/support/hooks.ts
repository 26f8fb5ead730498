import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { onTestFinished } from 'vitest'

export interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A receiver of webhooks on loopback. It answers with what `status` says, 200 at first. */
export async function hooks(port = 0) {
  const received: Received[] = []
  const receiver = { url: '', received, status: 200, close: () => {} }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(receiver.status).end()
    })
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  receiver.close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(receiver.close)
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}
