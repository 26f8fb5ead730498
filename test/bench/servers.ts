import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import { freePort, startPostgres } from '../support/postgres.ts'

/** The servers of a bench, which all contenders share. */
export interface Servers {
  readonly postgres: string
  readonly redis: string
  /** Empties both. */
  clean(): Promise<void>
  stop(): Promise<void>
}

/**
 * A PostgreSQL as it is installed, durable at every commit, with room for connections;
 * a Redis that appends to its log and syncs that each second, as BullMQ's documentation asks of production.
 */
export async function startServers(): Promise<Servers> {
  const postgres = await startPostgres({ max_connections: '200', shared_buffers: '256MB', max_wal_size: '4GB' })
  if (postgres.url === null) throw new Error('There is no PostgreSQL to bench on')
  const redis = await startRedis()
  return {
    postgres: postgres.url,
    redis: redis.url,
    async clean() {
      const client = new Redis(redis.url)
      await client.flushall()
      client.disconnect()
    },
    async stop() {
      await redis.stop()
      await postgres.stop()
    },
  }
}

async function startRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-redis-'))
  const port = await freePort()
  const settings = { bind: '127.0.0.1', port, dir: folder, save: '', appendonly: 'yes', appendfsync: 'everysec' }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = spawn('redis-server', args, { stdio: 'ignore' })
  const kill = (): void => void server.kill('SIGKILL')
  process.once('exit', kill)
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { retryStrategy: () => 20 })
  client.on('error', () => {})
  while ((await client.ping().catch(() => '')) !== 'PONG') await sleep(20)
  client.disconnect()
  return {
    url,
    async stop() {
      process.off('exit', kill)
      kill()
      await once(server, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
