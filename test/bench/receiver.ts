import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const kinds = ['receive', 'stay silent'] as const

/** An endpoint in a process of its own, so that its work is not counted: it reads the request and answers 200, or never. */
export async function startReceiver(
  kind: (typeof kinds)[number] = 'receive',
): Promise<{ url: string; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), [kind], { execArgv: [] })
  const port = await new Promise<number>((ready) => child.once('message', (message) => ready(Number(message))))
  return { url: `http://127.0.0.1:${port}/hook`, stop: () => child.kill() }
}

/** Whether this process is that endpoint; then it is already listening. */
export function isReceiver(): boolean {
  const kind = kinds.find((each) => each === process.argv[2])
  if (kind === undefined) return false
  const server = kind === 'receive' ? answering() : silent()
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)) // it listens on a port
  return true
}

function answering(): net.Server {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 })
      response.end('{"ok":true}')
    })
  })
  server.keepAliveTimeout = 60_000
  return server
}

function silent(): net.Server {
  return net.createServer((socket) => {
    socket.on('error', () => {}) // whoever gave up may have gone at once
    socket.resume()
  })
}
