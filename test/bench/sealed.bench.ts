import { type Contender, compare, isRun, machine, median, quick, say, table } from './compare.ts'
import { eventData, openDeliveries } from './deliveries.ts'
import { type Engine, engines, freshPlace } from './engines.ts'
import { concurrency, warmUp } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// `deliver` with and without `secrets`: events of 1 KiB to one endpoint with a signing secret and an authorization header, in
// rounds that take turns. What counts is the processor time of an event, ours and the engine's.

const given = Number(process.argv.find((word) => /^--rounds=\d+$/.test(word))?.slice('--rounds='.length))
const rounds = given > 0 ? given : quick ? 1 : 9
const events = quick ? 4000 : 20_000
const keys = [{ id: 'bench', key: Buffer.alloc(32, 1).toString('base64') }]

function posthornOn(engine: Engine, isSealed: boolean): Contender {
  return async (setting) => {
    const { posthorn, run, close } = await openDeliveries(engine, setting, {
      deliver: { concurrency, perEndpoint: concurrency },
      headers: { authorization: 'Bearer of the receiver' },
      ...(isSealed && { secrets: { keys } }),
    })
    return {
      work: () => run(setting.events),
      async check() {
        const { keys: counted, clear } = await posthorn.secrets.status()
        const values = counted.reduce((sum, each) => sum + each.values, 0)
        if (isSealed ? values !== 2 || clear !== 0 : values !== 0)
          throw new Error('the secrets are not as they should be')
      },
      close,
    }
  }
}

const nameOf = (engine: Engine, isSealed: boolean): string => `${engine}, ${isSealed ? 'sealed' : 'in clear'}`
const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) =>
    [false, true].map((isSealed) => [nameOf(engine, isSealed), posthornOn(engine, isSealed)] as const),
  ),
)

async function main(): Promise<void> {
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const chosen = engines.filter((engine) => named.length === 0 || named.includes(engine))
  const receiver = await startReceiver()
  const servers = await startServers()
  const summaries = await compare(
    chosen.flatMap((engine) => [nameOf(engine, false), nameOf(engine, true)]),
    {
      rounds,
      items: events,
      async setting() {
        await servers.clean()
        await receiver.counts()
        return { ...freshPlace(servers), url: receiver.url, events, data: eventData }
      },
      async after(name) {
        const { arrived, repeated } = await receiver.counts()
        if (arrived !== warmUp + events || repeated > 0)
          throw new Error(`${name}: ${arrived} arrived, ${repeated} twice`)
      },
    },
  )
  await servers.stop()
  receiver.stop()

  say(`sealed: ${events} events of 1 KiB, ${concurrency} at a time, median of ${rounds} interleaved rounds`)
  say(machine())
  table(
    ['', 'events/s', 'CPU µs/event', 'servers µs/event', 'together'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros, runs }) => [
      name,
      perSecond.toFixed(0),
      cpuMicros.toFixed(1),
      serverMicros.toFixed(1),
      median(runs.map(microsOf)).toFixed(1),
    ]),
  )
  for (const engine of chosen) {
    const [clear, sealed] = [false, true].map((isSealed) =>
      summaries.find(({ name }) => name === nameOf(engine, isSealed))!,
    )
    const ratios = clear!.runs.map((run, i) => microsOf(run) / microsOf(sealed!.runs[i]!))
    const each = ratios.map((ratio) => ratio.toFixed(3)).join(' ')
    say(`${engine}: in clear / sealed ${median(ratios).toFixed(3)} (at least 0.97 is wanted), by round ${each}`)
  }
}

/** Processor time of an event, ours and that of the servers. */
function microsOf({
  cpuSeconds,
  serverSeconds,
}: {
  readonly cpuSeconds: number
  readonly serverSeconds: number
}): number {
  return ((cpuSeconds + serverSeconds) / events) * 1e6
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
