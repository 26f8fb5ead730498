import { setTimeout as sleep } from 'node:timers/promises'

import { createPosthorn } from '../../adapters/node/index.ts'
import type { Options } from '../../src/options.ts'
import { startReceiver } from './receiver.ts'
import { seconds, until } from './report.ts'

/** An engine that goes away under load and comes back. */
export interface Absence {
  readonly name: string
  readonly options: Options
  /** Takes the engine away, and brings it back. Resolves when it answers. */
  strike(): Promise<void>
}

export interface AwayReport {
  readonly fault: string
  readonly published: number
  readonly delivered: number
  /** Requests that were refused, and made again. */
  readonly refused: number
  /** From the engine's return until all that was accepted before it was delivered. */
  readonly waitedSeconds: number
  readonly broken: string
}

const perSecond = 300
const lastsSeconds = 20
const strikesAfterMs = 5000
const goesOnWithinMs = 5000
const patienceMs = 90_000
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** 300 events a second, half of them published and half through an async source, while the engine goes away once. */
export async function awayTried({ name, options, strike }: Absence): Promise<AwayReport> {
  const receiver = await startReceiver(5)
  const posthorn = createPosthorn({ ...options, deliver: { deny: [] }, logger: silent })
  await posthorn.endpoints.create('default', { request: { url: receiver.url }, events: ['*'] })
  await posthorn.sources.create('default', { async: true, config: { http: { path: '/later' } } })
  await posthorn.start()
  const accepted: string[] = []
  let refused = 0

  async function publish(n: number): Promise<string> {
    const event = { event_type: 'away', data: { n } }
    if (n % 2 === 0) return (await posthorn.events.create('default', { ...event, unique_id: `n${n}` })).id
    const request = new Request('http://gateway.test/later', { method: 'POST', body: JSON.stringify(event) })
    const answer = await posthorn.gateway.fetch(request)
    if (!answer.ok) throw new Error(String(answer.status))
    return answer.headers.get('webhook-event-id')! // an accepted event has one
  }
  async function insist(n: number): Promise<void> {
    for (;;) {
      try {
        accepted.push(await publish(n))
        return
      } catch {
        refused++
        await sleep(100)
      }
    }
  }

  const all: Promise<void>[] = []
  const begun = Date.now()
  const load = (async () => {
    for (let n = 0; n < perSecond * lastsSeconds; await sleep(10)) {
      const due = Math.min(((Date.now() - begun) * perSecond) / 1000, perSecond * lastsSeconds)
      while (n < due) all.push(insist(n++))
    }
  })()
  await sleep(strikesAfterMs)
  await strike()
  const back = Date.now()
  const before = [...accepted]
  await until('what waited is delivered', patienceMs, () => before.every((id) => receiver.events.has(id)))
  const waitedMs = Date.now() - back
  await load
  await Promise.all(all)
  await until('all is delivered', patienceMs, () => accepted.every((id) => receiver.events.has(id)))
  await posthorn.stop()
  receiver.close()
  return {
    fault: name,
    published: accepted.length,
    delivered: accepted.filter((id) => receiver.events.has(id)).length,
    refused,
    waitedSeconds: seconds(waitedMs),
    broken: waitedMs > goesOnWithinMs ? 'waited' : '',
  }
}
