import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, isRun, machine, median, quick, runApart, say, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'

// An endpoint gets 100 fresh events a second: alone, then while 100,000 events that it missed are replayed to it. Another
// endpoint of the same workspace gets as many. One process does all of it, so that each is compared with itself.

const given = Number(process.argv.find((word) => /^--rounds=\d+$/.test(word))?.slice('--rounds='.length))
const rounds = given > 0 ? given : quick ? 1 : 3
const seconds = 10
const perSecond = 100
const missed = quick ? 20_000 : 100_000
const warmUps = 2000
const kinds = ['same', 'other'] as const
const phases = ['alone', 'beside a replay'] as const
type Phase = (typeof phases)[number]

function replayOf(engine: Engine): Contender {
  return async (setting) => {
    let recorded = 0
    const { posthorn, close } = await openPosthorn(engine, setting, {
      settled(count) {
        recorded += count
      },
    })
    for (const kind of kinds) {
      const url = `${setting.url}/${setting.schema}-${kind}`
      await posthorn.endpoints.create('default', { id: kind, request: { url }, events: [kind, 'missed'] })
    }
    const turn = async (enabled: boolean) => {
      for (const id of kinds) await posthorn.endpoints.patch('default', id, { enabled })
    }
    await turn(false)
    for (let made = 0; made < missed; made += 500) {
      await posthorn.events.createMany(
        'default',
        Array.from({ length: 500 }, (_, i) => ({ event_type: 'missed', data: { n: made + i } })),
      )
    }
    await turn(true)
    const publish = (event_type: string, data: object = {}) => posthorn.events.create('default', { event_type, data })

    async function measure(phase: Phase, until: () => boolean): Promise<void> {
      globalThis.gc?.()
      await sleep(100)
      const startedAt = sharedNow()
      const made: Promise<unknown>[] = []
      for (let i = 0; !until() || i < seconds * perSecond; i++) {
        await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - sharedNow()))
        for (const kind of kinds) made.push(publish(kind, { phase, at: sharedNow() }))
      }
      await Promise.all(made)
      await sleep(200)
    }

    await posthorn.start()
    for (let i = 0; i < warmUps; i += 100) await Promise.all(Array.from({ length: 100 }, () => publish('same')))
    while (recorded < warmUps) await sleep(50)
    return {
      async work() {
        await measure('alone', () => true)
        const before = recorded
        const began = sharedNow()
        const replay = (async () => {
          for (let after: string | null | undefined = undefined; after !== null;) {
            const asked: object = { missing: true, endpoint_id: 'same', ...(after && { after }) }
            after = (await posthorn.events.replay('default', asked)).next
          }
        })()
        let fresh = 0
        await measure('beside a replay', () => {
          fresh += kinds.length
          return recorded - before >= missed + fresh - 1000
        })
        await replay
        say(`  ${engine}: ${missed} replayed in ${((sharedNow() - began) / 1000).toFixed(1)} s`)
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.map((engine) => [engine, replayOf(engine)]),
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
  const servers = await startServers()
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = engines.filter((name) => name !== 'memory' && (named.length === 0 || named.includes(name)))
  const runs = new Map<Engine, string[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const place = freshPlace(servers)
      runs.get(name)!.push(place.schema)
      await runApart(name, { ...place, url: listener.base, events: 0, data: '' })
    }
  }
  await servers.stop()
  listener.close()

  say(`replay: fresh events at ${perSecond}/s an endpoint beside ${missed} replayed ones; medians of ${rounds} runs`)
  say(machine())
  table(
    ['', 'p50 ms', 'p99 ms', 'of p99 alone'],
    names.flatMap((name) =>
      kinds.flatMap((kind) => {
        const of = (phase: Phase, part: number): number[] =>
          runs.get(name)!.map((run) => quantile(took.get(`${run}-${kind} ${phase}`) ?? [], part))
        const ratio = median(of('beside a replay', 0.99).map((p99, i) => p99 / of('alone', 0.99)[i]!))
        return phases.map((phase) => [
          `${name}, ${kind} endpoint, ${phase}`,
          median(of(phase, 0.5)).toFixed(1),
          median(of(phase, 0.99)).toFixed(1),
          phase === 'alone' ? '' : ratio.toFixed(2),
        ])
      }),
    ),
  )
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
