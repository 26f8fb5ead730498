import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, isRun, machine, quick, runApart, say, table } from './compare.ts'
import { type Engine, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, report, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'

// A small tenant sends 20 requests a second to the gateway: alone, then beside a tenant that has as much as a workspace may
// have and does one thing with it again and again, in the same process. Latency is from when a request was due to its answer.
// Words choose engines: `npm run bench -- large postgres`.

const engines = ['memory', 'postgres', 'redis'] as const satisfies readonly Engine[]
const seconds = quick ? 2 : 10
const perSecond = 20
const rows = quick ? 1000 : 10_000

interface Figures {
  readonly p50: number
  readonly p99: number
  /** The longest time for which the event loop was held. */
  readonly held: number
}

function besideLarge(engine: Engine): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    for (const id of ['large', 'small']) await posthorn.workspaces.create({ id })
    await posthorn.sources.create('small', { config: { http: { path: '/small' } } })
    const url = 'https://receiver.test/'
    const document = {
      endpoints: Array.from({ length: rows }, (_, i) => ({
        name: `endpoint ${i}`,
        request: { url },
        events: Array.from({ length: 10 }, (_, n) => `type${i}.part${n}.*`),
      })),
      sources: Array.from({ length: rows }, (_, i) => ({ name: `source ${i}`, config: { http: { path: `/${i}` } } })),
    }
    await posthorn.config.sync('large', document)
    const first = { page_size: 1, page_no: 1 } as const
    const endpoint = (await posthorn.endpoints.list('large', first)).data[0]!.id
    const source = (await posthorn.sources.list('large', first)).data[0]!.id
    const megabyte = 'lorem ipsum dolor '.repeat(58_000)
    // JSON takes longest to parse where all names differ.
    const names = JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [i.toString(36), ''])))
    const send = async (path: string, data = '{}'): Promise<void> => {
      const body = `{"event_type":"x","data":${data}}`
      await posthorn.gateway.fetch(new Request(`https://gateway.test${path}`, { method: 'POST', body }))
    }

    let made = 0
    /** What the large tenant does, and how long after one such thing the next is due, milliseconds. */
    const doings: Readonly<Record<string, readonly [number, () => Promise<unknown>]>> = {
      alone: [1000, () => Promise.resolve()],
      'an endpoint changes, and an event is published, 5 a second': [
        200,
        async () => {
          await posthorn.endpoints.patch('large', endpoint, { description: String(made++) })
          await posthorn.events.create('large', { event_type: 'x', data: {} })
        },
      ],
      'a source changes, 5 a second': [
        200,
        () => posthorn.sources.patch('large', source, { metadata: { n: String(made++) } }),
      ],
      'requests for unknown paths, 50 a second': [20, () => send(`/unknown/${made++}`)],
      'events of 1 MB, 20 a second': [
        50,
        () => posthorn.events.create('large', { event_type: 'x', data: { megabyte, n: made++ } }),
      ],
      'a sync that changes nothing, one a second': [1000, () => posthorn.config.sync('large', document)],
      'a dump as JSON, one a second': [
        1000,
        async () => {
          const asked = { method: 'POST', headers: { accept: 'application/json' } }
          const answer = await posthorn.admin.fetch(
            new Request('https://admin.test/workspaces/large/config/dump', asked),
          )
          await answer.arrayBuffer()
        },
      ],
      'requests with 90,000 names in 1 MB, 16 at a time': [
        1,
        () => Promise.all(Array.from({ length: 16 }, () => send('/0', names))),
      ],
    }

    async function measure(every: number, act: () => Promise<unknown>): Promise<Figures> {
      const startedAt = sharedNow()
      const endsAt = startedAt + seconds * 1000
      let held = 0
      const watch = async (): Promise<void> => {
        for (let last = sharedNow(); last < endsAt; last = sharedNow()) {
          const from = last
          await sleep(1)
          held = Math.max(held, sharedNow() - from - 1)
        }
      }
      const beside = async (): Promise<void> => {
        for (let due = startedAt; due < endsAt; due = Math.max(due + every, sharedNow())) {
          await sleep(Math.max(0, due - sharedNow()))
          await act()
        }
      }
      const took: number[] = []
      const requests = Array.from({ length: seconds * perSecond }, async (_, i) => {
        const due = startedAt + (i * 1000) / perSecond
        await sleep(due - sharedNow())
        await send('/small')
        took.push(sharedNow() - due)
      })
      await Promise.all([watch(), beside(), ...requests])
      return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), held }
    }

    for (let i = 0; i < 500; i++) await send('/small') // V8 compiles what is called all the time
    return {
      async work() {
        const found: Record<string, Figures> = {}
        for (const [name, [every, act]] of Object.entries(doings)) found[name] = await measure(every, act)
        await report(setting.url, setting.schema, found)
      },
      close,
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.map((engine) => [engine, besideLarge(engine)]),
)

async function main(): Promise<void> {
  const found = new Map<string, Readonly<Record<string, Figures>>>()
  const listener = await listenTo((path, body) => {
    found.set(path.slice(1), (JSON.parse(body) as { found: Readonly<Record<string, Figures>> }).found) // as it was sent
  })
  const servers = await startServers()
  const named = new Set<string>(process.argv.slice(2).filter((word) => !word.startsWith('-')))
  const names = engines.filter((name) => named.size === 0 || named.has(name))
  say(`large: a small tenant with ${perSecond} requests a second beside one with ${rows} endpoints and ${rows} sources`)
  say(machine())
  for (const name of names) {
    const place = freshPlace(servers)
    await runApart(name, { ...place, url: listener.base, events: 0, data: '{}' })
    table(
      [name, 'p50 ms', 'p99 ms', 'event loop held, ms'],
      Object.entries(found.get(place.schema)!).map(([what, { p50, p99, held }]) => [
        what,
        ...[p50, p99, held].map((ms) => ms.toFixed(1)),
      ]),
    )
  }
  await servers.stop()
  listener.close()
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
