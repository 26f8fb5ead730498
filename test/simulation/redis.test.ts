import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { redis, type RedisClient } from '../../adapters/redis/index.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { describeRedis, freshNamespace, sharedRedis } from '../support/redis.ts'

/**
 * A client that has its answer before `call` returns: another thread asks, and this one stands still meanwhile. So no
 * virtual time passes while a command is under way.
 */
function standstill(url: string): { readonly client: RedisClient; close(): Promise<number> } {
  const { port1: here, port2: there } = new MessageChannel()
  const answered = new Int32Array(new SharedArrayBuffer(4))
  const asker = `
    const { answered, there, url } = require('node:worker_threads').workerData
    const redis = new (require('ioredis').Redis)(url)
    there.on('message', async (command) => {
      there.postMessage(await redis.call(...command).then((answer) => ({ answer }), ({ message }) => ({ message })))
      Atomics.store(answered, 0, 1)
      Atomics.notify(answered, 0)
    })`
  const worker = new Worker(asker, { eval: true, workerData: { answered, there, url }, transferList: [there] })
  const call = async (...command: string[]): Promise<unknown> => {
    Atomics.store(answered, 0, 0)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
    here.postMessage(command)
    // The notification of the answer before may come late, and wakes too early.
    while (Atomics.load(answered, 0) === 0) {
      if (Atomics.wait(answered, 0, 0, 10_000) === 'timed-out') throw new Error(`no answer to ${command[0]}`)
    }
    const { answer, message } = receiveMessageOnPort(here)!.message as { answer?: unknown; message?: string }
    if (message !== undefined) throw new Error(message)
    return answer
  }
  return { client: { call }, close: () => worker.terminate() }
}

describeRedis('simulations on Redis', () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let still: ReturnType<typeof standstill>
  beforeAll(async () => {
    server = await sharedRedis()
    still = standstill(server.url)
  })
  afterAll(async () => {
    await still.close()
    await server.stop()
  })
  const fresh = () => redis(still.client, { namespace: freshNamespace() })

  test('10 runs on Redis alone lose nothing and double nothing', { timeout: 120_000 }, async () => {
    for (let seed = 0; seed < 10; seed++) {
      await expect(simulate({ seed, storage: fresh })).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })

  test('nor do 10 with the queue on Redis beside another storage', { timeout: 120_000 }, async () => {
    for (let seed = 0; seed < 10; seed++) {
      const run = simulate({ seed, storage: () => memory(), queue: () => fresh().queue })
      await expect(run).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })
})
