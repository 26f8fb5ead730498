import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, isRun, machine, median, quick, runApart, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// A healthy endpoint gets 100 events a second: alone, then while one that never answers holds 10,000 due deliveries, then
// while 256 more such hold 10,000 more. One process goes through all three, so that each is compared with itself. Those
// that never answer are in a process of their own: what they do with the connections is not the healthy one's time.

const rounds = quick ? 1 : 5
const seconds = 2
const perSecond = 100
const warmUps = 1500 // V8 compiles what is called all the time, and takes the processor for 2 to 4 ms for it
const due = 10_000
const timeout = 1500
const slots = 256
const phases = ['alone', 'beside 1', 'beside 256'] as const
type Phase = (typeof phases)[number]

function healthyOf(engine: Engine): Contender {
  return async (setting) => {
    let warm = (): void => {}
    const warmed = new Promise<void>((resolve) => (warm = resolve))
    let recorded = 0
    const { posthorn, close } = await openPosthorn(engine, setting, {
      settled(count) {
        recorded += count
        if (recorded >= warmUps) warm()
      },
    })
    const { silent } = JSON.parse(setting.data) as { silent: string }
    const endpoint = (url: string, type: string) => ({ request: { url, timeout }, events: [type] })
    await posthorn.config.sync('default', {
      endpoints: [
        endpoint(`${setting.url}/${setting.schema}`, 'healthy'),
        endpoint(silent, 'silent'),
        ...Array.from({ length: slots }, () => endpoint(silent, 'silent.many')),
      ].map((each, i) => ({ ...each, name: `endpoint ${i}` })),
    })
    const publish = (event_type: string, data: object = {}) => posthorn.events.create('default', { event_type, data })

    async function measure(phase: Phase): Promise<void> {
      globalThis.gc?.() // what publishing so many left behind is not part of it
      await sleep(50)
      const startedAt = sharedNow()
      const made: Promise<unknown>[] = []
      for (let i = 0; i < seconds * perSecond; i++) {
        await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - sharedNow()))
        made.push(publish('healthy', { phase, at: sharedNow() }))
      }
      await Promise.all(made)
      await sleep(100)
    }

    await posthorn.start()
    await sideBySide(warmUps, slots, () => publish('healthy'))
    await warmed
    await sleep(100)
    return {
      async work() {
        await measure('alone')

        const publishedAt = sharedNow()
        await sideBySide(due, slots, () => publish('silent'))
        await sleep(Math.max(600 - (sharedNow() - publishedAt), 100)) // it is known to be silent after half a second
        await measure('beside 1')

        await sideBySide(due / slots, 4, () => publish('silent.many'))
        await sleep(timeout + 500) // until they are known, and run into their timeouts all the time
        await measure('beside 256')
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.map((engine) => [engine, healthyOf(engine)]),
)

async function main(): Promise<void> {
  const took = new Map<string, number[]>()
  const listener = await listenTo((path, body) => {
    const { phase, at } = JSON.parse(body) as { phase?: Phase; at?: number } // as it was published
    if (phase === undefined || at === undefined) return
    const key = `${path.slice(1)} ${phase}`
    const all = took.get(key)
    if (all === undefined) took.set(key, [sharedNow() - at])
    else all.push(sharedNow() - at)
  })
  const silent = await startReceiver('stay silent')
  const servers = await startServers()
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = engines.filter((name) => named.length === 0 || named.includes(name))
  const runs = new Map<Engine, string[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const place = freshPlace(servers)
      runs.get(name)!.push(place.schema)
      await runApart(name, { ...place, url: listener.base, events: 0, data: JSON.stringify({ silent: silent.url }) })
    }
  }
  await servers.stop()
  silent.stop()
  listener.close()

  say(`neighbour: a healthy endpoint at ${perSecond}/s beside endpoints that never answer; medians of ${rounds} runs`)
  say(machine())
  table(
    ['', 'p50 ms', 'p90 ms', 'p99 ms', 'lowest to highest', 'of p99 alone', 'lowest to highest'],
    names.flatMap((name) => {
      const of = (phase: Phase, part: number): number[] =>
        runs.get(name)!.map((run) => quantile(took.get(`${run} ${phase}`) ?? [], part))
      const alone = of('alone', 0.99)
      return phases.map((phase) => {
        const p99 = of(phase, 0.99)
        const ratios = p99.map((value, i) => value / alone[i]!)
        return [
          `${name}, ${phase}`,
          median(of(phase, 0.5)).toFixed(1),
          median(of(phase, 0.9)).toFixed(1),
          median(p99).toFixed(1),
          span(p99, 1),
          (median(p99) / median(alone)).toFixed(2),
          span(ratios, 2),
        ]
      })
    }),
  )
}

function span(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
