import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import {
  attempt,
  endpoint,
  entry,
  event,
  made,
  plugin,
  settlement,
  source,
  start,
} from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'
import { drive, hostileIds } from '../support/storage-drive.ts'

describeRedis.each(clients)('storage on Redis through $name', { timeout: 30_000 }, ({ open }) => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  test.for(Array.from({ length: 8 }, (_, seed) => seed))(
    'it answers as memory does, whatever happens: seed %i',
    async (seed) => {
      const storage = redis(connected.client, { namespace: freshNamespace() })
      expect(await drive(storage, seed, 250)).toEqual(await drive(memory(), seed, 250))
    },
  )

  test.for(Array.from({ length: 12 }, (_, seed) => seed))(
    'no id makes a key that another row owns: seed %i',
    async (seed) => {
      const storage = redis(connected.client, { namespace: freshNamespace() })
      expect(await drive(storage, seed, 250, hostileIds)).toEqual(await drive(memory(), seed, 250, hostileIds))
    },
  )

  test('an event has as many attempts as a workspace may have endpoints', async () => {
    const storage = redis(connected.client, { namespace: freshNamespace() })
    const revision = await made(storage, 'w')
    const attempts = Array.from({ length: 10_000 }, (_, n) => attempt(`t${n}`, 'e', { endpoint_id: `ep${n}` }))
    const answers = await storage.events.ingest([entry('w', revision, event('e'), attempts)], { enqueue: true })
    expect(answers).toEqual([{ kind: 'stored' }])
    expect((await storage.queue.stats(start)).size).toBe(10_000)
    const claims = await storage.queue.claim(claimOptions({ limit: 2000, free: 20_000, cap: 16, now: start }))
    expect(new Set(claims.map(({ group }) => group)).size).toBe(2000)
  })

  test('a plan has as many rows as a workspace may have', async () => {
    const storage = redis(connected.client, { namespace: freshNamespace() })
    const revision = await made(storage, 'w')
    const numbers = Array.from({ length: 10_000 }, (_, n) => n)
    const plan = {
      workspaceId: 'w',
      endpoints: { put: numbers.map((n) => endpoint(`e${n}`)), remove: [] },
      sources: { put: numbers.map((n) => source(`s${n}`)), remove: [] },
      plugins: { put: numbers.map((n) => plugin(`p${n}`, { endpoint_id: `e${n}` })), remove: [] },
    }
    expect(await storage.applyConfig(plan, revision)).toBe('applied')
    const { endpoints, sources, plugins } = (await storage.configuration('w'))!
    expect([endpoints.length, sources.length, plugins.length]).toEqual([10_000, 10_000, 10_000])
    expect(endpoints[0]?.row).toEqual(endpoint('e0'))
  })

  test('names in inbox and limiter are as far apart as their ids', async () => {
    const { inbox, limiter } = redis(connected.client, { namespace: freshNamespace() })
    const names = ['stream', 'messages', 'held', 'dead', ':', '-', '_', '0', 'workers', 'inbox:held', 'a', 'a:', 'a:a']
    const messages = names.map((id, n) => ({
      id,
      workspaceId: id,
      event_type: id,
      data: `"${id}"`,
      unique_id: id,
      received_at: start + n,
    }))
    await inbox.put(messages)
    const taken = await inbox.take({ limit: 100, maxBytes: 1 << 20, leaseMs: 1000, now: start })
    const byTime = (a: { received_at: number }, b: { received_at: number }) => a.received_at - b.received_at
    expect(taken.map(({ token: _, tries: __, ...message }) => message).toSorted(byTime)).toEqual(messages)
    await inbox.done(taken.slice(1))
    expect(await inbox.size()).toBe(1)
    const limit = { quota: 1, period: 60 }
    for (const key of names.flatMap((name) => [`endpoint:${name}`, `source:${name}`])) {
      const twice = await limiter.take(
        [1, 1].map((want) => ({ key, limit, want })),
        start,
      )
      expect(
        twice.map(({ granted }) => granted),
        key,
      ).toEqual([1, 0])
    }
  })

  test('an entry that meets a key of another make is refused alone, and nothing of it is left', async () => {
    const namespace = freshNamespace()
    const storage = redis(connected.client, { namespace })
    const revision = await made(storage, 'w')
    const key = (name: string) => `{${namespace}}:${name}`
    const entries = ['a', 'b', 'c', 'd', 'e'].map((id) =>
      entry('w', revision, event(id, { unique_id: id }), [
        attempt(`${id}1`, id),
        attempt(`${id}2`, id, { endpoint_id: id }),
      ]),
    )
    await connected.command('SET', key('event:b'), 'somebody wrote here')
    await connected.command('SET', key('event:d:attempts'), 'and here')
    await connected.command('SET', key('queue:group:e'), 'and here')
    const answers = await storage.events.ingest(entries, { enqueue: true })
    expect(answers.map(({ kind }) => kind)).toEqual(['stored', 'rejected', 'stored', 'rejected', 'rejected'])
    expect(answers[1]).toMatchObject({ cause: { message: expect.stringContaining('WRONGTYPE') } })
    await connected.command('DEL', key('event:b'), key('event:d:attempts'), key('queue:group:e'))
    const query = { limit: 10, page: 1, after: null, before: null, descending: false, maxBytes: 1 << 20 }
    expect((await storage.events.list('w', query)).rows.map(({ id }) => id)).toEqual(['a', 'c'])
    expect((await storage.attempts.list('w', query)).rows.map(({ id }) => id)).toEqual(['a1', 'a2', 'c1', 'c2'])
    expect((await storage.queue.stats(start)).size).toBe(4)
    expect(await storage.events.ingest(entries, { enqueue: true })).toEqual(entries.map(() => ({ kind: 'stored' })))
    expect((await storage.queue.stats(start)).size).toBe(10)

    const settlements = entries.map(({ attempts }) => settlement('w', attempts[0]!))
    const ended = key(
      `room:${(await connected.command('HGET', key('workspaces:w'), 'room')) as string}:attempts:undelivered`,
    )
    await connected.command('SET', ended, 'and here')
    const odd = settlements.map((each, i) => (i === 2 ? { ...each, status: 'CANCELED' as const } : each))
    const settled = await storage.attempts.settle(odd, { enqueue: true })
    expect(settled.map((each) => each.settled)).toEqual([true, true, false, true, true])
    expect(settled[2]).toMatchObject({ refused: { message: expect.stringContaining('WRONGTYPE') } })
  })

  test('a message that meets a key of another make is refused, and the answer says why', async () => {
    const namespace = freshNamespace()
    const { inbox } = redis(connected.client, { namespace })
    await connected.command('SET', `{${namespace}}:inbox:lines`, 'somebody wrote here')
    const message = { id: 'a', workspaceId: 'w', event_type: 't', data: '1', unique_id: null, received_at: start }
    expect(await inbox.put([message])).toMatchObject([{ kind: 'rejected' }])
    expect(await inbox.size()).toBe(0)
    await connected.command('DEL', `{${namespace}}:inbox:lines`)
    expect(await inbox.put([message])).toEqual([{ kind: 'stored' }])
  })
})
