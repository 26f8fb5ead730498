import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, isRun, machine, quick, runApart, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'

// A healthy endpoint gets 50 events a second while others, which never answer, hold 10,000 due deliveries.

const seconds = quick ? 4 : 10
const warmUpSeconds = 2
const perSecond = 100
const due = 10_000
const timeout = 2000
const slots = 256
const kinds = { alone: 0, 'beside 1': 1, 'beside 256': slots } as const

function beside(engine: Engine, silent: number, name: string): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    const endpoint = (path: string, type: string) =>
      posthorn.endpoints.create('default', { request: { url: `${setting.url}/${path}`, timeout }, events: [type] })
    await endpoint(`healthy/${encodeURIComponent(name)}`, 'healthy')
    for (let i = 0; i < silent; i++) await endpoint('silent', `silent.${i}`)
    if (silent > 0) {
      await sideBySide(due, 256, (i) =>
        posthorn.events.create('default', { event_type: `silent.${i % silent}`, data: {} }),
      )
    }
    await posthorn.start()
    await sleep(2 * timeout) // the first tries show who is silent
    return {
      async work() {
        const startedAt = sharedNow()
        const made: Promise<unknown>[] = []
        for (let i = 0; i < (warmUpSeconds + seconds) * perSecond; i++) {
          await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - sharedNow()))
          const data = i < warmUpSeconds * perSecond ? {} : { at: sharedNow() }
          made.push(posthorn.events.create('default', { event_type: 'healthy', data }))
        }
        await Promise.all(made)
        await sleep(1000)
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) =>
    Object.entries(kinds).map(([kind, silent]): [string, Contender] => {
      const name = `${engine}, ${kind}`
      return [name, beside(engine, silent, name)]
    }),
  ),
)

async function main(): Promise<void> {
  const took = new Map<string, number[]>()
  const listener = await listenTo((path, body) => {
    if (path === '/silent') return false
    const name = decodeURIComponent(path.slice('/healthy/'.length))
    const { at } = JSON.parse(body) as { at?: number } // as it was published
    if (at === undefined) return true
    took.set(name, [...(took.get(name) ?? []), sharedNow() - at])
    return true
  })
  const servers = await startServers()
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = Object.keys(contenders).filter(
    (name) => named.length === 0 || named.some((part) => name.includes(part)),
  )
  for (const name of names) {
    await runApart(name, { ...freshPlace(servers), url: listener.base, events: 0, data: '' })
  }
  await servers.stop()
  listener.close()

  say(
    `neighbour: a healthy endpoint at ${perSecond}/s beside endpoints that never answer, ${due} deliveries due to them`,
  )
  say(machine())
  const of = (name: string, part: number): number => quantile(took.get(name) ?? [], part)
  table(
    ['', 'arrived', 'p50 ms', 'p99 ms', 'of p99 alone'],
    names.map((name) => [
      name,
      String(took.get(name)?.length ?? 0),
      of(name, 0.5).toFixed(1),
      of(name, 0.99).toFixed(1),
      (of(name, 0.99) / of(name.replace(/, .*/, ', alone'), 0.99)).toFixed(2),
    ]),
  )
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
