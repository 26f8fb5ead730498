import { parseArgs } from 'node:util'

import { type Contender, isRun, machine, median, quick, runApart, say, sideBySide, table } from './compare.ts'
import { freshPlace, openPosthorn, type Place } from './engines.ts'
import {
  attemptId,
  blockSize,
  endpointCount,
  endpointId,
  eventId,
  eventTypes,
  fillPostgres,
  fillRedis,
  spanMs,
} from './history.ts'
import { quantile } from './listener.ts'
import { countdown } from './peers/tools.ts'
import { isReceiver, startReceiver } from './receiver.ts'
import { startServers } from './servers.ts'

// What it costs to have many attempts: deliver and lists beside 10,000 that ended, and beside a million, or as many thousands
// as `--stored` says. Words choose engines: `npm run bench -- size postgres --stored=10000000`.

const all = ['postgres', 'redis'] as const
const named = all.filter((engine) => process.argv.includes(engine))
const engines = named.length > 0 ? named : all
const { values } = parseArgs({ options: { stored: { type: 'string', default: '1000000' } }, strict: false })
const sizes = [10_000, Number(values.stored)] as const
const minRatio = 0.9
const concurrency = 256
const rounds = quick ? 3 : 5
const events = 5000
const data = JSON.stringify({ customer: 'c'.repeat(32), note: 'n'.repeat(968) })
/** A list is asked so often, or for so long, whatever ends first. */
const calls = quick ? 50 : 200
const listMs = 1000
/** One whose first call takes longer is left. */
const tooLongMs = 3000

type Engine = (typeof all)[number]
type Posthorn = Awaited<ReturnType<typeof openPosthorn>>['posthorn']

/** Publishes to an endpoint of its own, which is gone with the run, and delivers. */
function deliveryOn(engine: Engine): Contender {
  return async (setting) => {
    const value = JSON.parse(setting.data) as Record<string, unknown>
    const done = countdown(setting.events)
    const { posthorn, close } = await openPosthorn(engine, setting, {
      deliver: { concurrency, perEndpoint: concurrency },
      settled: done.tell,
    })
    const request = { url: setting.url }
    const { id } = await posthorn.endpoints.create('default', { request, events: ['bench.event'] })
    await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: id })
    await posthorn.start()
    return {
      async work() {
        await sideBySide(setting.events, concurrency, () =>
          posthorn.events.create('default', { event_type: 'bench.event', data: value }),
        )
        await done.over
      },
      async check() {
        const total = await totalOf(posthorn, { endpoint_id: id, status: 'SUCCESSFUL' })
        if (total !== setting.events) throw new Error(`${total} of ${setting.events} attempts are successful`)
      },
      async close() {
        await posthorn.endpoints.delete('default', id)
        await posthorn.stop()
        await close()
      },
    }
  }
}
const contenders = { postgres: deliveryOn('postgres'), redis: deliveryOn('redis') }

async function totalOf(posthorn: Posthorn, query: object): Promise<number> {
  const page = await posthorn.attempts.list('default', { ...query, page_no: 1, page_size: 1 })
  return 'total' in page ? page.total : 0
}

/** Fills a place with a history, and looks that its last copy reads as the first block does. */
async function fill(engine: Engine, place: Place, stored: number): Promise<void> {
  const { posthorn, close } = await openPosthorn(engine, place)
  for (let n = 0; n < endpointCount; n++) {
    const request = { url: 'https://example.com/hook' }
    await posthorn.endpoints.create('default', { id: endpointId(n), request, events: [...eventTypes] })
  }
  await (engine === 'redis' ? fillRedis : fillPostgres)(place, stored)
  const last = stored / blockSize - 1
  const first = await posthorn.attempts.get('default', attemptId(0, 8))
  const copied = await posthorn.attempts.get('default', attemptId(last, 8))
  const total = await totalOf(posthorn, {})
  const one = await totalOf(posthorn, { event_id: eventId(last, 4) })
  if (total !== stored || one !== 2 || copied.event_id !== eventId(last, 4)) throw new Error('wrong copies')
  if (JSON.stringify(copied.response) !== JSON.stringify(first.response)) throw new Error('an attempt lost its details')
  await close()
}

type List = (posthorn: Posthorn) => Promise<unknown>

