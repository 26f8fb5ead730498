import { Pool } from 'pg'

import { type Engine, freshPlace, openStorage, type Place } from './engines.ts'
import { machine, median, quick, say, sideBySide, table } from './compare.ts'
import { startServers } from './servers.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { idMaker } from '../../src/core/id.ts'
import { attempt, entry, event, revisionOf, settlement } from '../../src/testing/storage/rows.ts'

// What pages of attempts and of deliveries cost beside a million attempts: the newest page, ranges of time wherever they
// lie, and filters, as milliseconds and as multiples of the newest page.

const stored = quick ? 20_000 : 1_000_000
const batch = 500
const spanMs = 5 * 24 * 3_600_000
const reads = quick ? 10 : 30
const end = Date.now() - 60_000
const begin = end - spanMs
const at = (part: number): number => Math.floor(begin + part * spanMs)

const servers = await startServers()
say(`Lists beside ${stored.toLocaleString('en')} attempts, medians of ${reads} reads. ${machine()}`)
for (const engine of ['postgres', 'redis'] as const) await measure(engine)
await servers.stop()

async function measure(engine: Engine): Promise<void> {
  const place = freshPlace(servers)
  const { options, close } = await openStorage(engine, place)
  const posthorn = createPosthorn(options)
  await posthorn.workspaces.ensure({ id: 'default', name: 'default' })
  await fill(options.storage)
  if (engine === 'postgres') await analyze(place)

  const attempts = (query: object) => async () =>
    void (await posthorn.attempts.list('default', { limit: 20, ...query }))
  const deliveries = (query: object) => async () =>
    void (await posthorn.deliveries.list('default', { limit: 20, ...query }))
  const hours = (field: string, part: number, ms = 6 * 3_600_000) => ({ [field]: { gte: at(part), lt: at(part) + ms } })
  const minute = 60_000
  const groups: Record<string, Record<string, () => Promise<void>>> = {
    attempts: {
      newest: attempts({}),
      ...Object.fromEntries(
        ['created_at', 'scheduled_at'].flatMap((field) =>
          [0.01, 0.25, 0.5, 0.75].flatMap((part) => [
            [`${field}, six hours at ${part * 100} %`, attempts(hours(field, part))],
            [`${field}, the same upwards`, attempts({ ...hours(field, part), sort: 'id.asc' })],
            [`${field}, a minute at ${part * 100} %`, attempts(hours(field, part, minute))],
          ]),
        ),
      ),
      'FAILED, six hours at 25 %': attempts({ ...hours('created_at', 0.25), status: 'FAILED' }),
    },
    deliveries: {
      newest: deliveries({}),
      'created_at, six hours at 1 %': deliveries(hours('created_at', 0.01)),
      'created_at, a minute at 50 %': deliveries(hours('created_at', 0.5, minute)),
      DELIVERED: deliveries({ status: 'DELIVERED' }),
      'FAILED, one in fifty': deliveries({ status: 'FAILED' }),
      'CANCELED, one in 10,000': deliveries({ status: 'CANCELED' }),
      'PENDING, none': deliveries({ status: 'PENDING' }),
      'an endpoint with one in twenty': deliveries({ endpoint_id: 'ep3' }),
      'an endpoint with one in 10,000': deliveries({ endpoint_id: 'rare' }),
      'a type with one in four': deliveries({ event_type: 'order.paid' }),
      'a type with one in 10,000': deliveries({ event_type: 'rare' }),
    },
  }
  for (const [list, queries] of Object.entries(groups)) {
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

async function timed(read: () => Promise<void>): Promise<number> {
  await read()
  const times: number[] = []
  for (let i = 0; i < reads; i++) {
    const start = performance.now()
    await read()
    times.push(performance.now() - start)
  }
  return median(times)
}

/** Attempts that ended: one in fifty failed, one in 10,000 was canceled; the others succeeded. */
async function fill(storage: Storage): Promise<void> {
  const revision = await revisionOf(storage, 'default')
  let now = begin
  const newId = idMaker(
    () => now,
    (length) => crypto.getRandomValues(new Uint8Array(length)),
  )
  const plans = Array.from({ length: stored / batch }, (_, n) => n)
  await sideBySide(plans.length, 4, async (n) => {
    const made = Array.from({ length: batch }, (_, i) => {
      const which = n * batch + i
      now = at(which / stored)
      const rare = which % 10_000 === 0
      const types = ['order.paid', 'order.sent', 'invoice.paid', 'customer.updated'] as const
      const times = { created_at: now, updated_at: now, ingested_at: now }
      const one = event(newId(), { event_type: rare ? 'rare' : types[which % 4]!, ...times })
      const endpoint_id = rare ? 'rare' : `ep${(which >> 2) % 20}`
      return { which, one, first: attempt(newId(), one.id, { endpoint_id, created_at: now, scheduled_at: now }) }
    })
    await storage.events.ingest(
      made.map(({ one, first }) => entry('default', revision, one, [first])),
      { enqueue: false },
    )
    await storage.attempts.settle(
      made.map(({ which, first }) => ended(which, first)),
      { enqueue: false },
    )
  })
}

function ended(which: number, first: NewAttempt): Settlement {
  const canceled = which % 10_000 === 5_000
  const failed = which % 50 === 1
  return settlement('default', first, {
    status: canceled ? 'CANCELED' : failed ? 'FAILED' : 'SUCCESSFUL',
    exhausted: failed,
    attempted_at: canceled ? null : first.created_at + 5,
    settled_at: first.created_at + 10,
  })
}

/** What autovacuum would have done in five days. */
async function analyze({ postgres: connectionString, schema }: Place): Promise<void> {
  const pool = new Pool({ connectionString, max: 1 })
  for (const table of ['events', 'attempts', 'outcomes', 'open_attempts'])
    await pool.query(`vacuum analyze ${schema}.${table}`)
  await pool.end()
}
