import { type Contender, compare, isRun, machine, quick, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { countdown } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// One event to 1,000 endpoints, and 1,000 events to one of them, from the first call of events.create until all attempts are
// recorded. Words choose engines: `npm run bench -- fan-out memory`.

const named = engines.filter((engine) => process.argv.includes(engine))
const chosen = named.length > 0 ? named : engines
const rounds = quick ? 1 : 5
const deliveries = 1000
/** Laps before the clock starts, and those that are timed, one after another. */
const warmUps = 5
const laps = 3
const concurrency = 256

/** A thousand deliveries: one event to 1,000 endpoints, or 1,000 events to one. */
function deliveringOn(engine: Engine, endpoints: number): Contender {
  return async (setting) => {
    let done = countdown(0)
    const { posthorn, close } = await openPosthorn(engine, setting, {
      deliver: { concurrency, perEndpoint: concurrency },
      settled: (count) => done.tell(count),
    })
    await posthorn.config.sync('default', {
      endpoints: Array.from({ length: endpoints }, (_, i) => ({
        name: `endpoint ${i}`,
        request: { url: setting.url },
        events: ['*'],
        plugins: [],
      })),
    })
    await posthorn.start()
    const data = { note: 'n'.repeat(1000) }
    const lap = async (): Promise<void> => {
      done = countdown(deliveries)
      await sideBySide(deliveries / endpoints, deliveries, () =>
        posthorn.events.create('default', { event_type: 'bench.event', data }),
      )
      await done.over
    }
    for (let n = 0; n < warmUps; n++) await lap()
    return {
      async work() {
        for (let n = 0; n < laps; n++) await lap()
      },
      async close() {
        await posthorn.stop()
        await close()
      },
    }
  }
}

const toMany = (engine: Engine): string => `${engine}, one event to ${deliveries} endpoints`
const toOne = (engine: Engine): string => `${engine}, ${deliveries} events to one endpoint`
const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  chosen.flatMap((engine) => [
    [toMany(engine), deliveringOn(engine, deliveries)],
    [toOne(engine), deliveringOn(engine, 1)],
  ]),
)

async function main(): Promise<void> {
  const receiver = await startReceiver()
  const servers = await startServers()
  const summaries = await compare(Object.keys(contenders), {
    rounds,
    items: laps * deliveries,
    setting: async () => ({ ...freshPlace(servers), url: receiver.url, events: 1, data: '' }),
  })
  await servers.stop()
  receiver.stop()
  say(`fan-out: ${deliveries} deliveries of events of 1 KiB, median of ${rounds} interleaved runs`)
  say(machine())
  table(
    ['', 'ms', 'deliveries/s', 'CPU µs/delivery', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, peakMiB }) => [
      name,
      ((deliveries / perSecond) * 1000).toFixed(0),
      perSecond.toFixed(0),
      cpuMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
  const rate = (name: string): number => summaries.find((each) => each.name === name)!.perSecond // each was run
  for (const engine of chosen) {
    say(`${engine}, one event / ${deliveries} events: ${(rate(toMany(engine)) / rate(toOne(engine))).toFixed(2)}`)
  }
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
