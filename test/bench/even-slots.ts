import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, quick, sideBySide } from './compare.ts'
import { type Engine, openPosthorn } from './engines.ts'
import type { Task } from './beside.ts'
import { report } from './listener.ts'

/** Workspaces that all have more work than slots: endpoints, and events for each of them. */
export const unequal = [
  { endpoints: 4, due: 500 },
  { endpoints: 8, due: 300 },
  { endpoints: 16, due: 200 },
  { endpoints: 40, due: 100 },
  { endpoints: 100, due: 60 },
]
/** The mean number of slots, by workspace of a run. */
export type Slots = Readonly<Record<string, number>>
const heldMs = 500
const evenMs = quick ? 3000 : 10_000

/** A run of workspaces that share slots; the receiver counts what each has in flight. */
export function evenOn(engine: Engine): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    const { run, tenants } = JSON.parse(setting.data) as Task
    for (const [i, { endpoints, due }] of unequal.entries()) {
      const id = `w${i}`
      await posthorn.workspaces.create({ id })
      await posthorn.config.sync(id, {
        endpoints: Array.from({ length: endpoints }, (_, n) => ({
          name: `endpoint ${n}`,
          request: { url: `${tenants}/held/${heldMs}/${run}.${id}/${n}` },
          events: ['*'],
        })),
      })
      await sideBySide(due, 8, () => posthorn.events.create(id, { event_type: 'x', data: {} }))
    }
    return {
      async work() {
        await posthorn.start()
        await sleep(3000) // until endpoints have answered a first request
        const answer = await fetch(`${tenants}/average/${evenMs}`)
        await report(setting.url, run, (await answer.json()) as Slots)
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}
