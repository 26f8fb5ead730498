import { type Contender, compare, isRun, machine, say, table } from './compare.ts'
import { engines, freshPlace, openPosthorn } from './engines.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// One event to 1,000 endpoints, from the call of events.create until all of its attempts are recorded.

const rounds = process.argv.includes('--quick') ? 1 : 5
const endpoints = 1000

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.map((engine): [string, Contender] => [
    engine,
    async (setting) => {
      let left = endpoints
      let end: () => void
      const over = new Promise<void>((resolve) => (end = resolve))
      const settled = (count: number): void => {
        left -= count
        if (left === 0) end()
      }
      const { posthorn, close } = await openPosthorn(engine, setting, { settled })
      await posthorn.config.sync('default', {
        endpoints: Array.from({ length: endpoints }, (_, i) => ({
          name: `endpoint ${i}`,
          request: { url: setting.url },
          events: ['*'],
          plugins: [],
        })),
      })
      await posthorn.start()
      return {
        async work() {
          await posthorn.events.create('default', { event_type: 'bench.event', data: { note: 'n'.repeat(1000) } })
          await over
        },
        async close() {
          await posthorn.stop()
          await close()
        },
      }
    },
  ]),
)

async function main(): Promise<void> {
  const receiver = await startReceiver()
  const servers = await startServers()
  const summaries = await compare(engines, {
    rounds,
    items: endpoints,
    setting: async () => ({ ...freshPlace(servers), url: receiver.url, events: 1, data: '' }),
  })
  await servers.stop()
  receiver.stop()
  say(`fan-out: one event of 1 KiB to ${endpoints} endpoints, median of ${rounds} interleaved runs`)
  say(machine())
  table(
    ['', 'ms', 'deliveries/s', 'CPU µs/delivery', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, peakMiB }) => [
      name,
      ((endpoints / perSecond) * 1000).toFixed(0),
      perSecond.toFixed(0),
      cpuMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
