import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import * as rows from '../../src/testing/storage/rows.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const wide = Array.from({ length: 450 }, (_, n) => rows.attempt(`t${n}`, 'e', { endpoint_id: `ep${n}` }))
const enqueue = { enqueue: true }

describeRedis('an event for hundreds of endpoints on Redis', () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let client: TestClient
  let namespace: string
  let storage: ReturnType<typeof redis>
  /** Scripts after which the connection is gone; Infinity: never. */
  let scriptsLeft = Infinity

  beforeAll(async () => {
    server = await sharedRedis()
    client = await clients[0]!.open(server.url)
  })
  beforeEach(() => {
    namespace = freshNamespace()
    scriptsLeft = Infinity
    storage = redis(client.client, { namespace })
  })
  afterEach(async () => {
    await storage.close()
  })
  afterAll(async () => {
    client.close()
    await server.stop()
  })

  /** A storage of a process that dies after some scripts of an ingest. */
  async function storedUntil(scripts: number): Promise<number> {
    const revision = await rows.made(storage, 'w')
    // The wrapper of another client, as a host may give.
    const call = async (command: string, ...args: string[]): Promise<unknown> => {
      if (!/^eval/i.test(command)) return client.command(command, ...args)
      if (scriptsLeft <= 0) throw new Error('Connection is closed.')
      // A script that the server does not have yet is refused first, which runs nothing.
      const reply = await client.command(command, ...args)
      scriptsLeft--
      return reply
    }
    const mortal = redis({ call }, { namespace })
    scriptsLeft = scripts
    await expect(
      mortal.events.ingest([rows.entry('w', revision, rows.event('e', { unique_id: 'u' }), wide)], enqueue),
    ).rejects.toMatchObject({ code: 'unavailable' })
    scriptsLeft = Infinity
    await mortal.close()
    return revision
  }
  const attempts = async () =>
    (await storage.attempts.list('w', { ...rows.everything, event_id: 'e', limit: 1000 })).rows.length
  const leftovers = async () =>
    ((await client.command('KEYS', `{${namespace}}:un*`)) as string[]).filter((key) => !key.includes('unique'))

  test.each([1, 2, 3, 10, 18])(
    'is finished by another process where its own ends after script %i, with its jobs',
    async (scripts) => {
      await storedUntil(scripts)
      expect(await attempts()).toBe(25 * (scripts - 1))
      expect(await leftovers()).toHaveLength(2)
      await storage.attempts.overdue({ before: rows.start, after: null, limit: 1 })
      expect(await attempts()).toBe(450)
      expect(await leftovers()).toEqual([])
      const { size } = await storage.queue.stats(rows.start)
      expect(size).toBe(450)
    },
  )

  test('is finished by the same call, sent again', async () => {
    const revision = await storedUntil(2)
    const again = rows.entry('w', revision, rows.event('e', { unique_id: 'u' }), wide)
    expect(await storage.events.ingest([again], enqueue)).toEqual([{ kind: 'stored' }])
    expect(await attempts()).toBe(450)
  })

  test('is not purged before it is finished, even when what was written has ended', async () => {
    await storedUntil(2)
    await storage.attempts.settle(
      wide.map((attempt) => rows.settlement('w', attempt)),
      enqueue,
    )
    const old = { eventsBefore: rows.start + 1, attemptsBefore: null, limit: 1000 }
    expect(await storage.purge(old)).toBe(0)
    await storage.attempts.overdue({ before: rows.start, after: null, limit: 1 })
    expect(await attempts()).toBe(450)
    await storage.attempts.settle(
      wide.map((attempt) => rows.settlement('w', attempt)),
      enqueue,
    )
    expect(await storage.purge(old)).toBe(451)
  })

  test('leaves nothing behind when it is erased before it is finished', async () => {
    await storedUntil(2)
    expect(await storage.events.erase('w', ['e'])).toBe(1)
    await storage.attempts.overdue({ before: rows.start, after: null, limit: 1 })
    expect(await leftovers()).toEqual([])
    expect(await attempts()).toBe(0)
    expect((await storage.queue.stats(rows.start)).size).toBe(0)
  })

  test('leaves nothing behind when its workspace is deleted before it is finished', async () => {
    await storedUntil(2)
    await storage.workspaces.delete('w')
    await storage.attempts.overdue({ before: rows.start, after: null, limit: 1 })
    expect(await leftovers()).toEqual([])
    for (let gone = 1; gone > 0;) gone = await storage.purge({ eventsBefore: null, attemptsBefore: null, limit: 1000 })
    expect(await client.command('KEYS', `{${namespace}}:event:*`)).toEqual([])
    expect(await client.command('KEYS', `{${namespace}}:attempt:*`)).toEqual([])
  })
})
