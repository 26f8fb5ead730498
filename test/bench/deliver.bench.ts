import { type Contender, compare, isRun, machine, quick, say, table } from './compare.ts'
import { eventData, openDeliveries } from './deliveries.ts'
import { type Engine, engines, freshPlace } from './engines.ts'
import { bareDispatch, bareRequest } from './peers/bare.ts'
import { bullmq } from './peers/bullmq.ts'
import { graphileWorker } from './peers/graphile-worker.ts'
import { pgBoss } from './peers/pg-boss.ts'
import { sketch } from './peers/sketch.ts'
import { concurrency, warmUp } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// Events of 1 KiB, published in calls of 500 with four under way, by one process that also delivers them, signed, to one
// endpoint in a process of its own: from the first publish until every attempt is recorded with its details. A run counts
// when every event arrived once.

const rounds = quick ? 1 : 3
const events = quick ? 4000 : 20_000

/** `slots`: how many requests the endpoint may have at once; the default of the library where it is not given. */
function posthornOn(engine: Engine, slots?: number, isSingle = false): Contender {
  return async (setting) => {
    const { posthorn, run, close } = await openDeliveries(engine, setting, {
      isSingle,
      deliver: slots === undefined ? {} : { concurrency: slots, perEndpoint: slots },
    })
    return {
      work: () => run(setting.events),
      async check() {
        const list = { status: 'SUCCESSFUL', page_no: 1, page_size: 1 } as const
        const page = await posthorn.attempts.list('default', list)
        const total = 'total' in page ? page.total : 0
        if (total !== warmUp + setting.events) throw new Error(`${total} attempts are recorded as successful`)
        const { request, response } = await posthorn.attempts.get('default', page.data[0]!.id)
        if (!request?.headers?.['webhook-signature'] || response?.body !== '{"ok":true}') {
          throw new Error('an attempt has no details')
        }
      },
      close,
    }
  }
}

const limits: Readonly<Record<string, Contender>> = {
  'bare undici.request': bareRequest,
  'bare undici dispatch': bareDispatch,
}
const contenders: Readonly<Record<string, Contender>> = {
  ...limits,
  ...Object.fromEntries(engines.map((engine) => [`Posthorn, ${engine}`, posthornOn(engine, concurrency)])),
  'Posthorn, postgres, default slots': posthornOn('postgres'),
  'Posthorn, postgres, calls of one event': posthornOn('postgres', concurrency, true),
  'sketch of batches on Postgres': sketch,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBoss,
  'BullMQ, outcomes in Postgres': bullmq,
}

async function main(): Promise<void> {
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = Object.keys(contenders).filter(
    (name) => named.length === 0 || named.some((part) => name.toLowerCase().includes(part)),
  )
  const receiver = await startReceiver()
  const servers = await startServers()
  const summaries = await compare(names, {
    rounds,
    items: events,
    async setting() {
      await servers.clean()
      await receiver.counts()
      return { ...freshPlace(servers), url: receiver.url, events, data: eventData }
    },
    async after(name) {
      const { arrived, repeated } = await receiver.counts()
      const expected = name in limits ? events : warmUp + events
      if (arrived !== expected || repeated > 0) throw new Error(`${name}: ${arrived} arrived, ${repeated} twice`)
    },
  })
  await servers.stop()
  receiver.stop()

  const rate = (name: string): number => summaries.find((each) => each.name === name)?.perSecond ?? NaN
  const limit = rate('bare undici.request')
  say(`deliver: ${events} events of 1 KiB, ${concurrency} at a time, median of ${rounds} interleaved runs`)
  say(machine())
  table(
    ['', 'events/s', 'of undici.request', 'CPU µs/event', 'servers µs/event', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros, peakMiB }) => [
      name,
      perSecond.toFixed(0),
      (perSecond / limit).toFixed(2),
      cpuMicros.toFixed(0),
      serverMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
  const own = rate('Posthorn, postgres')
  const ratios: readonly (readonly [what: string, of: number, to: number])[] = [
    ['memory / bare undici.request', rate('Posthorn, memory'), limit],
    ['Redis / bare undici.request', rate('Posthorn, redis'), limit],
    ['Postgres / the better of pg-boss and graphile-worker', own, Math.max(rate('pg-boss'), rate('graphile-worker'))],
    ['Postgres / sketch', own, rate('sketch of batches on Postgres')],
    ['Postgres + Redis / BullMQ', rate('Posthorn, postgres + redis'), rate('BullMQ, outcomes in Postgres')],
    ['Postgres, default slots / 256 slots', rate('Posthorn, postgres, default slots'), own],
  ]
  for (const [what, of, to] of ratios) if (!Number.isNaN(of / to)) say(`${what}: ${(of / to).toFixed(2)}`)
  if (process.argv.includes('--runs')) {
    for (const { name, runs } of summaries) say(`${name}: ${runs.map(({ seconds }) => seconds.toFixed(2)).join(' ')} s`)
  }
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
