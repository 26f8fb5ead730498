import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { runInboxEquivalence } from '../../src/testing/inbox-equivalence.ts'
import { runQueueEquivalence } from '../../src/testing/queue-equivalence.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { runStorageEquivalence } from '../../src/testing/storage-equivalence.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'
import { promises } from './suite.ts'

describeRedis.each(clients)('Redis through $name', (make) => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await make.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })
  const open = async () => {
    const subject = redis(connected.client, { namespace: freshNamespace() })
    return { subject, close: () => subject.close() }
  }
  const part =
    <Part extends 'queue' | 'inbox' | 'limiter'>(name: Part) =>
    async () => {
      const { subject, close } = await open()
      return { subject: subject[name], close }
    }

  describe('its queue', () => promises(queueContract, part('queue')))
  describe('its inbox', () => promises(inboxContract, part('inbox')))
  describe('its limiter', () => promises(limiterContract, part('limiter')))
  describe('its storage', () => promises(storageContract, open))

  test('its queue and that of memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runQueueEquivalence({ seed: 21, operations: 1000, left: memory().queue, right: subject.queue })
    await expect(run).resolves.toBeUndefined()
    await close()
  })

  test('its inbox and that of memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runInboxEquivalence({ seed: 23, operations: 600, left: memory().inbox, right: subject.inbox })
    await expect(run).resolves.toBeUndefined()
    await close()
  })

  test('it and memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runStorageEquivalence({ seed: 22, operations: 1000, left: memory(), right: subject })
    await expect(run).resolves.toBeUndefined()
    await close()
  })
})
