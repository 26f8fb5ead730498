import { afterAll, beforeAll, describe, inject } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { clients as postgresClients, schemasOf } from './postgres.ts'
import { clients as redisClients, describeRedis, freshNamespace, sharedRedis } from './redis.ts'

/** An empty storage of the engine that a suite runs on. */
export type Fresh = () => Promise<Storage>

/** Runs a suite on memory, on PostgreSQL and on Redis, each where there is one. */
export function onEveryEngine(suite: (fresh: Fresh) => void): void {
  describe('on memory', () => suite(async () => memory()))

  describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
    const [{ open }] = postgresClients as readonly [(typeof postgresClients)[number]]
    let connected: ReturnType<typeof open>
    let schemas: ReturnType<typeof schemasOf>
    const opened: Awaited<ReturnType<typeof schemas.open>>[] = []
    beforeAll(() => {
      connected = open(inject('postgresUrl')!) // skipped where it is null
      schemas = schemasOf(connected.handle)
    })
    afterAll(async () => {
      for (const { close } of opened) await close()
      await schemas.drop()
      await connected.close()
    })
    suite(async () => {
      const one = await schemas.open()
      opened.push(one)
      return one.subject
    })
  })

  describeRedis('on Redis', () => {
    const [{ open }] = redisClients as readonly [(typeof redisClients)[number]]
    let server: Awaited<ReturnType<typeof sharedRedis>>
    let connected: Awaited<ReturnType<typeof open>>
    const opened: Storage[] = []
    beforeAll(async () => {
      server = await sharedRedis()
      connected = await open(server.url)
    })
    afterAll(async () => {
      for (const storage of opened) await storage.close()
      connected.close()
      await server.stop()
    })
    suite(async () => {
      const storage = redis(connected.client, { namespace: freshNamespace() })
      opened.push(storage)
      return storage
    })
  })
}
