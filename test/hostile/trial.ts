// A quiet tenant beside another one in the same process: first one with harmless code, then one whose functions, schemas
// and data are as hostile as they can be made. What the quiet tenant notices is compared.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import * as v from 'valibot'

import { createPosthorn } from '../../adapters/node/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { makeRandom } from './random.ts'
import { type Case, hostileCases } from './schemas.ts'
import { hostileScripts } from './scripts.ts'

export interface Trial {
  readonly seconds: number
  readonly seed: number
}

/** What the quiet tenant and the host saw in one phase. Times in milliseconds. */
export interface Phase {
  readonly accepted: number
  readonly refused: number
  readonly p50: number
  readonly p99: number
  readonly longestHold: number
  /** Requests of the other tenant, by status. */
  readonly others: Readonly<Record<string, number>>
}

export interface Verdict {
  readonly harmless: Phase
  readonly hostile: Phase
  readonly undelivered: number
  /** Heap and external memory after a collection, beyond what there was after the harmless phase. */
  readonly grownBytes: number
}

const quietEveryMs = 50
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Ends requests before they are stored, so that memory tells of the plugins alone. */
const stop = definePlugin({
  name: 'stop',
  sides: ['inbound'],
  config: v.object({}),
  prepare: () => ({ inbound: () => new Response(null, { status: 204 }) }),
})

const order = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, note: { pattern: '^[a-z ]*$' } },
}
const quietFunction = `function handle() {
  const { request } = webhookx
  request.setBody({ event_type: 'a', data: JSON.parse(request.getBody()).data })
}`
const fine: Case = { version: 'draft-07', schema: '{}', data: '1' }

/** The same sizes without the hostility. */
function harmlessCase({ schema, data }: Case): Case {
  const text = (length: number) => JSON.stringify('x'.repeat(Math.max(0, length - 2)))
  return { version: 'draft-07', schema: `{"title":${text(schema.length - 10)}}`, data: text(data.length) }
}

const harmlessScript = (script: string) =>
  `function handle() { webhookx.request.getBody() } // ${'x'.repeat(script.length)}`

