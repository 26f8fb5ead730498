/* oxlint-disable unicorn/require-post-message-target-origin -- the messages go to a thread, which has no origin */
// The other tenant's clients and receivers are as hostile as they can be made, and so are its rows. They live in a thread of
// their own, so that what they do themselves takes nothing from the host.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, Worker } from 'node:worker_threads'

import { getRequestListener } from '@hono/node-server'
import * as v from 'valibot'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { visit } from './clients.ts'
import type { Trial } from './code.ts'
import { compare, type Verdict } from './quiet.ts'
import { makeRandom, type Random } from './random.ts'
import { openReceivers } from './receivers.ts'
import { callOf, endedPath, rowsOf, storedPath } from './rows.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const visitEveryMs = 40
const maxVisits = 200
const publishEveryMs = 250
const callEveryMs = 250

interface Order {
  readonly port: number
  readonly phase: string
  readonly ms: number
  readonly isHostile: boolean
}

/** A call of the administrative API whose body is text: to write 300,000 entries takes as long as to read them. */
interface ReadyCall {
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** What the thread posts: calls for the host to make, and at the end of an order what its visits came to. */
type Posted = { readonly call: ReadyCall } | { readonly counts: Record<string, number> }

/** The thread of clients and receivers: carries out one order after the other. */
export async function liveElsewhere(seed: number): Promise<void> {
  // On Linux this is for the thread alone. Real clients and receivers do not share the host's processors.
  setPriority(constants.priority.PRIORITY_LOW)
  const { port } = await openReceivers()
  const random = makeRandom(seed)
  const post = (posted: Posted) => parentPort!.postMessage(posted)
  parentPort!.on('message', (order: Order) => {
    void Promise.all([visits(order, random), calls(order, random, (call) => post({ call }))]).then(([counts]) =>
      post({ counts }),
    )
  })
  parentPort!.postMessage(port)
}

async function calls(order: Order, random: Random, make: (call: ReadyCall) => void): Promise<void> {
  const until = performance.now() + order.ms
  while (performance.now() < until) {
    const { method, path, body } = callOf(random, order.isHostile, order.phase)
    make({ method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    await sleep(callEveryMs)
  }
}

async function visits({ port, phase, ms, isHostile }: Order, random: Random): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const under = new Set<Promise<void>>()
  const until = performance.now() + ms
  while (performance.now() < until) {
    if (under.size < maxVisits) {
      // What is stored stays in memory: most requests are ended by a plugin.
      const path = random.below(10) === 0 ? storedPath(random, phase) : endedPath(random, phase)
      const one: Promise<void> = visit(port, path, random, isHostile).then(({ what, answer }) => {
        counts[`${what}: ${answer}`] = (counts[`${what}: ${answer}`] ?? 0) + 1
        under.delete(one)
      })
      under.add(one)
    }
    await sleep(visitEveryMs)
  }
  await Promise.all(under)
  return counts
}

/** Ends requests before they are stored. */
const stop = definePlugin({
  name: 'stop',
  sides: ['inbound'],
  config: v.object({}),
  prepare: () => ({ inbound: () => new Response(null, { status: 204 }) }),
})

/** @param entry the module that calls `liveElsewhere` in a thread. */
export async function tryTraffic({ seconds, seed }: Trial, entry: URL): Promise<Verdict> {
  const arrived = new Map<string, number>()
  const receiver = createServer((request, response) => {
    arrived.set(String(request.headers['webhook-id']), performance.now())
    request.resume()
    response.end()
  })
  // As an application keeps it that lives in memory: else the collector has more to do from minute to minute, in both phases.
  const storage = memory({ keep: 2000 })
  const deliver = { allow: ['127.0.0.1'], captureBytes: 1024 }
  const posthorn = createPosthorn({ storage, plugins: [stop], logger, deliver })
  const listener = getRequestListener(posthorn.gateway.fetch, { overrideGlobalObjects: false })
  const gateway = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  gateway.keepAliveTimeout = 60_000 // longer than the quiet tenant ever pauses
  const listening = [receiver, gateway].map(async (server) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  })
  const [receiverPort, port] = (await Promise.all(listening)) as [number, number]
  const thread = new Worker(entry, { workerData: { seed } })
  const [otherPort] = (await once(thread, 'message')) as [number]

  await posthorn.start()
  const random = makeRandom(seed)

  async function publish(workspace: string, until: number, count: (what: string) => void): Promise<void> {
    while (performance.now() < until) {
      void posthorn.events.create(workspace, { event_type: 'burst', data: { n: 1 } }).then(
        () => count('published'),
        ({ code }) => count(`not published: ${code}`),
      )
      await sleep(publishEveryMs)
    }
  }

  async function call(phase: string, { method, path, body }: ReadyCall, count: (what: string) => void): Promise<void> {
    const request = new Request(`http://admin/workspaces/other-${phase}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
    })
    const answer = await posthorn.admin.fetch(request)
    // Part by part, as a server hands an answer on.
    const reader = answer.body?.getReader()
    while (reader !== undefined && !(await reader.read()).done) continue
    count(`${method} ${path.split(/[?/]/)[1]}: ${answer.status}`)
  }

  const verdict = await compare({
    seconds,
    arrived,
    post: (n) =>
      fetch(`http://127.0.0.1:${port}/quiet`, { method: 'POST', body: `{"event_type":"a","data":{"n":${n}}}` }),
    neighbour: {
      async begin(phase, isHostile) {
        await posthorn.workspaces.create({ id: 'quiet' })
        const url = `http://127.0.0.1:${receiverPort}`
        await posthorn.endpoints.create('quiet', { name: 'e', events: ['*'], request: { url } })
        await posthorn.sources.create('quiet', { id: 'quiet', config: { http: { path: '/quiet' } } })
        await posthorn.workspaces.create({ id: `other-${phase}` })
        await posthorn.config.sync(`other-${phase}`, rowsOf(random, isHostile, otherPort, phase))
      },
      async act(phase, ms, isHostile, count) {
        const visited = new Promise<Record<string, number>>((resolve) => {
          thread.on('message', (posted: Posted) => {
            if ('call' in posted) return void call(phase, posted.call, count)
            thread.removeAllListeners('message')
            resolve(posted.counts)
          })
        })
        thread.postMessage({ port, phase, ms, isHostile } satisfies Order)
        await publish(`other-${phase}`, performance.now() + ms, count)
        const counts = await visited
        for (const [what, times] of Object.entries(counts)) for (let i = 0; i < times; i++) count(what)
      },
      /** What is stored stays in memory, and is no growth that this looks for. */
      async end(phase) {
        await posthorn.workspaces.delete(`other-${phase}`)
        await posthorn.workspaces.delete('quiet')
        arrived.clear()
      },
    },
  })
  await posthorn.stop()
  await thread.terminate()
  for (const server of [receiver, gateway]) {
    server.close()
    server.closeAllConnections()
  }
  return verdict
}
