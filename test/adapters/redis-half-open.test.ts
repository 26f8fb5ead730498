import { setTimeout as sleep } from 'node:timers/promises'

import { createClient } from '@redis/client'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, test, type TestContext } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { redis, type RedisClient } from '../../adapters/redis/index.ts'
import { proxyTo } from '../faults/proxy.ts'
import { clients, describeOwnRedis, freshNamespace, startRedis, type TestRedis } from '../support/redis.ts'

// The connections here are half-open: the server is there, and nothing comes of what is sent on them.

/** Clients as hosts make them, without any setting. */
const makes = [
  {
    name: 'ioredis',
    async open(url: string): Promise<{ client: RedisClient; close(): void }> {
      const client = new Redis(url)
      client.on('error', () => {})
      return { client, close: () => client.disconnect() }
    },
  },
  {
    name: '@redis/client',
    async open(url: string): Promise<{ client: RedisClient; close(): void }> {
      const client = createClient({ url })
      client.on('error', () => {})
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  },
] as const

const unavailable = { code: 'unavailable' }
const slow = { timeout: 30_000 }

describeOwnRedis.concurrent('a half-open connection to Redis', slow, () => {
  let server: TestRedis
  beforeAll(async () => void (server = await startRedis()))
  afterAll(() => server.stop())

  async function behindProxy({ open }: (typeof makes)[number], onTestFinished: TestContext['onTestFinished']) {
    const proxy = await proxyTo(server.url)
    const { client, close } = await open(proxy.url)
    const storage = redis(client, { namespace: freshNamespace() })
    onTestFinished(async () => {
      await storage.close()
      close()
      proxy.close()
    })
    await storage.ping()
    return { proxy, client, storage, close }
  }

  test.for(makes)(
    'of $name is replaced after 5 s, and what waited for it is sent',
    async (make, { expect, onTestFinished }) => {
      const { proxy, storage, close } = await behindProxy(make, onTestFinished)
      proxy.drop()
      const first = expect(storage.ping()).rejects.toMatchObject(unavailable)
      await sleep(3000)
      const began = Date.now()
      await storage.stats()
      const second = storage.ping().catch(() => storage.ping())
      await first
      await second
      expect(Date.now() - began).toBeLessThan(6000)
      expect((await storage.stats()).total).toBe(2)
      await storage.stopped!()
      await expect.poll(() => proxy.open(), { timeout: 2000 }).toBe(1)
      close()
    },
  )

  test.for(makes)(
    'of $name recovers while new connections are silent too, and goes back to the client',
    async (make, { expect, onTestFinished }) => {
      const { proxy, storage } = await behindProxy(make, onTestFinished)
      proxy.weather('silent')
      const began = Date.now()
      await expect(storage.ping()).rejects.toMatchObject(unavailable)
      await expect(storage.ping()).rejects.toMatchObject(unavailable)
      proxy.weather('good')
      const good = Date.now()
      await expect.poll(() => isUp(storage), { timeout: 15_000 }).toBe(true)
      expect(Date.now() - good).toBeLessThan(5000)
      expect(good - began).toBeGreaterThan(9000)
      // Now the client's own connection is reset, and the client connects again.
      proxy.reset()
      await expect.poll(() => isUp(storage), { timeout: 5000 }).toBe(true)
      await expect.poll(async () => (await storage.stats()).total, { timeout: 10_000 }).toBe(1)
      await storage.ping()
      await expect.poll(() => proxy.open(), { timeout: 7000 }).toBe(1)
    },
  )

  test.for(makes)(
    'of $name that only stalled goes on, and nothing else is left open',
    async (make, { expect, onTestFinished }) => {
      const { proxy, storage } = await behindProxy(make, onTestFinished)
      proxy.weather('stalled')
      await expect(storage.ping()).rejects.toMatchObject(unavailable)
      proxy.weather('good')
      await expect.poll(() => isUp(storage), { timeout: 5000 }).toBe(true)
      await expect.poll(() => proxy.open(), { timeout: 10_000 }).toBe(1)
    },
  )

  test.for(makes)(
    'on which $name listens is found by health within 5 s, and replaced',
    async (make, { expect, onTestFinished }) => {
      const proxy = await proxyTo(server.url)
      const main = await clients[0]!.open(server.url)
      const listening = await make.open(proxy.url)
      const { client } = listening
      // Commands go past the proxy: only the connection that listens is silent.
      const storage = redis(
        { call: main.command, duplicate: () => duplicateOf(client) },
        { namespace: freshNamespace() },
      )
      const posthorn = createPosthorn({ storage, logger: silent })
      onTestFinished(async () => {
        await posthorn.stop()
        listening.close()
        main.close()
        proxy.close()
      })
      const heard: unknown[] = []
      await posthorn.start()
      await storage.onChanged!((change) => heard.push(change))
      const up = { status: 'UP', components: { storage: { status: 'UP' }, queue: { status: 'UP' } } }
      expect(await posthorn.health()).toEqual(up)
      await sleep(1100) // an answer is good for a second
      proxy.weather('silent')
      const began = Date.now()
      const part = { status: 'UP', listening: false }
      await expect
        .poll(() => posthorn.health(), slow)
        .toEqual({ status: 'UP', components: { storage: part, queue: part } })
      expect(Date.now() - began).toBeLessThan(5000)
      proxy.weather('good')
      await expect.poll(() => posthorn.health(), slow).toEqual(up)
      expect(Date.now() - began).toBeLessThan(15_000)
      expect(heard).toContain('everything')
    },
  )

  test('of a client that cannot be duplicated is warned of by start', async ({ expect }) => {
    const { command, close } = await clients[0]!.open(server.url)
    const told: string[] = []
    const posthorn = createPosthorn({
      storage: redis({ call: command }, { namespace: freshNamespace() }),
      logger: { ...silent, warn: (message) => void told.push(message) },
    })
    await posthorn.start()
    await posthorn.stop()
    close()
    expect(told).toEqual([expect.stringContaining('duplicate()')])
  })
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }

function isUp(storage: { ping(): Promise<void> }): Promise<boolean> {
  return storage.ping().then(
    () => true,
    () => false,
  )
}

/** A duplicate of either make, as one of ioredis looks. */
function duplicateOf(client: RedisClient) {
  if ('call' in client) return client.duplicate!()
  const line = client.duplicate()
  let tell = (_channel: string, _message: string): void => {}
  line.on('error', () => {})
  void line.connect().catch(() => {})
  return {
    call: (command: string, ...args: string[]) => line.sendCommand([command, ...args]),
    on(event: string, listener: (channel: string, message: string) => void) {
      if (event === 'message') tell = listener
    },
    subscribe: (channel: string) => line.subscribe(channel, (message) => tell(channel, message)),
    disconnect: () => line.destroy(),
  }
}
