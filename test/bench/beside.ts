import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, quick, sideBySide } from './compare.ts'
import { type Engine, openPosthorn } from './engines.ts'
import { sharedNow } from './listener.ts'

export const seconds = quick ? 4 : 20
export const perSecond = 20
/** No delivery of B may take longer, milliseconds. */
export const maxMs = 1000
/**
 * Deliveries before anything is measured, so that both runs are of compiled code: a tenth of them to one endpoint, the others to
 * as many as A has, while B delivers too.
 */
const warmUps = quick ? 2000 : 20_000
const timeout = 30_000
const wellMs = seconds * 500

/** How endpoints of A misbehave. */
export const kinds = {
  a: { says: 'answers after 1 s', path: 'late/1000' },
  b: { says: 'answers 200, never ends', path: 'endless/0' },
  c: { says: 'never answers', path: 'silent/0' },
  d: { says: `well for ${wellMs / 1000} s, then never`, path: `turning/${wellMs}` },
} as const
export type Kind = keyof typeof kinds

export interface Case {
  readonly kind: Kind
  readonly endpoints: number
  /** Events due for each endpoint when B is measured. Endpoints that shall turn get theirs meanwhile instead. */
  readonly due: number
  readonly rounds: number
}

/** How many events a second are published for endpoints that shall turn. */
export function turningRate(endpoints: number): number {
  return Math.max(160 / endpoints, 0.5)
}

/** What a run is to do, and where. */
export interface Task {
  readonly run: string
  readonly tenants: string
  readonly beside: Case
}

/** A run of B alone and beside A. */
export function neighboursOn(engine: Engine): Contender {
  return async (setting) => {
    let recorded = 0
    const { posthorn, checkpoint, close } = await openPosthorn(engine, setting, {
      settled: (count) => void (recorded += count),
    })
    const { run, tenants, beside } = JSON.parse(setting.data) as Task
    for (const id of ['a', 'b', 'warm']) await posthorn.workspaces.create({ id })
    await posthorn.endpoints.create('b', { request: { url: `${setting.url}/${run}` }, events: ['*'] })
    const endpoints = (urlOf: (i: number) => string) =>
      Array.from({ length: beside.endpoints }, (_, i) => ({
        name: `endpoint ${i}`,
        request: { url: urlOf(i), timeout },
        events: ['*'],
      }))
    const urlOfA = (i: number) => `${tenants}/${kinds[beside.kind].path}/${run}/${i}`
    await posthorn.config.sync('a', { endpoints: endpoints(urlOfA) })
    await posthorn.config.sync('warm', { endpoints: endpoints((i) => `${setting.url}/${run}/${i}`) })
    const publish = (workspace: 'a' | 'b' | 'warm', data: object = {}) =>
      posthorn.events.create(workspace, { event_type: 'x', data })

    // No garbage is collected between the two: V8's gc() also drops compiled code, which would be made anew beside A.
    async function measure(phase: 'alone' | 'beside'): Promise<void> {
      await pace(perSecond, () => publish('b', { phase, at: sharedNow() }))
      await sleep(300) // for the last ones to arrive
    }

    await posthorn.start()
    await sideBySide(warmUps / 10, 64, () => publish('b'))
    await Promise.all([
      sideBySide(Math.ceil((0.9 * warmUps) / beside.endpoints), 1, () => publish('warm')),
      (async () => {
        for (; recorded < warmUps; await sleep(5)) await publish('b')
      })(),
    ])
    await sleep(500) // for outcomes that wait for others
    await checkpoint()
    return {
      async work() {
        await measure('alone')
        if (beside.kind === 'd') {
          await Promise.all([pace(turningRate(beside.endpoints), () => publish('a')), measure('beside')])
        } else {
          await sideBySide(beside.due, 8, () => publish('a'))
          await checkpoint()
          await measure('beside')
        }
        await sleep(maxMs + 500) // what comes later than that is too late anyway
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

/** Calls `work` so many times a second, whether it has ended or not. */
async function pace(rate: number, work: () => Promise<unknown>): Promise<void> {
  const startedAt = sharedNow()
  const made: Promise<unknown>[] = []
  for (let i = 0; i < seconds * rate; i++) {
    await sleep(Math.max(0, startedAt + (i * 1000) / rate - sharedNow()))
    made.push(work())
  }
  await Promise.all(made)
}
