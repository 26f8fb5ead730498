import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Receivers with a secret and a header each, who take what carries both, by node:crypto alone. */
export interface Receivers {
  /** The number of a receiver goes behind it. */
  readonly url: string
  /** The events that were taken. */
  readonly events: ReadonlySet<string>
  /** Deliveries that were refused. */
  refused(): number
  headerOf(n: number): string
  secretOf(n: number): string
  close(): void
}

export async function startReceivers(count: number): Promise<Receivers> {
  const keys = Array.from({ length: count }, (_, n) => Buffer.alloc(32, `key of receiver ${n} `))
  const headerOf = (n: number): string => `Bearer of receiver ${n}, planted`
  const events = new Set<string>()
  let refused = 0
  const takes = ({ url, headers }: IncomingMessage, body: string): boolean => {
    const n = Number(url?.slice(1))
    const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const mac = createHmac('sha256', keys[n]!).update(content).digest('base64')
    const signatures = String(headers['webhook-signature']).split(' ')
    return headers.authorization === headerOf(n) && signatures.includes(`v1,${mac}`)
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isGood = takes(request, Buffer.concat(chunks).toString())
      if (isGood) events.add(String(request.headers['webhook-id']))
      else refused++
      response.writeHead(isGood ? 200 : 401).end()
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // a TCP server's address is one
    events,
    refused: () => refused,
    headerOf,
    secretOf: (n) => `whsec_${keys[n]!.toString('base64')}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
