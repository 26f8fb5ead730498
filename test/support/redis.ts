import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { createClient } from '@redis/client'
import { Redis } from 'ioredis'
import { describe } from 'vitest'

import type { RedisClient } from '../../adapters/redis/index.ts'
import { freePort } from './postgres.ts'

const given = process.env['POSTHORN_TEST_REDIS_URL'] ?? ''
const local = spawnSync('redis-server', ['--version']).status === 0

/** A redis-server of a test's own, on a free port, with its files in a temporary folder. */
export interface TestRedis {
  readonly url: string
  /** Ends the server as a power cut would. */
  kill(): Promise<void>
  /** Starts it again on the same port, with the same files. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** `settings` are those of redis.conf, such as `{ appendonly: 'yes' }`. Without any, nothing is written to disk. */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const all = { bind: '127.0.0.1', port: String(port), dir: folder, save: '', ...settings }
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
  let server: ChildProcess | undefined
  const kill = (): void => void server?.kill('SIGKILL')
  const ended = async (): Promise<void> => {
    if (server === undefined) return
    const exit = once(server, 'exit')
    kill()
    await exit
    server = undefined
  }
  const start = async (): Promise<void> => {
    server = spawn('redis-server', args, { stdio: 'ignore' })
    await answering(url)
  }
  process.once('exit', kill)
  await start()
  return {
    url,
    start,
    kill: ended,
    async stop() {
      process.off('exit', kill)
      await ended()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The server that suites share: POSTHORN_TEST_REDIS_URL, else one that this file of tests starts. */
export async function sharedRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  return given === '' ? startRedis() : { url: given, stop: async () => {} }
}

/** Suites that need a Redis; where there is none they are skipped, which is a failure in CI. */
export const describeRedis: typeof describe.skip = redisSuites(given !== '' || local)

/** Suites that stop, fill or flush a server, so they never run on a given one. */
export const describeOwnRedis: typeof describe.skip = redisSuites(local)

function redisSuites(there: boolean): typeof describe.skip {
  if (there) return describe
  const missing = 'no POSTHORN_TEST_REDIS_URL and no redis-server'
  if (process.env['CI'] !== undefined) throw new Error(`There is ${missing}, so suites on Redis cannot run`)
  process.stderr.write(`SKIPPED: there is ${missing}, so suites on Redis do not run\n`)
  return describe.skip
}

/** An open client of each make. It does not wait for a server that is away. */
export interface TestClient {
  readonly client: RedisClient
  command(name: string, ...args: string[]): Promise<unknown>
  close(): void
}
export const clients: readonly { readonly name: string; open(url: string): Promise<TestClient> }[] = [
  {
    name: 'ioredis',
    async open(url) {
      const client = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => 20 })
      client.on('error', () => {})
      return {
        client,
        command: (name, ...args) => client.call(name, ...args),
        close: () => client.disconnect(),
      }
    },
  },
  {
    name: '@redis/client',
    async open(url) {
      const client = createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } })
      client.on('error', () => {})
      await client.connect()
      return {
        client,
        command: (name, ...args) => client.sendCommand([name, ...args]),
        close: () => client.destroy(),
      }
    },
  },
]

let namespaces = 0
/** A namespace that no other test uses. */
export function freshNamespace(): string {
  namespaces++
  return `t${process.pid}-${Date.now()}-${namespaces}`
}

async function answering(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, enableOfflineQueue: false })
  client.on('error', () => {})
  for (let tries = 1; ; tries++) {
    try {
      await client.connect()
      await client.ping() // refused while the data is loading
      return client.disconnect()
    } catch (error) {
      client.disconnect()
      if (tries === 500) throw new Error('redis-server did not start', { cause: error })
      await sleep(10)
    }
  }
}
