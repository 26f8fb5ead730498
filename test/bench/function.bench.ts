// What a looping function costs those beside it, and what functions and schemas cost at all.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'

import { createPosthorn } from '../../adapters/node/index.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'

const roundMs = 4000
const handlerMs = 3000
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const posthorn = createPosthorn({ logger: quiet, plugins: [eventValidation(), functionPlugin()] })
const listener = getRequestListener(posthorn.gateway.fetch, { overrideGlobalObjects: false })
const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const order = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, note: { pattern: '^[a-z ]*$' } },
}
const plugins: Readonly<Record<string, { name: string; config: Record<string, unknown> } | null>> = {
  plain: null,
  empty: { name: 'function', config: { function: 'function handle() {}' } },
  loop: { name: 'function', config: { function: 'function handle() { for (;;); }' } },
  map: {
    name: 'function',
    config: {
      function: `function handle() {
        const { request } = webhookx
        request.setBody({ event_type: 'order.paid', data: JSON.parse(request.getBody()).data })
      }`,
    },
  },
  schema: { name: 'event-validation', config: { version: 'draft-2020-12', schemas: { a: JSON.stringify(order) } } },
}
for (const [name, plugin] of Object.entries(plugins)) {
  const source = await posthorn.sources.create('default', { name, config: { http: { path: `/${name}` } } })
  if (plugin !== null) await posthorn.plugins.create('default', { ...plugin, source_id: source.id })
}

// 1 KiB.
const body = JSON.stringify({ event_type: 'a', data: { id: 1, note: 'plain words '.repeat(82) } })

async function post(path: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body })
  await answer.arrayBuffer()
  return answer.status
}

/** One request after the other. */
async function measure(path: string, label: string): Promise<number> {
  for (let i = 0; i < 50; i++) await post(path)
  const latencies: number[] = []
  const statuses = new Map<number, number>()
  const end = performance.now() + roundMs
  while (performance.now() < end) {
    const started = performance.now()
    const status = await post(path)
    latencies.push(performance.now() - started)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  latencies.sort((a, b) => a - b)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0
  const times = `p50 ${at(0.5).toFixed(2)} ms   p99 ${at(0.99).toFixed(2)} ms   max ${at(0.9999).toFixed(1)} ms`
  const counts = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')
  say(`${label.padEnd(44)} ${times}   (${counts})`)
  return at(0.99)
}

/** The handler of the gateway alone, without a server and a client. */
async function measureHandler(path: string, label: string, lanes: number): Promise<void> {
  const latencies: number[] = []
  const handle = async () => {
    const started = performance.now()
    const request = new Request(`http://host/${path}`, { method: 'POST', body })
    const answer = await posthorn.gateway.fetch(request)
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`the handler answered ${answer.status}`)
    latencies.push(performance.now() - started)
  }
  for (let i = 0; i < 300; i++) await handle()
  latencies.length = 0
  const [from, before] = [performance.now(), process.cpuUsage()]
  const end = from + handlerMs
  const lane = async () => {
    while (performance.now() < end) await handle()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const { user, system } = process.cpuUsage(before)
  latencies.sort((a, b) => a - b)
  const p50 = (latencies[Math.floor(latencies.length / 2)] ?? 0).toFixed(2)
  const rate = Math.round((latencies.length / (performance.now() - from)) * 1000)
  const cpu = ((user + system) / 1000 / latencies.length).toFixed(2)
  say(`${`${label}, ${lanes} at once`.padEnd(44)} p50 ${p50} ms   ${rate}/s   ${cpu} ms of a processor here`)
}

for (const lanes of [1, 16]) {
  await measureHandler('plain', 'handler without plugins', lanes)
  await measureHandler('schema', 'handler with event-validation', lanes)
  await measureHandler('empty', 'handler with an empty function', lanes)
}
await measure('plain', 'a source without plugins')
await measure('schema', 'a source with event-validation')
await measure('empty', 'a source with an empty function')
await measure('map', 'a source with a function')

let looping = true
const loops = [1, 2, 3, 4].map(async () => {
  while (looping) await post('loop')
})
const plain = await measure('plain', 'without plugins, while functions loop for ever')
await measure('map', 'with a function, while others loop for ever')
looping = false
await Promise.all(loops)

server.close()
server.closeAllConnections()
await posthorn.stop()
say(plain < 50 ? 'p99 beside endless loops is below 50 ms' : 'p99 beside endless loops is NOT below 50 ms')
process.exitCode = plain < 50 ? 0 : 1
