import {
  type Contender,
  compare,
  isRun,
  machine,
  median,
  quick,
  type Run,
  say,
  type Summary,
  table,
} from './compare.ts'
import { eventData, openDeliveries } from './deliveries.ts'
import { type Engine, freshPlace } from './engines.ts'
import { concurrency, warmUp } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// What counting costs: `deliver`, with outcomes counted as always and with a storage that counts none, in turns. The runs
// that count end with a read of the statistics, so that the fold of all notes is in their time. `-- statistics redis`
// measures one engine.

const engines = ['memory', 'postgres', 'redis'] as const
const rounds = quick ? 3 : 9
const events = quick ? 4000 : 10_000
const maxPercent = 3

function deliveryOn(engine: Engine, counts: boolean): Contender {
  return async (setting) => {
    const { posthorn, run, close } = await openDeliveries(engine, setting, {
      deliver: { concurrency, perEndpoint: concurrency },
      counts,
    })
    const counted = async (): Promise<number> => {
      const { data: buckets } = await posthorn.stats('default')
      return buckets.reduce((sum, { succeeded }) => sum + succeeded, 0)
    }
    await counted()
    return {
      async work() {
        await run(setting.events)
        await counted()
      },
      async check() {
        const expected = counts ? warmUp + setting.events : 0
        if ((await counted()) !== expected) throw new Error(`${await counted()} attempts were counted, not ${expected}`)
      },
      close,
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) => [
    [`${engine}, counted`, deliveryOn(engine, true)],
    [`${engine}, not counted`, deliveryOn(engine, false)],
  ]),
)

async function main(): Promise<void> {
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = Object.keys(contenders).filter(
    (name) => named.length === 0 || named.some((part) => name.startsWith(part)),
  )
  const receiver = await startReceiver()
  const servers = await startServers()
  // One engine after another: what a server tidies up when its run has ended is counted with the runs that follow.
  const summaries: Summary[] = []
  for (const engine of engines) {
    const found = await compare(
      names.filter((name) => name.startsWith(`${engine},`)),
      {
        rounds,
        items: events,
        async setting() {
          await servers.clean()
          await receiver.counts()
          return { ...freshPlace(servers), url: receiver.url, events, data: eventData }
        },
      },
    )
    summaries.push(...found)
  }
  await servers.stop()
  receiver.stop()

  say(`statistics: ${events} events of 1 KiB, ${concurrency} at a time, median of ${rounds} interleaved runs`)
  say(machine())
  table(
    ['', 'events/s', 'CPU µs/event', 'servers µs/event'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros }) => [
      name,
      perSecond.toFixed(0),
      cpuMicros.toFixed(1),
      serverMicros.toFixed(1),
    ]),
  )
  for (const engine of engines) {
    const [counted, plain] = ['counted', 'not counted'].map((how) =>
      summaries.find(({ name }) => name === `${engine}, ${how}`),
    )
    if (counted === undefined || plain === undefined) continue
    for (const [whose, of] of [
      ['our', ({ cpuSeconds }: Run) => cpuSeconds],
      ["the server's", ({ serverSeconds }: Run) => serverSeconds],
    ] as const) {
      // Runs of a round stand beside each other, so that noise that lasts meets both.
      const shares = counted.runs.map((run, i) => (of(run) / of(plain.runs[i]!) - 1) * 100)
      if (Number.isNaN(median(shares))) continue
      const each = shares.map((share) => share.toFixed(1)).join(' ')
      say(`${engine}: counting costs ${median(shares).toFixed(1)} % of ${whose} processor time of an event (${each})`)
      if (median(shares) > maxPercent) process.exitCode = 1
    }
  }
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
