import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { Redis } from 'ioredis'
import { Pool } from 'pg'

import {
  type Contender,
  compare,
  isRun,
  machine,
  median,
  quick,
  type Run,
  say,
  type Setting,
  table,
} from './compare.ts'
import { eventData } from './deliveries.ts'
import { type Engine, engines, freshPlace } from './engines.ts'
import { concurrency, laps, warmUp } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// `deliver` of other builds beside that of this build, in rounds that take turns: `-- against postgres --dist=<dist of another
// checkout>`; without names of engines, on all. What counts is the processor time of an event, ours and the engine's.

const given = Number(process.argv.find((word) => /^--rounds=\d+$/.test(word))?.slice('--rounds='.length))
const rounds = given > 0 ? given : quick ? 1 : 9
const events = quick ? 4000 : 20_000
const own = resolve(import.meta.dirname, '../../../dist')

interface Build {
  readonly engine: Engine
  /** The folder with what the package exports. */
  readonly dist: string
}

/** What is used of a build: it may be older or newer than these sources. */
type Package = typeof import('../../adapters/node/index.ts') &
  typeof import('../../adapters/memory/index.ts') &
  typeof import('../../adapters/postgres/index.ts') &
  typeof import('../../adapters/redis/index.ts')

async function packageAt(dist: string): Promise<Package> {
  const parts = ['memory', 'postgres', 'redis', 'node'].map(
    (name) => import(pathToFileURL(`${dist}/${name}/index.js`).href) as Promise<object>, // of a build of the package
  )
  return Object.assign({}, ...(await Promise.all(parts))) as Package // what these export
}

async function storageOf({ memory, postgres, migrate, redis }: Package, engine: Engine, place: Setting) {
  if (engine === 'memory') return { storage: memory(), close: async () => {} }
  if (engine === 'redis') {
    const client = new Redis(place.redis)
    const storage = redis(client, { namespace: place.schema })
    const close = async () => {
      await storage.close()
      client.disconnect()
    }
    return { storage, close }
  }
  const pool = new Pool({ connectionString: place.postgres, max: 20 })
  pool.on('error', () => {})
  await migrate(pool, { schema: place.schema })
  const storage = postgres(pool, { schema: place.schema })
  const close = async () => {
    await storage.close()
    await pool.end()
  }
  return { storage, close }
}

const built: Contender = async (setting) => {
  const { engine, dist } = JSON.parse(setting.data) as Build
  const made = await packageAt(dist)
  const { storage, close } = await storageOf(made, engine, setting)
  const lap = laps(JSON.parse(eventData))
  const { attempts } = storage
  const posthorn = made.createPosthorn({
    storage: {
      ...storage,
      attempts: {
        ...attempts,
        async settle(settlements, options) {
          const answers = await attempts.settle(settlements, options)
          lap.delivered(answers.filter(({ settled }) => settled).length)
          return answers
        },
      },
    },
    deliver: {
      allow: ['127.0.0.1'],
      concurrency,
      perEndpoint: concurrency,
    },
  })
  const endpoint = await posthorn.endpoints.create('default', { request: { url: setting.url }, events: ['*'] })
  await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: endpoint.id })
  await posthorn.start()
  const run = (count: number) =>
    lap.run(count, (batch) =>
      Promise.all(batch.map(({ type, data }) => posthorn.events.create('default', { event_type: type, data }))),
    )
  await run(warmUp)
  return {
    work: () => run(setting.events),
    async check() {
      const list = { status: 'SUCCESSFUL', page_no: 1, page_size: 1 } as const
      const page = await posthorn.attempts.list('default', list)
      const total = 'total' in page ? page.total : 0
      if (total !== warmUp + setting.events) throw new Error(`${total} attempts are recorded as successful`)
    },
    async close() {
      await posthorn.stop()
      await close()
    },
  }
}

async function main(): Promise<void> {
  const words = process.argv.slice(2)
  const others = words.flatMap((word) => (word.startsWith('--dist=') ? [resolve(word.slice('--dist='.length))] : []))
  if (others.length === 0) throw new Error('Say which build to measure beside this one: --dist=<folder>')
  const dists = [...others, own]
  const receiver = await startReceiver()
  const servers = await startServers()
  const named = engines.filter((each) => words.includes(each))
  for (const engine of named.length > 0 ? named : engines) {
    const summaries = await compare(dists, {
      rounds,
      items: events,
      contender: () => 'built',
      async setting(dist) {
        await servers.clean()
        await receiver.counts()
        return { ...freshPlace(servers), url: receiver.url, events, data: JSON.stringify({ engine, dist }) }
      },
      async after(name) {
        const { arrived, repeated } = await receiver.counts()
        if (arrived !== warmUp + events || repeated > 0)
          throw new Error(`${name}: ${arrived} arrived, ${repeated} twice`)
      },
    })
    say(`against, ${engine}: ${events} events of 1 KiB, median of ${rounds} interleaved rounds, ${machine()}`)
    const [first] = summaries
    table(
      ['', 'events/s', 'CPU µs/event', 'servers µs/event', 'together', 'first / this', 'by round'],
      summaries.map(({ name, perSecond, cpuMicros, serverMicros, runs }) => {
        const ratios = runs.map((run, i) => microsOf(first!.runs[i]!) / microsOf(run))
        return [
          name,
          perSecond.toFixed(0),
          cpuMicros.toFixed(1),
          serverMicros.toFixed(1),
          median(runs.map(microsOf)).toFixed(1),
          median(ratios).toFixed(3),
          ratios.map((ratio) => ratio.toFixed(2)).join(' '),
        ]
      }),
    )
  }
  await servers.stop()
  receiver.stop()
}

/** Processor time of an event, ours and that of the servers. */
function microsOf({ cpuSeconds, serverSeconds }: Run): number {
  return ((cpuSeconds + serverSeconds) / events) * 1e6
}

if (!isReceiver() && !(await isRun({ built }))) {
  await main()
  process.exit()
}
