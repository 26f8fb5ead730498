import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Bounds } from '../../src/contracts/storage/configuration.ts'
import { random } from '../../src/testing/random.ts'
import {
  attempt,
  endpoint,
  entry,
  event,
  everything,
  ids,
  settlement,
  start,
  workspace,
} from '../../src/testing/storage/rows.ts'
import { storageBefore } from '../support/redis-storage-before.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'
import { drive, hostileIds, type Ids, plainIds } from '../support/storage-drive.ts'

const plain = { enqueue: false }
const stored = { kind: 'stored' }

// Stores of the version before go on without a stop, and its processes beside those of this version.
describeRedis('a store of the version before', { timeout: 60_000 }, () => {
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
  const both = () => {
    const namespace = freshNamespace()
    return {
      namespace,
      before: storageBefore(connected, namespace),
      storage: redis(connected.client, { namespace }),
      types: async () => {
        const keys = (await connected.command('KEYS', `{${namespace}}:event:*`)) as string[]
        const all = keys.toSorted().map(async (key) => `${key.slice(key.indexOf(':event:') + 7)} ${await typeOf(key)}`)
        return Promise.all(all)
      },
    }
  }
  const typeOf = async (key: string) => (await connected.command('TYPE', key)) as string
  /** A storage whose events and attempts are written and read by processes of the version before where that is asked for. */
  const mixed = (isBefore: () => boolean): ReturnType<typeof redis> => {
    const { before, namespace, storage } = both()
    return {
      ...storage,
      workspaces: {
        ...storage.workspaces,
        async insert(row) {
          // The store does not begin with this version.
          await connected.command('SETNX', `{${namespace}}:revision`, '1')
          return await storage.workspaces.insert(row)
        },
      },
      events: { ...storage.events, ingest: (...args) => (isBefore() ? before : storage.events).ingest(...args) },
      attempts: {
        ...storage.attempts,
        load: (...args) => (isBefore() ? before : storage.attempts).load(...args),
        settle: (...args) => (isBefore() ? before : storage.attempts).settle(...args),
        add: (...args) => (isBefore() ? before : storage.attempts).add(...args),
      },
      purge: (...args) => (isBefore() ? before : storage).purge(...args),
    }
  }

  /** Processes of the version before keep their counts in minutes, of deleted workspaces too: nobody asks for them there. */
  const uncounted = (storage: ReturnType<typeof redis>): ReturnType<typeof redis> => ({
    ...storage,
    attempts: { ...storage.attempts, tallies: async () => [] },
  })

  test.each(Array.from({ length: 8 }, (_, seed) => seed))(
    'processes of both versions answer as memory does, whatever happens: seed %i',
    async (seed) => {
      const dice = random(1000 + seed)
      const storage = mixed(() => dice.below(2) === 0)
      expect(await drive(uncounted(storage), seed, 250)).toEqual(await drive(uncounted(memory()), seed, 250))
    },
  )

  /** First ids that end as the key of an index does, none of which meets another, then hostile ones. */
  const metAnew = () => {
    let count = 0
    const event: Ids['event'] = (fresh, known, dice) => {
      if (++count > 25) return hostileIds.event(fresh, known, dice)
      return dice.below(3) > 0 ? `${fresh}:attempts` : fresh
    }
    return { ids: { ...plainIds, event }, isBefore: () => count <= 25 }
  }

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'what it holds under keys that ids can make is found, and is in nobody’s way: seed %i',
    async (seed) => {
      const here = metAnew()
      const there = metAnew()
      const said = await drive(uncounted(mixed(here.isBefore)), seed, 400, here.ids)
      expect(said).toEqual(await drive(uncounted(memory()), seed, 400, there.ids))
    },
  )

  test('an event makes way for the index of another one, with all that it has', async () => {
    const { before, storage, types } = both()
    await before.insertWorkspace(workspace('w'))
    const revision = (await storage.configuration('w'))!.revision
    const odd = event('x:attempts', { unique_id: 'u', data: '{"n":1}' })
    const [t1, t2] = [attempt('t1', odd.id), attempt('t2', odd.id)]
    expect(await before.ingest([entry('w', revision, odd, [t1, t2])], plain)).toEqual([stored])
    await before.settle([settlement('w', t1)], plain)
    // As long as nobody needs the key, the event stays where processes of the version before find it.
    expect(await storage.events.get('w', odd.id)).toEqual(odd)
    expect((await before.load(['t2']))[0]!.event).toEqual(odd)
    expect(await types()).toEqual(['x:attempts hash', 'x:attempts:attempts zset'])

    expect(await storage.events.ingest([entry('w', revision, event('x'), [])], plain)).toEqual([stored])
    expect((await storage.attempts.list('w', { ...everything, event_id: 'x' })).rows).toEqual([])
    expect(await storage.attempts.add('w', [attempt('t3', 'x')], plain)).toEqual([true])
    expect(await types()).toEqual(['x hash', 'x:attempts zset', 'x:attempts/ hash', 'x:attempts/:attempts zset'])

    expect(await storage.events.get('w', odd.id)).toEqual(odd)
    expect((await storage.events.list('w', { ...everything, unique_id: 'u' })).rows).toEqual([odd])
    expect(ids((await storage.events.list('w', everything)).rows)).toEqual(['x', odd.id])
    const list = async (event_id: string) => ids((await storage.attempts.list('w', { ...everything, event_id })).rows)
    expect([await list('x'), await list(odd.id), await list('x:attempts/')]).toEqual([['t3'], ['t1', 't2'], []])
    expect((await storage.attempts.load(['t2', 't3'])).map((delivery) => delivery.event!.id)).toEqual([odd.id, 'x'])
    const repeat = entry('w', revision, event('y', { unique_id: 'u' }))
    expect(await storage.events.ingest([repeat], plain)).toEqual([{ kind: 'duplicate', event: odd }])
    const next = attempt('t4', odd.id, { attempt_number: 2 })
    expect(await storage.attempts.settle([settlement('w', t2, { status: 'FAILED', next })], plain)).toMatchObject([
      { settled: true },
    ])
    expect(await storage.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 100 })).toBe(0)
    await storage.attempts.settle([settlement('w', next), settlement('w', attempt('t3', 'x'))], plain)
    expect(await storage.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 100 })).toBe(6)
    expect(await types()).toEqual([])
    expect(await storage.attempts.get('w', 't1')).toBeNull()
  })

  test('an idle event that made way goes with retention, and stays while an attempt of it is open', async () => {
    const { before, storage, types } = both()
    await before.insertWorkspace(workspace('w'))
    const revision = (await storage.configuration('w'))!.revision
    await before.ingest([entry('w', revision, event('x:attempts'))], plain)
    await storage.events.ingest([entry('w', revision, event('x'), [attempt('t', 'x')])], plain)
    await storage.attempts.add('w', [attempt('o', 'x:attempts')], plain)
    const old = { eventsBefore: start + 1, attemptsBefore: null, limit: 100 }
    expect(await storage.purge(old)).toBe(0)
    await storage.attempts.settle([settlement('w', attempt('o', 'x:attempts'))], plain)
    expect(await storage.purge(old)).toBe(2)
    expect(await types()).toEqual(['x hash', 'x:attempts zset'])
  })

  test('processes of the version before deliver what this version stored under such an id', async () => {
    const { before, storage } = both()
    await storage.workspaces.insert(workspace('w'))
    const revision = (await storage.configuration('w'))!.revision
    const odd = event('x:attempts')
    const entries = [
      entry('w', revision, event('x'), [attempt('t', 'x')]),
      entry('w', revision, odd, [attempt('o', odd.id)]),
    ]
    expect(await storage.events.ingest(entries, plain)).toEqual([stored, stored])
    expect((await before.load(['t', 'o'])).map((delivery) => delivery.event!.id)).toEqual(['x', odd.id])
    const next = attempt('p', odd.id, { attempt_number: 2 })
    await before.settle([settlement('w', attempt('o', odd.id), { status: 'FAILED', next })], plain)
    await before.settle([settlement('w', next, { status: 'FAILED', exhausted: true })], plain)
    expect(await before.newest(['o', 'p'])).toEqual(['p'])
    const { rows } = await storage.attempts.list('w', { ...everything, event_id: odd.id })
    expect(ids(rows)).toEqual(['o', 'p'])
    await storage.attempts.settle([settlement('w', attempt('t', 'x'))], plain)
    expect(await before.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 100 })).toBeGreaterThan(0)
    expect(await storage.events.get('w', 'x')).toBeNull()
  })

  const bounds: Bounds = { endpoints: 10_000, sources: 10_000, plugins: 10_000, patterns: 20 }
  const wants = (id: string, count: number) =>
    endpoint(id, { events: Array.from({ length: count }, (_, i) => `type.${i}`) })
  const full = { kind: 'full', of: 'patterns', max: 20 }

  test('the patterns of its endpoints are counted before the first is added', async () => {
    const { before, storage } = both()
    await before.insertWorkspace(workspace('w'))
    await before.insertEndpoint('w', wants('a', 8))
    await before.insertEndpoint('w', wants('b', 8))
    expect(await storage.endpoints.insert('w', wants('c', 5), bounds)).toEqual(full)
    expect(await storage.endpoints.insert('w', wants('c', 4), bounds)).toBe('written')
    expect(await storage.endpoints.insert('w', wants('d', 1), bounds)).toEqual(full)
    await storage.endpoints.delete('w', 'a')
    expect(await storage.endpoints.insert('w', wants('d', 8), bounds)).toBe('written')
    const { revision } = (await storage.endpoints.get('w', 'b'))!
    expect(await storage.endpoints.update('w', wants('b', 9), revision, bounds)).toEqual(full)
    expect(await storage.endpoints.update('w', wants('b', 8), revision, bounds)).toBe('written')
  })

  test('what processes of the version before write meanwhile is counted too', async () => {
    const { before, storage } = both()
    await storage.workspaces.insert(workspace('w'))
    expect(await storage.endpoints.insert('w', wants('a', 8), bounds)).toBe('written')
    await before.insertEndpoint('w', wants('b', 11))
    expect(await storage.endpoints.insert('w', wants('c', 2), bounds)).toEqual(full)
    const { revision } = (await storage.endpoints.get('w', 'a'))!
    await before.replaceEndpoint('w', wants('a', 1), revision)
    expect(await storage.endpoints.insert('w', wants('c', 9), bounds)).toEqual(full)
    expect(await storage.endpoints.insert('w', wants('c', 8), bounds)).toBe('written')
  })

  test('counting goes in small steps, and goes on where a crash ended it', async () => {
    const { before, namespace } = both()
    await before.insertWorkspace(workspace('w'))
    for (let n = 0; n < 1100; n++) await before.insertEndpoint('w', wants(`e${1000 + n}`, 2))
    let left = 8
    const asked: string[] = []
    const client = {
      call(name: string, ...args: string[]): Promise<unknown> {
        if (left-- <= 0) return Promise.reject(new Error('the process ends here'))
        asked.push(name)
        return connected.command(name, ...args)
      },
    }
    const storage = redis(client, { namespace })
    const insert = (count: number) => storage.endpoints.insert('w', wants('more', count), { ...bounds, patterns: 2203 })
    await expect(insert(3)).rejects.toMatchObject({ code: 'unavailable' })
    const patternsOf = (id: string) => connected.command('HGET', `{${namespace}}:endpoints:${id}`, 'patterns')
    expect([await patternsOf('e1000'), await patternsOf('e2099')]).toEqual(['2', null])
    left = Infinity
    asked.length = 0
    expect(await insert(4)).toEqual({ ...full, max: 2203 })
    // The write, twice; six pages of at most 250 endpoints; what is new of at least two; the end.
    expect(asked.filter((name) => name === 'EVALSHA').length).toBeGreaterThanOrEqual(11)
    expect(await insert(3)).toBe('written')
  })
})
