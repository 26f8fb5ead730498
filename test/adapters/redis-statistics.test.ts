import { afterAll, beforeAll, expect, test } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import { tagOf } from '../../adapters/redis/keys.ts'
import type { Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { hourMs } from '../../src/core/periods.ts'
import { attempt, entry, event, filled, made, settlement, start } from '../../src/testing/storage/rows.ts'
import {
  clients,
  describeOwnRedis,
  freshNamespace,
  startRedis,
  type TestClient,
  type TestRedis,
} from '../support/redis.ts'

const many = 120
const counted = { event_type: 'order.paid', told: true }

describeOwnRedis('statistics on Redis', () => {
  let server: TestRedis
  let connected: TestClient
  beforeAll(async () => {
    server = await startRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  /** Attempts of one event, an endpoint each, that were settled together. */
  async function settled(endings: readonly Partial<Settlement>[]) {
    const namespace = freshNamespace()
    const open = (): Storage => redis(connected.client, { namespace })
    const storage = open()
    const tries = endings.map((_, i) => attempt(`t${1000 + i}`, 'e', { endpoint_id: `ep${i}` }))
    await filled(storage, [event('e')], tries)
    const batch = endings.map((ending, i) => settlement('w', tries[i]!, { counted, ...ending }))
    await storage.attempts.settle(batch, { enqueue: false })
    const waiting = async () => Number(await connected.command('LLEN', `${tagOf(namespace)}:additions`))
    return { storage, another: open(), waiting }
  }

  async function succeeded({ statistics }: Storage): Promise<number> {
    const query = { workspaceId: 'w', step: 'hour', from: start, to: start + hourMs } as const
    const rows = await statistics.sums(query, null)
    return rows.reduce((sum, { counts }) => sum + counts[0]!, 0)
  }

  test('a step of a fold writes few sums, whatever the notes came to', async () => {
    const { storage, waiting } = await settled(Array.from({ length: many }, () => ({})))
    expect(await storage.statistics.fold()).toBe(many)
    const left = [await waiting()]
    while ((await storage.statistics.fold()) > 0) left.push(await waiting())
    // A minute, an hour and a streak of each endpoint.
    expect(left).toEqual([360, 310, 260, 210, 160, 110, 60, 10, 0])
    expect(await succeeded(storage)).toBe(many)
  })

  test('a fold is gone on with by another process where one died', async () => {
    const { storage, another, waiting } = await settled(Array.from({ length: many }, () => ({})))
    await storage.statistics.fold()
    await storage.statistics.fold()
    expect(await waiting()).toBe(310)
    await Promise.all(
      [another, another].map(async ({ statistics }) => {
        while ((await statistics.fold()) > 0);
      }),
    )
    expect([await waiting(), await succeeded(another)]).toEqual([0, many])
    expect(await another.statistics.streak('w', 'ep119')).toMatchObject({ failures: 0 })
  })

  test('types with lines, quotes and other scripts are counted as they are', async () => {
    const types = ['a\nb', '"a\\', 'größe,1=2', '']
    const { storage } = await settled(types.map((event_type) => ({ counted: { event_type, told: true } })))
    while ((await storage.statistics.fold()) > 0);
    const query = { workspaceId: 'w', step: 'hour', from: start, to: start + hourMs } as const
    const groups = await storage.statistics.groups(query, 'event_type', 10)
    expect([...groups].toSorted()).toEqual(types.toSorted())
  })

  test('a fold drops what waits of a workspace that is deleted meanwhile, and its causes', async () => {
    const { storage, waiting } = await settled([{ status: 'FAILED', exhausted: true }])
    await storage.statistics.fold()
    expect(await waiting()).toBe(4)
    await storage.workspaces.delete('w')
    while ((await storage.statistics.fold()) > 0);
    expect(await waiting()).toBe(0)
    expect(await storage.causes.list({ kind: 'exhausted', after: null, limit: 10 })).toEqual([])
  })

  test('the sums of many workspaces are read and tidied together', async () => {
    const namespace = freshNamespace()
    const storage = redis(connected.client, { namespace })
    const names = Array.from({ length: many }, (_, i) => `w${i}`)
    for (const name of names) {
      const tried = attempt(`t-${name}`, `e-${name}`)
      const revision = await made(storage, name)
      await storage.events.ingest([entry(name, revision, event(`e-${name}`), [tried])], { enqueue: false })
      await storage.attempts.settle([settlement(name, tried, { counted })], { enqueue: false })
    }
    while ((await storage.statistics.fold()) > 0);
    const query = { workspaceId: null, step: 'hour', from: start, to: start + hourMs } as const
    const volumes = await storage.statistics.sums(query, { by: 'workspace', names })
    expect(new Set(volumes.map(({ group }) => group))).toEqual(new Set(names))
    const untold = { minutesBefore: start + hourMs, hoursBefore: 0, daysBefore: 0, limit: 100 }
    const { statistics } = storage
    const tidied = async () => [
      await statistics.tidy(untold),
      await statistics.tidy(untold),
      await statistics.tidy(untold),
    ]
    expect(await tidied()).toEqual([100, 20, 0])
    for (const name of names) await storage.workspaces.delete(name)
    expect(await tidied()).toEqual([100, 20, 0])
    expect(await connected.command('EXISTS', `${tagOf(namespace)}:counted`)).toBe(0)
  })

  test('causes beside a process of the version before are listed once they are there, and not once they are gone', async () => {
    const namespace = freshNamespace()
    const { causes } = redis(connected.client, { namespace })
    const key = `${tagOf(namespace)}:causes:exhausted`
    const cause = (id: string) =>
      ({
        kind: 'exhausted',
        id,
        workspace_id: 'w',
        endpoint_id: 'ep',
        attempt_id: id,
        at: start,
        reason: null,
      }) as const
    const ids = async (after: string | null, limit: number) =>
      (await causes.list({ kind: 'exhausted', after, limit })).map(({ id }) => id)
    const left = ['c', 'a', 'e'].map((id) => connected.command('HSETNX', key, id, JSON.stringify(cause(id))))
    await Promise.all(left)
    await causes.add([cause('b'), cause('d')])
    expect(await ids(null, 10)).toEqual(['a', 'b', 'c', 'd', 'e'])
    await connected.command('HDEL', key, 'b', 'c')
    await connected.command('HSETNX', key, 'f', JSON.stringify(cause('f')))
    expect(await ids('a', 1)).toEqual(['d'])
    expect(await ids('d', 10)).toEqual(['e', 'f'])
    await causes.remove(['a', 'd', 'e', 'f'].map(cause))
    expect(await ids(null, 10)).toEqual([])
    expect(await connected.command('EXISTS', key, `${key}:ids`)).toBe(0)
  })
})
