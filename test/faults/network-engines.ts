import { createClient } from '@redis/client'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import postgresJs from 'postgres'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { freshSchema, ownPostgres } from '../support/postgres.ts'
import { freshNamespace, startRedis } from '../support/redis.ts'

/** Connections that a pool may have. */
export const poolSize = 10

/** An engine behind a network, through one make of client with settings as the README shows them. */
export interface Reached {
  readonly storage: Storage
  /** Connections that the server has for this trial, as the server tells; null where nothing bounds them. */
  backends(): number | null
  close(): Promise<void>
}

export interface Engine {
  readonly name: string
  /** How soon after the network is good again an event published then is to be delivered, milliseconds. */
  readonly recoversWithinMs: number
  /** The url of the server itself. */
  readonly url: string
  open(url: string): Promise<Reached>
}

/** Servers of our own, and the clients that are tried on them. */
export async function engines(): Promise<{ readonly all: readonly Engine[]; stop(): Promise<void> }> {
  const database = await ownPostgres()
  if (database === null) throw new Error('PostgreSQL is not installed here')
  const server = await startRedis()
  const operator = new Pool({ connectionString: database.url, max: 1 })
  const backends = new Map<string, number>()
  const counting = setInterval(() => {
    const text = 'select application_name as name, count(*)::int as count from pg_stat_activity group by 1'
    operator.query<{ name: string; count: number }>(text).then(
      ({ rows }) => rows.forEach(({ name, count }) => backends.set(name, Math.max(count, backends.get(name) ?? 0))),
      (error: unknown) => console.error(error),
    )
  }, 500)

  const onPostgres = (name: string, make: (url: string, schema: string) => PostgresMake): Engine => ({
    name,
    recoversWithinMs: 10_000,
    url: database.url,
    async open(url) {
      const schema = freshSchema()
      await migrate(operator, { schema })
      const { handle, close } = make(url, schema)
      return { storage: postgres(handle, { schema }), backends: () => backends.get(schema) ?? 0, close }
    },
  })
  const onRedis = (name: string, make: (url: string) => Promise<RedisMake>): Engine => ({
    name,
    recoversWithinMs: 15_000,
    url: server.url,
    async open(url) {
      const { client, close } = await make(url)
      const storage = redis(client, { namespace: freshNamespace() })
      return {
        storage,
        backends: () => null,
        async close() {
          await storage.close()
          close()
        },
      }
    },
  })

  return {
    all: [
      onPostgres('pg', pgPool),
      onPostgres('postgres.js', postgresPool),
      onRedis('ioredis', ioRedis),
      onRedis('node-redis', nodeRedis),
    ],
    async stop() {
      clearInterval(counting)
      await operator.end()
      await server.stop()
      await database.stop()
    },
  }
}

interface PostgresMake {
  readonly handle: Parameters<typeof postgres>[0]
  close(): Promise<void>
}
interface RedisMake {
  readonly client: Parameters<typeof redis>[0]
  close(): void
}

function pgPool(url: string, schema: string): PostgresMake {
  const pool = new Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    application_name: schema,
  })
  pool.on('error', () => {})
  // A pool waits for connections that never end.
  return { handle: pool, close: () => Promise.race([pool.end(), new Promise<void>((done) => setTimeout(done, 1000))]) }
}

function postgresPool(url: string, schema: string): PostgresMake {
  const sql = postgresJs(url, {
    max: poolSize,
    connect_timeout: 5,
    backoff: () => 1,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: schema },
  })
  return { handle: sql, close: () => sql.end({ timeout: 1 }) }
}

async function ioRedis(url: string): Promise<RedisMake> {
  const client = new Redis(url)
  client.on('error', () => {})
  return { client, close: () => client.disconnect() }
}

async function nodeRedis(url: string): Promise<RedisMake> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.destroy() }
}
