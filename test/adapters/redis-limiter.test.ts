import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import { applyRateLimit } from '../../src/core/rate-limit.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

describeRedis.each(clients)('the limiter on Redis through $name', { timeout: 30_000 }, ({ open }) => {
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

  test('it judges as the pure function does, whatever the limits, the wants and the steps of time', async () => {
    const take = fc.record({
      key: fc.constantFrom('a', 'b'),
      quota: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
      period: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
      want: fc.integer({ min: 0, max: 30 }),
    })
    const steps = fc.array(
      fc.record({ step: fc.integer({ min: -50, max: 20_000 }), takes: fc.array(take, { maxLength: 4 }) }),
    )
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const { limiter } = redis(connected.client, { namespace: freshNamespace() })
        const tats = new Map<string, number | null>()
        let now = 1_763_000_000_000
        for (const { step, takes } of steps) {
          now += step
          const expected = takes.map(({ key, want, ...limit }) => {
            const { tat, ...grant } = applyRateLimit(tats.get(key) ?? null, limit, want, now)
            tats.set(key, tat)
            return grant
          })
          const wants = takes.map(({ key, want, quota, period }) => ({ key, want, limit: { quota, period } }))
          expect(await limiter.take(wants, now)).toEqual(expected)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('two thousand keys are asked in one call', async () => {
    const { limiter } = redis(connected.client, { namespace: freshNamespace() })
    const wants = Array.from({ length: 2000 }, (_, i) => ({ key: `k${i}`, limit: { quota: 1, period: 60 }, want: 2 }))
    const grants = await limiter.take(wants, 1_763_000_000_000)
    expect(grants).toHaveLength(2000)
    expect(new Set(grants.map(({ granted }) => granted))).toEqual(new Set([1]))
  })

  test('a key is forgotten once its burst is back', async () => {
    const namespace = freshNamespace()
    const { limiter } = redis(connected.client, { namespace })
    await limiter.take([{ key: 'k', limit: { quota: 1, period: 60 }, want: 1 }], 1_763_000_000_000)
    const ttl = await connected.command('PTTL', `{${namespace}}:limit:k`)
    expect(ttl).toBeGreaterThan(60_000)
    expect(ttl).toBeLessThanOrEqual(120_000)
  })
})
