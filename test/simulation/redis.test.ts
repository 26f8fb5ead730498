import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { describeRedis, freshNamespace, sharedRedis } from '../support/redis.ts'
import { type Standstill, standstill } from '../support/standstill.ts'

const asker = `async (url) => {
  const redis = new (require('ioredis').Redis)(url)
  return (command) => redis.call(...command)
}`

/** Thousands of questions, for each of which two threads wait: long where many wait for a processor. */
const patience = { timeout: 300_000 }

describeRedis('simulations on Redis', () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let still: Standstill
  beforeAll(async () => {
    server = await sharedRedis()
    still = standstill(server.url, asker)
  })
  afterAll(async () => {
    await still.close()
    await server.stop()
  })
  const fresh = () => redis({ call: async (...command) => still.ask(command) }, { namespace: freshNamespace() })

  test('10 runs on Redis alone lose nothing and double nothing', patience, async () => {
    for (let seed = 0; seed < 10; seed++) {
      await expect(simulate({ seed, storage: fresh })).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })

  test('nor do 10 with the queue on Redis beside another storage', patience, async () => {
    for (let seed = 0; seed < 10; seed++) {
      const run = simulate({ seed, storage: () => memory(), queue: () => fresh().queue })
      await expect(run).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })
})
