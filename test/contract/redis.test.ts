import { afterAll, beforeAll, describe } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
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
})