export async function runTrial({ seconds, seed }: Trial): Promise<Verdict> {
  const delivered = new Set<string>()
  const server = createServer((request, response) => {
    delivered.add(String(request.headers['webhook-id']))
    request.resume()
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const plugins = [functionPlugin(), eventValidation(), stop]
  const posthorn = createPosthorn({ plugins, logger, deliver: { allow: ['127.0.0.1'] } })
  await posthorn.workspaces.create({ id: 'quiet' })
  await posthorn.workspaces.create({ id: 'other' })
  const url = `http://127.0.0.1:${port}`
  await posthorn.endpoints.create('quiet', { name: 'e', events: ['*'], request: { url } })
  const validation = ({ version, schema }: Case) => ({ version, schemas: { a: schema }, verbose_response: true })

  async function source(workspace: string, id: string, kinds: Readonly<Record<string, object>>) {
    await posthorn.sources.create(workspace, { id, config: { http: { path: `/${id}` } }, rate_limit: null })
    const made: Record<string, string> = {}
    for (const [name, config] of Object.entries(kinds)) {
      made[name] = (await posthorn.plugins.create(workspace, { source_id: id, name, config: { ...config } })).id
    }
    return made
  }
  const asValidated = validation({ version: 'draft-07', schema: JSON.stringify(order), data: '' })
  await source('quiet', 'quiet', { function: { function: quietFunction }, 'event-validation': asValidated })
  await posthorn.start()

  async function post(id: string, body: string): Promise<Response> {
    const answer = await posthorn.gateway.fetch(new Request(`http://host/${id}`, { method: 'POST', body }))
    if (id !== 'quiet') await answer.arrayBuffer()
    return answer
  }
  const accepted: string[] = []
  let refused = 0

  /** The quiet tenant sends in step with the clock, whatever the answers take. */
  async function quiet(until: number, latencies: number[]): Promise<void> {
    const sent: Promise<void>[] = []
    while (performance.now() < until) {
      const from = performance.now()
      const body = JSON.stringify({ event_type: 'a', data: { id: sent.length, note: 'plain words' } })
      sent.push(
        post('quiet', body).then(async (answer) => {
          await answer.arrayBuffer()
          latencies.push(performance.now() - from)
          const id = answer.headers.get('webhook-event-id')
          if (answer.status === 200 && id !== null) accepted.push(id)
          else refused++
        }),
      )
      await sleep(quietEveryMs)
    }
    await Promise.all(sent)
  }

  const random = makeRandom(seed)
  const [scripts, cases] = [hostileScripts(random), hostileCases(random)]

  /** Writes one plugin after the other, and sends what it is to judge. */
  async function other(id: string, until: number, isHostile: boolean, others: Record<string, number>): Promise<void> {
    const made = await source('other', id, {
      ...(id.startsWith('f') ? { function: { function: 'function handle() {}' } } : {}),
      ...(id.startsWith('s') ? { 'event-validation': validation(fine) } : {}),
      stop: {},
    })
    const count = (what: string) => void (others[what] = (others[what] ?? 0) + 1)
    while (performance.now() < until) {
      let body = '{"event_type":"a","data":{}}'
      let config: object
      if (made['function'] !== undefined) {
        const script: string = scripts.next().value
        config = { function: isHostile ? script : harmlessScript(script) }
      } else {
        const given: Case = cases.next().value
        const used = isHostile ? given : harmlessCase(given)
        config = validation(used)
        body = `{"event_type":"a","data":${used.data}}`
      }
      const plugin = made['function'] ?? made['event-validation']!
      const written = await posthorn.plugins.update('other', plugin, { config: { ...config } }).then(
        () => 'written',
        () => 'not written',
      )
      count(written)
      const answers = await Promise.all([post(id, body), post(id, body)])
      for (const { status } of answers) count(String(status))
    }
  }

  async function phase(name: string, ms: number, isHostile: boolean): Promise<Phase> {
    const others: Record<string, number> = {}
    const latencies: number[] = []
    const before = { accepted: accepted.length, refused }
    const until = performance.now() + ms
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const ids = ['f1', 'f2', 's1', 's2'].map((id) => `${id}-${name}`)
    await Promise.all([quiet(until, latencies), ...ids.map((id) => other(id, until, isHostile, others))])
    delay.disable()
    latencies.sort((a, b) => a - b)
    const at = (part: number) => Math.round((latencies[Math.floor(latencies.length * part)] ?? 0) * 10) / 10
    return {
      accepted: accepted.length - before.accepted,
      refused: refused - before.refused,
      p50: at(0.5),
      p99: at(0.99),
      longestHold: Math.round(delay.max / 1e6),
      others,
    }
  }

  await phase('warm', 5000, false)
  await phase('wild', 5000, true) // both kinds of code are warm before they are compared
  const ms = seconds * 1000
  const harmless = await phase('harmless', ms / 4, false)
  const before = await settled()
  const hostile = await phase('hostile', (3 * ms) / 4, true)
  const deadline = performance.now() + 30_000
  while (accepted.some((id) => !delivered.has(id)) && performance.now() < deadline) await sleep(100)
  const undelivered = accepted.filter((id) => !delivered.has(id)).length
  const grownBytes = (await settled()) - before
  await posthorn.stop()
  server.close()
  server.closeAllConnections()
  return { harmless, hostile, undelivered, grownBytes }
}

/** Heap and external memory after collections. */
async function settled(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await sleep(100)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * What does not hold; nothing when all does. `judgesTimes`: a run of a minute tells too little of how long the event loop was
 * held at most, and of the slowest deliveries, on a machine that others use too.
 */
export function faultsOf(
  { harmless, hostile, undelivered, grownBytes }: Verdict,
  { judgesTimes }: { judgesTimes: boolean },
): readonly string[] {
  const faults: string[] = []
  if (undelivered > 0) faults.push(`${undelivered} events of the quiet tenant were not delivered`)
  if (hostile.refused > 0) faults.push(`${hostile.refused} requests of the quiet tenant were refused`)
  if (grownBytes > 30 * 1024 * 1024) faults.push(`${Math.round(grownBytes / 1e6)} MB more are held after a collection`)
  if (!judgesTimes) return faults
  if (hostile.p99 > 3 * harmless.p99) faults.push(`p99 is ${hostile.p99} ms, beside harmless code ${harmless.p99} ms`)
  // The clock of the machine and the collector have their say too, in both phases alike.
  if (hostile.longestHold > Math.max(50, 1.5 * harmless.longestHold)) {
    faults.push(
      `the event loop was held for ${hostile.longestHold} ms, beside harmless code ${harmless.longestHold} ms`,
    )
  }
  return faults
}
