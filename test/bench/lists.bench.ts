import { Pool } from 'pg'

import { type Engine, freshPlace, openStorage, type Place } from './engines.ts'
import { machine, median, quick, say, table } from './compare.ts'
import { fill, spanUntil } from './lists-fill.ts'
import { startServers } from './servers.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { Posthorn } from '../../src/exports.ts'

// What pages of attempts and of deliveries cost beside a million deliveries: the newest page, ranges of time wherever they
// lie, and filters, as milliseconds and as multiples of the newest page. `npm run bench -- lists postgres --rows=100000`.

const words = process.argv.slice(2)
const given = Number(words.find((word) => /^--rows=\d+$/.test(word))?.slice('--rows='.length) ?? 1_000_000)
const stored = quick ? 20_000 : given
const reads = quick ? 10 : 30
const { at } = spanUntil(Date.now() - 60_000)
const all = ['postgres', 'redis'] as const
const named = all.filter((engine) => words.includes(engine))

const minute = 60_000
const hours = (field: string, part: number, ms = 6 * 60 * minute) => ({ [field]: { gte: at(part), lt: at(part) + ms } })

type Queries = Readonly<Record<string, () => Promise<void>>>

const servers = await startServers()
say(`Lists beside ${stored.toLocaleString('en')} deliveries, medians of ${reads} reads. ${machine()}`)
for (const engine of named.length > 0 ? named : all) await measure(engine)
await servers.stop()

async function measure(engine: Engine): Promise<void> {
  const place = freshPlace(servers)
  const { options, close } = await openStorage(engine, place)
  const posthorn = createPosthorn(options)
  await posthorn.workspaces.ensure({ id: 'default', name: 'default' })
  await fill(options.storage, stored, { at })
  if (engine === 'postgres') await analyze(place)
  for (const [list, queries] of Object.entries({
    attempts: ofAttempts(posthorn),
    deliveries: ofDeliveries(posthorn),
  })) {
    say()
    const rows: string[][] = []
    let newest = 0
    for (const [what, read] of Object.entries(queries)) {
      const ms = await timed(read)
      newest ||= ms
      rows.push([what, ms.toFixed(2), (ms / newest).toFixed(2)])
    }
    table([`${list} on ${engine}`, 'ms', 'of the newest page'], rows)
  }
  await close()
}

function ofAttempts(posthorn: Posthorn): Queries {
  const page = (query: object) => async () => void (await posthorn.attempts.list('default', { limit: 20, ...query }))
  return {
    newest: page({}),
    ...Object.fromEntries(
      ['created_at', 'scheduled_at'].flatMap((field) =>
        [0.01, 0.25, 0.5, 0.75].flatMap((part) => [
          [`${field}, six hours at ${part * 100} %`, page(hours(field, part))],
          [`${field}, six hours at ${part * 100} %, upwards`, page({ ...hours(field, part), sort: 'id.asc' })],
          [`${field}, a minute at ${part * 100} %`, page(hours(field, part, minute))],
          [`${field}, a minute at ${part * 100} %, upwards`, page({ ...hours(field, part, minute), sort: 'id.asc' })],
        ]),
      ),
    ),
    'scheduled_at, the last two hours, all of them later tries': page({ scheduled_at: { gte: at(1) } }),
    'scheduled_at, before all': page({ scheduled_at: { lt: at(0) } }),
    'FAILED, six hours at 25 %': page({ ...hours('created_at', 0.25), status: 'FAILED' }),
  }
}

function ofDeliveries(posthorn: Posthorn): Queries {
  const page = (query: object) => async () => void (await posthorn.deliveries.list('default', { limit: 20, ...query }))
  const filters: Readonly<Record<string, object>> = {
    DELIVERED: { status: 'DELIVERED' },
    'FAILED, one in fifty': { status: 'FAILED' },
    'CANCELED, one in 10,000': { status: 'CANCELED' },
    'PENDING, one in 4,000': { status: 'PENDING' },
    'RETRYING, one in 4,000': { status: 'RETRYING' },
    'an endpoint with one in twenty': { endpoint_id: 'ep3' },
    'an endpoint with one in 500': { endpoint_id: 'seldom' },
    'an endpoint with one in 10,000': { endpoint_id: 'rare' },
    'an endpoint with none': { endpoint_id: 'nobody' },
    'an endpoint and FAILED': { endpoint_id: 'ep3', status: 'FAILED' },
    'an endpoint and RETRYING': { endpoint_id: 'ep3', status: 'RETRYING' },
    'an endpoint and DELIVERED': { endpoint_id: 'seldom', status: 'DELIVERED' },
    'a type with one in four': { event_type: 'order.paid' },
    'a type with one in 500': { event_type: 'seldom' },
    'a type with one in 10,000': { event_type: 'rare' },
    'a type and FAILED': { event_type: 'order.sent', status: 'FAILED' },
    'a rare type and FAILED': { event_type: 'rare', status: 'FAILED' },
    'an endpoint and a type': { endpoint_id: 'ep3', event_type: 'order.paid' },
    'response 200': { response_status: 200 },
    'response 500': { response_status: 500 },
    'response 418, one in 10,000': { response_status: 418 },
    'response 500 of an endpoint': { response_status: 500, endpoint_id: 'ep3' },
  }
  return {
    newest: page({}),
    'created_at, six hours at 1 %': page(hours('created_at', 0.01)),
    'created_at, a minute at 50 %': page(hours('created_at', 0.5, minute)),
    ...Object.fromEntries(
      Object.entries(filters).flatMap(([name, query]) => [
        [name, page(query)],
        [`${name}, six hours at 25 %`, page({ ...query, ...hours('created_at', 0.25) })],
      ]),
    ),
  }
}

async function timed(read: () => Promise<void>): Promise<number> {
  await read()
  const times: number[] = []
  for (let i = 0; i < reads; i++) {
    const start = performance.now()
    await read()
    times.push(performance.now() - start)
    // What is far over any bound is as well told by fewer.
    if (i > 3 && times[0]! > 200) break
  }
  return median(times)
}

/** What autovacuum would have done in five days. */
async function analyze({ postgres: connectionString, schema }: Place): Promise<void> {
  const pool = new Pool({ connectionString, max: 1 })
  for (const name of ['events', 'attempts', 'outcomes', 'jobs']) {
    await pool.query(`vacuum analyze ${schema}.${name}`)
  }
  await pool.end()
}
