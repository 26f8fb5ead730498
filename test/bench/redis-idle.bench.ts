import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { redis, type RedisClient } from '../../adapters/redis/index.ts'
import type { Options } from '../../src/exports.ts'
import { clients, startRedis } from '../support/redis.ts'

// What an instance that has nothing to do asks of Redis: commands of its connections as MONITOR shows them, without those
// that scripts call inside the server.

const settleMs = 25_000
const countMs = 60_000
const maxPerSecond = 1

type Engine = (client: RedisClient) => Options

const alone: Engine = (client) => ({ storage: redis(client) })
const beside: Engine = (client) => {
  const { queue, inbox, limiter } = redis(client)
  return { storage: memory(), queue, inbox, limiter }
}

/** Commands by name, of one minute. */
async function counted(make: (typeof clients)[number], engine: Engine): Promise<Map<string, number>> {
  const server = await startRedis()
  const { client, close } = await make.open(server.url)
  const posthorn = createPosthorn(engine(client))
  await posthorn.endpoints.create('default', { request: { url: 'https://example.com/' }, events: ['*'] })
  await posthorn.start()
  await sleep(settleMs)
  const watcher = new Redis(server.url)
  const monitor = await watcher.monitor()
  const counts = new Map<string, number>()
  monitor.on('monitor', (_time: string, [name]: string[], source: string) => {
    if (source !== 'lua') counts.set(name!.toUpperCase(), (counts.get(name!.toUpperCase()) ?? 0) + 1)
  })
  await sleep(countMs)
  monitor.disconnect()
  watcher.disconnect()
  await posthorn.stop()
  close()
  await server.stop()
  return counts
}

const rows = clients.flatMap((make) => [
  { name: `${make.name}, redis alone`, counts: counted(make, alone) },
  { name: `${make.name}, redis beside another storage`, counts: counted(make, beside) },
])
console.log(`Commands of an idle instance to Redis in ${countMs / 1000} s`)
for (const { name, counts } of rows) {
  const all = [...(await counts)]
  const perSecond = all.reduce((sum, [, count]) => sum + count, 0) / (countMs / 1000)
  const names = all.map(([command, count]) => `${command} ${count}`).join(', ')
  console.log(`${name.padEnd(46)} ${perSecond.toFixed(2)}/s   (${names})`)
  if (perSecond > maxPerSecond) process.exitCode = 1
}
