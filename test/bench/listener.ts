import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Hears what is delivered to it, in this process. */
export async function listenTo(
  heard: (path: string, body: string, headers: IncomingHttpHeaders) => void,
): Promise<{ readonly base: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      heard(request.url ?? '', body, request.headers)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 })
      response.end('{"ok":true}')
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The time that all processes of this machine share, in milliseconds. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** The value below which this part of them lies. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN
}

/** Tells a listener what a run found. */
export async function report(listener: string, run: string, found: object): Promise<void> {
  await fetch(`${listener}/${run}`, { method: 'POST', body: JSON.stringify({ found }) })
}
