import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { openRedis } from '../../adapters/redis/index.ts'
import { PosthornError } from '../../src/errors.ts'
import { clients, describeOwnRedis, freshNamespace, startRedis, type TestRedis } from '../support/redis.ts'

const packages = ['@redis/client', 'redis', 'ioredis']

/** As if none but these clients were installed. */
async function withClients(...installed: readonly string[]): Promise<typeof openRedis> {
  vi.resetModules()
  for (const name of packages) {
    if (installed.includes(name)) vi.doUnmock(name)
    else
      vi.doMock(name, () => {
        throw new Error(`Cannot find package '${name}'`)
      })
  }
  return (await import('../../adapters/redis/index.ts')).openRedis
}

afterEach(() => {
  for (const name of packages) vi.doUnmock(name)
})

test('without a client it says what to install', async () => {
  const open = await withClients()
  await expect(open('redis://127.0.0.1:1')).rejects.toMatchObject({
    name: 'PosthornError',
    message: 'openRedis needs a client of Redis: npm install @redis/client',
  })
})

test.for(['127.0.0.1:6379', 'http://:secret@localhost', ''])(
  '%j is no url of Redis, and is not repeated',
  async (url) => {
    const refusal = await openRedis(url).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'validation',
      message: 'openRedis: url must begin with redis:// or rediss://',
    })
    expect(refusal).toBeInstanceOf(PosthornError)
  },
)

describeOwnRedis.each(['@redis/client', 'ioredis'])('openRedis with %s installed', (name) => {
  let server: TestRedis
  let operator: Awaited<ReturnType<(typeof clients)[0]['open']>>
  beforeAll(async () => {
    server = await startRedis()
    operator = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    operator.close()
    await server.stop()
  })
  const connections = async () =>
    String(await operator.command('CLIENT', 'LIST'))
      .trim()
      .split('\n').length - 1

  test('opens connections when it is asked, closes them with stop, and opens them again', async () => {
    const open = await withClients(name)
    const posthorn = createPosthorn({ storage: await open(server.url, { namespace: freshNamespace() }) })
    expect(await connections()).toBe(0)
    for (let round = 0; round < 2; round++) {
      await posthorn.start()
      expect((await posthorn.health()).status).toBe('UP')
      expect(await connections()).toBe(2)
      await posthorn.stop()
      await expect.poll(connections).toBe(0)
    }
    expect((await posthorn.health()).status).toBe('UP')
    await posthorn.stop()
    await posthorn.stop()
    await expect.poll(connections).toBe(0)
  })

  test('as a queue beside another storage it is closed with stop too', async () => {
    const open = await withClients(name)
    const { queue, inbox, limiter } = await open(server.url, { namespace: freshNamespace() })
    const posthorn = createPosthorn({ queue, inbox, limiter })
    await posthorn.start()
    await expect.poll(connections).toBe(2)
    await posthorn.stop()
    await expect.poll(connections).toBe(0)
  })

  test('a server that went away and came back is found within two seconds', async () => {
    const open = await withClients(name)
    const storage = await open(server.url, { namespace: freshNamespace() })
    await storage.ping()
    await server.kill()
    await expect(storage.ping()).rejects.toMatchObject({ code: 'unavailable' })
    await server.start()
    const began = Date.now()
    await expect.poll(() => storage.ping().then(() => 'up', String), { timeout: 5000, interval: 50 }).toBe('up')
    expect(Date.now() - began).toBeLessThan(2000)
    await storage.close()
  })
})
