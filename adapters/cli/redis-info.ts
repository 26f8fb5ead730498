import { setTimeout as sleep } from 'node:timers/promises'

import { Failure } from './failure.ts'

const answerMs = 5_000

/**
 * What a Redis says of itself, such as `aof_enabled` and `maxmemory_policy`.
 * @throws Failure when it does not answer within five seconds, or no client is installed.
 */
export async function redisInfo(url: string): Promise<Readonly<Record<string, string>>> {
  const { info, close } = await lineTo(url)
  try {
    const late = sleep(answerMs, null, { ref: false }).then(() => {
      throw new Failure('Redis does not answer')
    })
    const text = await Promise.race([info(), late])
    return Object.fromEntries(
      text.split(/\r?\n/).flatMap((line) => {
        const [, name, value] = /^([a-z_0-9]+):(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, value!]]
      }),
    )
  } finally {
    close()
  }
}

interface Line {
  info(): Promise<string>
  close(): void
}

/** A connection through whichever client is installed, in the order in which `openRedis` looks. */
async function lineTo(url: string): Promise<Line> {
  type NodeRedis = typeof import('@redis/client')
  for (const name of ['@redis/client', 'redis']) {
    const found = await installed<NodeRedis>(name)
    if (found === null) continue
    const client = found.createClient({ url, socket: { reconnectStrategy: false } })
    client.on('error', () => {}) // the caller that waits gets the error
    return {
      info: async () => await (await client.connect()).sendCommand<string>(['INFO']),
      close: () => client.destroy(),
    }
  }
  const found = await installed<typeof import('ioredis')>('ioredis')
  if (found === null) throw new Failure('Redis needs a client: npm i @redis/client')
  const client = new found.Redis(url, { lazyConnect: true, retryStrategy: null })
  client.on('error', () => {})
  return { info: async () => await client.info(), close: () => client.disconnect() }
}

async function installed<Module>(name: string): Promise<Module | null> {
  try {
    return (await import(name)) as Module
  } catch {
    return null
  }
}
