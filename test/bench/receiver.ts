import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

/** An endpoint in a process of its own, so that its work is not counted: it reads the request and answers 200. */
export async function startReceiver(): Promise<{ url: string; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), ['receive'], { execArgv: [] })
  const port = await new Promise<number>((ready) => child.once('message', (message) => ready(Number(message))))
  return { url: `http://127.0.0.1:${port}/hook`, stop: () => child.kill() }
}

/** Whether this process is that endpoint; then it is already listening. */
export function isReceiver(): boolean {
  if (process.argv[2] !== 'receive') return false
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 })
      response.end('{"ok":true}')
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)) // it listens on a port
  return true
}
