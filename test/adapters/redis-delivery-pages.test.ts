import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { timePrefix } from '../../src/core/id.ts'
import { attempt, entry, event, revisionOf, settlement, start, workspace } from '../../src/testing/storage/rows.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const plain = { enqueue: false }
const idAt = (time: number, n: number): string => `${timePrefix(time)}${String(n).padStart(16, '0')}`
const ownId = (_time: number, n: number): string => `own-${(n * 3701) % 10_007}`
const answered = (status: number) => ({ status, latency: 3, headers: {}, body: '' })

describeRedis('pages of deliveries on Redis', { timeout: 60_000 }, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })
  const counted = () => {
    let calls = 0
    const call = (name: string, ...args: string[]) => {
      calls++
      return connected.command(name, ...args)
    }
    const callsOf = async (read: () => Promise<unknown>): Promise<number> => {
      calls = 0
      await read()
      return calls
    }
    return { storage: redis({ call }, { namespace: freshNamespace() }), callsOf }
  }

  const filters: readonly object[] = [
    {},
    { status: 'PENDING' },
    { status: 'RETRYING' },
    { status: 'FAILED' },
    { status: 'CANCELED' },
    { response_status: 500 },
    { response_status: 500, endpoint_id: 'e3' },
    { response_status: 500, status: 'FAILED' },
    { endpoint_id: 'e3', event_type: 'often' },
    { endpoint_id: 'e3', status: 'PENDING' },
    { event_type: 'rare', status: 'FAILED' },
    { event_type: 'rare', response_status: 500 },
  ]

  test('a page of deliveries takes as few calls with each filter, and has what memory has', async () => {
    const { storage, callsOf } = counted()
    const reference = memory()
    for (const each of [storage, reference]) await fill(each, 1500, idAt)
    const [posthorn, expected] = [createPosthorn({ storage }), createPosthorn({ storage: reference })]
    for (const filter of filters) {
      for (const range of [{}, { created_at: { gte: start + 300_000, lt: start + 1_300_000 } }]) {
        const query = { limit: 10, ...filter, ...range }
        const what = JSON.stringify(query)
        const all = { ...query, limit: 100 }
        const page = await posthorn.deliveries.list('w', all)
        expect(page, what).toEqual(await expected.deliveries.list('w', all))
        expect(await callsOf(() => posthorn.deliveries.list('w', query)), what).toBeLessThanOrEqual(5)
        if (page.next === null) continue
        const more = { ...all, after: page.next }
        expect(await posthorn.deliveries.list('w', more), what).toEqual(await expected.deliveries.list('w', more))
      }
    }
  })

  test('events whose ids tell nothing of their time are listed in as few calls', async () => {
    const { storage, callsOf } = counted()
    const reference = memory()
    for (const each of [storage, reference]) await fill(each, 1500, ownId)
    const [posthorn, expected] = [createPosthorn({ storage }), createPosthorn({ storage: reference })]
    for (const filter of filters) {
      const query = { limit: 10, ...filter }
      const page = await posthorn.deliveries.list('w', query)
      expect(page, JSON.stringify(query)).toEqual(await expected.deliveries.list('w', query))
    }
    expect(await callsOf(() => posthorn.deliveries.list('w', { limit: 10 }))).toBeLessThanOrEqual(5)
  })
})

/** A delivery each second, to one endpoint in five. One in twenty fails, as many recover later; few wait, are canceled or retried. */
async function fill(storage: Storage, count: number, id: (time: number, n: number) => string): Promise<void> {
  await storage.workspaces.insert(workspace('w'))
  const revision = await revisionOf(storage, 'w')
  const made = Array.from({ length: count }, (_, n) => {
    const time = start + n * 1000
    const one = event(id(time, n), {
      created_at: time,
      ingested_at: time,
      event_type: n % 30 === 0 ? 'rare' : 'often',
    })
    const first = attempt(id(time, n + 2000), one.id, {
      endpoint_id: `e${Math.floor(n / 20) % 5}`,
      created_at: time,
      scheduled_at: time,
    })
    const later = time + 60_000
    const next: NewAttempt = {
      ...first,
      id: id(later, n + 4000),
      attempt_number: 2,
      trigger_mode: 'AUTOMATIC',
      created_at: later,
      scheduled_at: later,
    }
    return { n, one, first, next }
  })
  for (let from = 0; from < count; from += 250) {
    const rows = made.slice(from, from + 250)
    await storage.events.ingest(
      rows.map(({ one, first }) => entry('w', revision, one, [first])),
      plain,
    )
    await storage.attempts.settle(
      rows.flatMap(({ n, first, next }): Settlement[] => {
        const failed = { status: 'FAILED', response: answered(n % 8 === 1 ? 503 : 500) } as const
        if (n % 20 === 1) return [settlement('w', first, { ...failed, exhausted: true })]
        if (n % 20 === 2 || n % 100 === 3) return [settlement('w', first, { ...failed, next })]
        if (n % 100 === 4) return [settlement('w', first, { status: 'CANCELED' })]
        return n % 100 === 5 ? [] : [settlement('w', first)]
      }),
      plain,
    )
    await storage.attempts.settle(
      rows.flatMap(({ n, next }) => (n % 20 === 2 ? [settlement('w', next)] : [])),
      plain,
    )
  }
}
