import { Pool } from 'pg'
import { describe, expect, inject, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Queue } from '../../src/contracts/queue.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { attempt, claimAll, entry, event, made, start } from '../../src/testing/storage/rows.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { freshSchema } from '../support/postgres.ts'
import { clients, describeRedis, freshNamespace, sharedRedis } from '../support/redis.ts'

// A claim of the storage's own queue answers the attempts with the jobs, so that no second call has to load them.

const url = inject('postgresUrl')

/** Stores an event with an attempt in each of these workspaces. */
async function publish(storage: Storage, workspaces: readonly string[], data = '{}'): Promise<void> {
  for (const id of workspaces) {
    const revision = await made(storage, id)
    const given = {
      ...entry(id, revision, event(`e-${id}`, { data }), [attempt(`a-${id}`, `e-${id}`)]),
      trace: 'trace',
    }
    await storage.events.ingest([given], { enqueue: true })
  }
}

/** Whether what claims answer of their attempts is what a load answers. */
async function expectLoaded(storage: Storage, now: number): Promise<void> {
  const claims = await claimAll(storage, now, { loads: true })
  const loaded = await storage.attempts.load(claims.map(({ id }) => id))
  expect(loaded).not.toEqual([])
  expect(claims.map(({ delivery }) => delivery)).toEqual(loaded)
}

/** A claim answers data of 64 KiB and less; the caller loads what is longer. */
async function expectLongOnesLeft(storage: Storage, now: number): Promise<void> {
  const short = JSON.stringify('x'.repeat(65_534))
  await publish(storage, ['short-1', 'short-2'], short)
  await publish(storage, ['long-1', 'long-2'], JSON.stringify('x'.repeat(65_535)))
  const claims = await claimAll(storage, now, { loads: true })
  const dataOf = (name: string) => claims.find(({ id }) => id === `a-${name}`)?.delivery?.event?.data
  expect(['short-1', 'short-2', 'long-1', 'long-2'].map(dataOf)).toEqual([short, short, undefined, undefined])
  expect(claims.filter(({ id }) => id.startsWith('a-long'))).toHaveLength(2)
}

describe.skipIf(url === null)('PostgreSQL', () => {
  test('answers the attempts of a workspace that is alone, and of workspaces in turns, but for long events', async () => {
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schema = freshSchema()
    await migrate(pool, { schema })
    const storage = postgres(pool, { schema, listen: false })
    await publish(storage, ['v'])
    // After a few claims that met a single workspace the next one expects it alone.
    for (let i = 0; i < 8; i++) await expectLoaded(storage, start + i * 60_000)
    await publish(storage, ['w'])
    await expectLoaded(storage, start + 600_000)
    await expectLongOnesLeft(storage, start + 1_200_000)
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
})

describeRedis('Redis', () => {
  test('answers the attempts, but for long events', async () => {
    const server = await sharedRedis()
    const client = await clients[0]!.open(server.url)
    const storage = redis(client.client, { namespace: freshNamespace() })
    await publish(storage, ['v', 'w'])
    await expectLoaded(storage, start)
    await expectLongOnesLeft(storage, start + 600_000)
    await storage.close?.()
    client.close()
    await server.stop()
  })
})

describe('the worker', () => {
  /** Delivers three events with a queue that answers attempts where it is asked to. */
  async function delivered(storage: Storage, queue: Queue) {
    const asked: boolean[] = []
    let loads = 0
    const { attempts } = storage
    const engine: Storage = {
      ...storage,
      attempts: {
        ...attempts,
        load(ids) {
          loads++
          return attempts.load(ids)
        },
      },
    }
    const { takesLeases: _, ...rest } = queue
    const claiming: Queue = {
      ...rest,
      async claim(options) {
        asked.push(options.loads === true)
        const claims = await queue.claim(options)
        if (options.loads !== true) return claims
        const deliveries = await attempts.load(claims.map(({ id }) => id))
        return claims.map((claim) => ({
          ...claim,
          delivery: deliveries.find((each) => each.attempt.id === claim.id) ?? null,
        }))
      },
    }
    const isOwn = queue === storage.queue
    const posthorn = createTestPosthorn({
      storage: isOwn ? { ...engine, queue: claiming } : engine,
      ...(!isOwn && { queue: claiming }),
    })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    for (let n = 0; n < 3; n++) await posthorn.events.create('default', { event_type: 'x', data: { n } })
    await posthorn.drain()
    const bodies = new Set(posthorn.deliveries.map(({ body }) => body))
    expect(bodies).toEqual(new Set(['{"n":0}', '{"n":1}', '{"n":2}']))
    expect(posthorn.deliveries).toHaveLength(3)
    return { asked: new Set(asked), loads }
  }

  test("asks the storage's own queue for the attempts, and loads none that it answers", async () => {
    const storage = memory()
    expect(await delivered(storage, storage.queue)).toEqual({ asked: new Set([true]), loads: 0 })
  })

  test('never asks a queue of another engine, which knows no attempts', async () => {
    const { asked, loads } = await delivered(memory(), memory().queue)
    expect(asked).toEqual(new Set([false]))
    expect(loads).toBeGreaterThan(0)
  })

  test('sends what a claim answered while it loads the rest, and an endpoint gets both in their order', async () => {
    const storage = memory()
    const { attempts, queue } = storage
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const isLarge = (data: string | undefined) => data?.includes('large') === true
    const posthorn = createTestPosthorn({
      storage: {
        ...storage,
        attempts: {
          ...attempts,
          async load(ids) {
            await held
            return await attempts.load(ids)
          },
        },
        queue: {
          ...queue,
          async claim(options) {
            const claims = await queue.claim(options)
            const loaded = await attempts.load(claims.map(({ id }) => id))
            return claims.map((claim) => {
              const delivery = loaded.find((each) => each.attempt.id === claim.id) ?? null
              return isLarge(delivery?.event?.data) ? claim : { ...claim, delivery }
            })
          },
        },
      },
    })
    for (const id of ['a', 'b']) {
      await posthorn.workspaces.create({ id })
      await posthorn.endpoints.create(id, { request: { url: `https://${id}.test/` }, events: ['*'] })
    }
    for (const [id, name] of ['a large', 'b first', 'a small', 'b second'].map(
      (each) => each.split(' ') as [string, string],
    )) {
      await posthorn.events.create(id, { event_type: 'x', data: { name } })
    }
    const sent = () => posthorn.deliveries.map(({ body }) => body)
    const drained = posthorn.drain()
    await vi.waitFor(() => expect(sent()).toEqual(['{"name":"first"}', '{"name":"second"}']))
    release()
    await drained
    expect(sent().slice(2)).toEqual(['{"name":"large"}', '{"name":"small"}'])
  })
})
