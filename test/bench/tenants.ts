import { fork } from 'node:child_process'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const kind = 'be tenants'
const sampleMs = 50

/**
 * Endpoints of workspaces that are measured beside others, in a process of their own. The path says how they answer:
 *
 * - `/late/<ms>/...` after so many milliseconds,
 * - `/endless/...` with status 200 and one byte of a body, and no more,
 * - `/silent/...` never,
 * - `/turning/<ms>/<run>/...` at once, from the first request of the run for so many milliseconds, then never again,
 * - `/held/<ms>/<workspace>/...` as `late`, and counted,
 * - `/average/<ms>` with the mean number of `held` requests in flight through that time, by workspace, as JSON.
 */
export async function startTenants(): Promise<{ base: string; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), [kind], { execArgv: [] })
  const port = await new Promise<number>((ready) => child.once('message', (message) => ready(Number(message))))
  return { base: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

/** Whether this process is those endpoints; then it is already listening. */
export function isTenants(): boolean {
  if (process.argv[2] !== kind) return false
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(request, response))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)) // it listens on a port
  return true
}

const firstOf = new Map<string, number>()
const held = new Map<string, number>()

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, how, text = '', name = ''] = (request.url ?? '').split('/')
  const ms = Number(text)
  const end = (): void => void response.writeHead(200, { 'content-length': 11 }).end('{"ok":true}')
  switch (how) {
    case 'late':
      setTimeout(end, ms)
      break
    case 'endless':
      response.writeHead(200).write('x')
      break
    case 'turning':
      if (!firstOf.has(name)) firstOf.set(name, performance.now())
      if (performance.now() - firstOf.get(name)! < ms) end() // just set
      break
    case 'held':
      held.set(name, (held.get(name) ?? 0) + 1)
      response.once('close', () => held.set(name, held.get(name)! - 1)) // just set
      setTimeout(end, ms)
      break
    case 'average':
      void averages(ms).then((found) => response.end(JSON.stringify(found)))
      break
  }
}

async function averages(ms: number): Promise<Record<string, number>> {
  const sums = new Map<string, number>()
  const samples = Math.round(ms / sampleMs)
  for (let i = 0; i < samples; i++) {
    for (const [name, count] of held) sums.set(name, (sums.get(name) ?? 0) + count)
    await sleep(sampleMs)
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, sum / samples]))
}
