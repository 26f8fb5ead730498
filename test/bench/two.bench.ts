import { fork } from 'node:child_process'

import { machine, quick, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn, type Place } from './engines.ts'
import { listenTo } from './listener.ts'
import { startServers } from './servers.ts'

// Two worker processes share a backlog: none of its events may arrive twice, and neither may be left with little.

const events = quick ? 5000 : 20_000
const concurrency = 256
const shared = engines.filter((engine) => engine !== 'memory')

async function runWorker(engine: Engine, place: Place, userAgent: string): Promise<void> {
  const { posthorn } = await openPosthorn(engine, place, {
    deliver: { concurrency, perEndpoint: concurrency, userAgent },
  })
  process.send!('ready')
  process.once('message', () => void posthorn.start())
}

async function share(engine: Engine, place: Place): Promise<readonly string[]> {
  const arrivals = new Map<string, number>()
  const byWorker = new Map<string, number>()
  let end: () => void
  const over = new Promise<void>((resolve) => (end = resolve))
  const listener = await listenTo((_path, _body, headers) => {
    const id = String(headers['webhook-id'])
    const worker = String(headers['user-agent'])
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    byWorker.set(worker, (byWorker.get(worker) ?? 0) + 1)
    if (arrivals.size === events) end()
  })
  const { posthorn, close } = await openPosthorn(engine, place)
  await posthorn.endpoints.create('default', { request: { url: listener.base }, events: ['*'] })
  await sideBySide(events, concurrency, (i) =>
    posthorn.events.create('default', { event_type: 'bench.event', data: { i, note: 'n'.repeat(968) } }),
  )
  const children = ['one', 'two'].map((name) => fork(process.argv[1]!, ['worker', engine, JSON.stringify(place), name]))
  await Promise.all(children.map((child) => new Promise((ready) => child.once('message', ready))))
  const startedAt = performance.now()
  for (const child of children) child.send('go')
  await over
  const seconds = (performance.now() - startedAt) / 1000
  await new Promise((resolve) => setTimeout(resolve, 500)) // what would come twice comes now
  for (const child of children) child.kill()
  await posthorn.stop()
  await close()
  listener.close()
  const twice = [...arrivals.values()].filter((count) => count > 1).length
  const least = Math.min(...['one', 'two'].map((name) => byWorker.get(name) ?? 0))
  return [engine, (events / seconds).toFixed(0), String(twice), `${((100 * least) / events).toFixed(0)} %`]
}

async function main(): Promise<void> {
  const servers = await startServers()
  const rows: (readonly string[])[] = []
  for (const engine of shared) rows.push(await share(engine, freshPlace(servers)))
  await servers.stop()
  say(`two: ${events} waiting events of 1 KiB shared by two worker processes`)
  say(machine())
  table(['', 'events/s', 'arrived twice', 'share of the lesser'], rows)
}

if (process.argv[2] === 'worker') {
  const [, , , engine, place, name] = process.argv
  await runWorker(engine as Engine, JSON.parse(place!) as Place, name!) // as they were given
} else {
  await main()
  process.exit()
}