/** The lists, each in the ways that differ in work. `middle` is a block in the midst of the history. */
function listsOf(middle: number): Readonly<Record<string, List>> {
  const now = Date.now()
  const cursor = { limit: 20 }
  const offset = { page_no: 1, page_size: 20 }
  const longAgo = { gte: now - spanMs / 2, lt: now - spanMs / 2 + 3_600_000 }
  const filters = {
    attempts: {},
    'of an endpoint': { endpoint_id: endpointId(4) },
    'of an event': { event_id: eventId(middle, 4) },
    'SUCCESSFUL (84 %)': { status: 'SUCCESSFUL' },
    'CANCELED (0.8 %)': { status: 'CANCELED' },
    'FAILED, of an endpoint': { status: 'FAILED', endpoint_id: endpointId(4) },
    'of the last day': { created_at: { gte: now - 24 * 3_600_000 } },
    'of an hour long ago': { created_at: longAgo },
  }
  const attempts =
    (query: object): List =>
    (posthorn) =>
      posthorn.attempts.list('default', query)
  const events =
    (query: object): List =>
    (posthorn) =>
      posthorn.events.list('default', query)
  return {
    ...Object.fromEntries(
      Object.entries(filters).flatMap(([name, filter]) => [
        [`${name}, cursor`, attempts({ ...filter, ...cursor })],
        [`${name}, total`, attempts({ ...filter, ...offset })],
      ]),
    ),
    'after one in the midst, cursor': attempts({ ...cursor, after: attemptId(middle, 8) }),
    'a page in the midst, total': attempts({ page_no: middle * 50, page_size: 20 }),
    'events, cursor': events(cursor),
    'events, total': events(offset),
    'events of a type, cursor': events({ ...cursor, event_type: 'order.paid' }),
    'events of an hour long ago, cursor': events({ ...cursor, created_at: longAgo }),
  }
}

async function main(): Promise<void> {
  const receiver = await startReceiver()
  // Servers of its own for each size: what is stored beside would share their memory and their keys.
  const servers = [await startServers(), await startServers()]
  const places = servers.map(freshPlace)
  const begun = performance.now()
  await Promise.all(
    engines.map(async (engine) => {
      for (const [i, stored] of sizes.entries()) await fill(engine, places[i]!, stored)
    }),
  )
  const names = sizes.map((stored) => stored.toLocaleString('en'))
  say(`size: beside ${names.join(' and ')} ended attempts of ${endpointCount} endpoints, with events of 100 bytes`)
  say(machine())
  say(`filled in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  say()
  await compareDelivery(places, receiver.url)
  say()
  await compareLists(places)
  for (const { stop } of servers) await stop()
  receiver.stop()
}

async function compareDelivery(places: readonly Place[], url: string): Promise<void> {
  const rows: string[][] = []
  for (const engine of engines) {
    const took: number[][] = sizes.map(() => [])
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? [0, 1] : [1, 0]
      for (const i of order) took[i]!.push((await runApart(engine, { ...places[i]!, url, events, data })).seconds)
    }
    const ratio = median(took[0]!.map((seconds, round) => seconds / took[1]![round]!))
    if (ratio < minRatio) process.exitCode = 1
    rows.push([engine, ...took.map((seconds) => (events / median(seconds)).toFixed(0)), ratio.toFixed(2)])
  }
  say(`deliver: ${events} events of 1 KiB, ${concurrency} at a time, events/s, medians of ${rounds} interleaved runs`)
  table(['', ...sizes.map((stored) => `at ${stored}`), 'ratio'], rows)
  say(`The ratio, which is the median of those of the rounds, is to be ${minRatio} at least.`)
}

async function compareLists(places: readonly Place[]): Promise<void> {
  const asked = Object.keys(listsOf(0))
  const rows: string[][] = []
  for (const name of asked) {
    const cells: string[] = []
    for (const engine of engines) {
      for (const [i, place] of places.entries()) {
        const list = listsOf(sizes[i]! / blockSize / 2)[name]!
        cells.push(await timesOf(engine, place, list))
      }
    }
    rows.push([name, ...cells])
  }
  say(`lists of 20 rows: p50 / p99 in ms of ${calls} calls one after the other, or of those in ${listMs} ms`)
  table(['', ...engines.flatMap((engine) => sizes.map((stored) => `${engine} ${stored}`))], rows)
}

/** A connection of its own, so that a list that takes too long can be left. */
async function timesOf(engine: Engine, place: Place, list: List): Promise<string> {
  const { posthorn, close } = await openPosthorn(engine, place)
  const times: number[] = []
  let late = false
  const timer = setTimeout(() => {
    late = true
    void close()
  }, tooLongMs)
  try {
    await list(posthorn) // the first one learns the workspace, and the server reads what it has not in memory
    clearTimeout(timer)
    const end = performance.now() + listMs
    do {
      const startedAt = performance.now()
      await list(posthorn)
      times.push(performance.now() - startedAt)
    } while (times.length < calls && performance.now() < end)
  } catch (error) {
    if (!late) throw error
    return `over ${tooLongMs}`
  }
  await close()
  return `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`
}

if (!isReceiver() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
