import { type Contender, compare, isRun, machine, quick, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { bareHttp, bareUndici } from './peers/bare.ts'
import { bullmq } from './peers/bullmq.ts'
import { graphileWorker } from './peers/graphile-worker.ts'
import { countdown } from './peers/home-made.ts'
import { pgBoss } from './peers/pg-boss.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// Events of 1 KiB, published one at a time by one process, which also delivers them, signed, to one endpoint in a process
// of its own: from the first publish until every attempt is recorded SUCCESSFUL with its details.

const concurrency = 256
const rounds = quick ? 1 : 5
const events = quick ? 4000 : 20_000
/** The home-made ones deliver fewer, lest all take six minutes, once they are warm; with BENCH_FULL=yes as many. */
const eventsOfPeers = quick || process.env['BENCH_FULL'] === 'yes' ? events : 3000
const data = JSON.stringify({ customer: 'c'.repeat(32), note: 'n'.repeat(968) })

function posthornOn(engine: Engine): Contender {
  return async (setting) => {
    const { url, events: count } = setting
    const value = JSON.parse(setting.data) as Record<string, unknown>
    const done = countdown(count)
    const { posthorn, close } = await openPosthorn(engine, setting, {
      deliver: { concurrency, perEndpoint: concurrency },
      settled: done.tell,
    })
    const endpoint = await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
    await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: endpoint.id })
    await posthorn.start()
    return {
      async work() {
        await sideBySide(count, concurrency, () =>
          posthorn.events.create('default', { event_type: 'bench.event', data: value }),
        )
        await done.over
      },
      async check() {
        const list = { status: 'SUCCESSFUL', page_no: 1, page_size: 1 } as const
        const page = await posthorn.attempts.list('default', list)
        const total = 'total' in page ? page.total : 0
        if (total !== count) throw new Error(`${total} of ${count} attempts are recorded as successful`)
        const { request, response } = await posthorn.attempts.get('default', page.data[0]!.id)
        if (!request?.headers?.['webhook-signature'] || response?.body !== '{"ok":true}') {
          throw new Error('an attempt has no details')
        }
      },
      async close() {
        await posthorn.stop()
        await close()
      },
    }
  }
}

const peers: Readonly<Record<string, Contender>> = {
  'pg-boss, outcomes in Postgres': pgBoss,
  'graphile-worker, outcomes in Postgres': graphileWorker,
  'BullMQ, outcomes in Postgres': bullmq,
}
const contenders: Readonly<Record<string, Contender>> = {
  'bare undici.request': bareUndici,
  'bare node:http': bareHttp,
  ...Object.fromEntries(engines.map((engine) => [`Posthorn, ${engine}`, posthornOn(engine)])),
  ...peers,
}
const eventsOf = (name: string): number => (name in peers ? eventsOfPeers : events)

async function main(): Promise<void> {
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = Object.keys(contenders).filter(
    (name) => named.length === 0 || named.some((part) => name.toLowerCase().includes(part)),
  )
  const receiver = await startReceiver()
  const servers = await startServers()
  const summaries = await compare(names, {
    rounds,
    items: eventsOf,
    setting: async (name) => {
      await servers.clean()
      return { ...freshPlace(servers), url: receiver.url, events: eventsOf(name), data }
    },
  })
  await servers.stop()
  receiver.stop()

  const rate = (name: string): number => summaries.find((each) => each.name === name)?.perSecond ?? NaN
  const limit = Math.max(...summaries.slice(0, 2).map(({ perSecond }) => perSecond))
  say(`deliver: ${events} events of 1 KiB, ${concurrency} at a time, median of ${rounds} interleaved runs`)
  if (eventsOfPeers < events) say(`${Object.keys(peers).join('; ')}: ${eventsOfPeers} events`)
  say(machine())
  table(
    ['', 'events/s', 'of the limit', 'CPU µs/event', 'servers µs/event', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros, peakMiB }) => [
      name,
      perSecond.toFixed(0),
      (perSecond / limit).toFixed(2),
      cpuMicros.toFixed(0),
      serverMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
  const best = Math.max(rate('pg-boss, outcomes in Postgres'), rate('graphile-worker, outcomes in Postgres'))
  say(`memory / the better bare client: ${(rate('Posthorn, memory') / limit).toFixed(2)}`)
  say(`Postgres / the best home-made on Postgres: ${(rate('Posthorn, postgres') / best).toFixed(2)}`)
  const both = rate('Posthorn, postgres + redis') / rate('BullMQ, outcomes in Postgres')
  say(`Postgres + Redis / BullMQ with Postgres: ${both.toFixed(2)}`)
  if (process.argv.includes('--runs')) {
    for (const { name, runs } of summaries) say(`${name}: ${runs.map(({ seconds }) => seconds.toFixed(2)).join(' ')} s`)
  }
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
