import { setTimeout as sleep } from 'node:timers/promises'

import { createPosthorn } from '../../adapters/node/index.ts'
import type { Engine, Reached } from './network-engines.ts'
import { poolSize } from './network-engines.ts'
import type { NetworkFault } from './network-faults.ts'
import { type Proxy, proxyTo } from './proxy.ts'
import type { Receiver } from './receiver.ts'
import { seconds, until } from './report.ts'

export interface NetworkReport {
  readonly engine: string
  readonly fault: string
  readonly accepted: number
  readonly delivered: number
  /** Times that a publisher was told to try again. */
  readonly refused: number
  /** From the beginning until health told it; '-' where it told nothing. */
  readonly toldSeconds: number | string
  /** From the end until an event that was published then was delivered. */
  readonly recoverySeconds: number
  /** From the end until all that was accepted before was delivered. */
  readonly backlogSeconds: number
  /** The slowest of ten deliveries after that. */
  readonly worstLatencyMs: number
  /** The most connections that the server had. */
  readonly backends: number | string
  /** What does not hold. */
  readonly broken: string
}

const patienceMs = 90_000
const tellsWithinMs = 5_000
/** A job that was claimed, and whose claim was not answered, waits for its lease. */
const leaseMs = 30_000
const usualLatencyMs = 2_000
const silent = { debug() {}, info() {}, warn() {}, error() {} }
type Posthorn = ReturnType<typeof createPosthorn>

/** One process that publishes and delivers through a network that breaks. */
export async function networkTried(fault: NetworkFault, engine: Engine, receiver: Receiver): Promise<NetworkReport> {
  const proxy = await proxyTo(engine.url)
  const reached = await engine.open(proxy.url)
  const posthorn = createPosthorn({ storage: reached.storage, deliver: { deny: [] }, logger: silent })
  await posthorn.endpoints.create('default', { request: { url: receiver.url }, events: ['*'] })
  await posthorn.start()
  try {
    return {
      engine: engine.name,
      fault: fault.name,
      ...(await watched(fault, engine, { proxy, reached, posthorn, receiver })),
    }
  } finally {
    proxy.weather('good')
    await posthorn.stop({ timeoutMs: 2000 })
    await reached.close()
    proxy.close()
  }
}

interface Place {
  readonly proxy: Proxy
  readonly reached: Reached
  readonly posthorn: Posthorn
  readonly receiver: Receiver
}

async function watched(fault: NetworkFault, engine: Engine, { proxy, reached, posthorn, receiver }: Place) {
  const publisher = carefulPublisher(posthorn)
  const delivered = (id: string): boolean => receiver.events.has(id)
  await publisher.publish().then((id) => until('the first is delivered', patienceMs, () => delivered(id)))
  if (fault.inIdle) await sleep(3000)
  const publishing = fault.inIdle ? null : publisher.steadily()
  if (publishing !== null) await sleep(1500)

  const began = Date.now()
  let struck = false
  const told = toldBy(posthorn, began, () => struck)
  await fault.strike(proxy)
  const good = Date.now()
  const probe = publisher.publish()
  const first = await probe
  await until('an event published after it is delivered', patienceMs, () => delivered(first))
  const recoveryMs = Date.now() - good
  await publishing?.stop()
  await until('all is delivered', patienceMs, () => publisher.accepted.every(delivered))
  const backlogMs = Date.now() - good
  await until('health is UP', patienceMs, async () => {
    const { status, components } = await posthorn.health()
    return status === 'UP' && components.queue.listening === undefined
  })
  struck = true
  const toldMs = await told
  const worstLatencyMs = await slowest(publisher, delivered)

  const backends = reached.backends()
  const lost = publisher.accepted.filter((id) => !delivered(id)).length
  const broken = [
    lost > 0 && `${lost} lost`,
    fault.isTold && (toldMs === null || toldMs > tellsWithinMs) && 'health',
    recoveryMs > engine.recoversWithinMs && 'recovery',
    backlogMs > engine.recoversWithinMs + leaseMs && 'backlog',
    worstLatencyMs > usualLatencyMs && 'latency',
    backends !== null && backends > poolSize + 1 && 'backends',
  ].filter((each) => each !== false)
  return {
    accepted: publisher.accepted.length,
    delivered: publisher.accepted.length - lost,
    refused: publisher.refusals(),
    toldSeconds: toldMs === null ? '-' : seconds(toldMs),
    recoverySeconds: seconds(recoveryMs),
    backlogSeconds: seconds(backlogMs),
    worstLatencyMs,
    backends: backends ?? '-',
    broken: broken.join(', '),
  }
}

/** Publishes with a unique id until it is told that the event is stored. */
function carefulPublisher(posthorn: Posthorn) {
  const accepted: string[] = []
  let n = 0
  let refusals = 0
  const publish = async (): Promise<string> => {
    const event = { event_type: 'fault', data: { n }, unique_id: `n${n++}` }
    for (;;) {
      try {
        const { id } = await posthorn.events.create('default', event)
        accepted.push(id)
        return id
      } catch {
        refusals++
        await sleep(100)
      }
    }
  }
  return {
    accepted,
    refusals: () => refusals,
    publish,
    /** Four a second, whether or not those before are stored. */
    steadily() {
      const all: Promise<unknown>[] = []
      const timer = setInterval(() => all.push(publish()), 250)
      return {
        async stop() {
          clearInterval(timer)
          await Promise.all(all)
        },
      }
    },
  }
}

/** After how long health told that something is wrong; null when it did not until it is over. */
async function toldBy(posthorn: Posthorn, began: number, isOver: () => boolean): Promise<number | null> {
  while (!isOver()) {
    const { status, components } = await posthorn.health()
    const isDeaf = components.queue.listening === false || components.storage.listening === false
    if (status === 'DOWN' || isDeaf) return Date.now() - began
    await sleep(100)
  }
  return null
}

async function slowest(publisher: ReturnType<typeof carefulPublisher>, delivered: (id: string) => boolean) {
  let worst = 0
  for (let n = 0; n < 10; n++) {
    const began = Date.now()
    const id = await publisher.publish()
    await until('a later event is delivered', patienceMs, () => delivered(id))
    worst = Math.max(worst, Date.now() - began)
  }
  return worst
}
