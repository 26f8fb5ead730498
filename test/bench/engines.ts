import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { Pool } from 'pg'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { DeliverOptions, Options, Posthorn } from '../../src/exports.ts'

export const engines = ['memory', 'postgres', 'redis', 'postgres + redis'] as const
export type Engine = (typeof engines)[number]

export interface Opened {
  readonly posthorn: Posthorn
  /**
   * Leaves the engine as one that has run for long. PostgreSQL: what it holds is written, and log files are there to be used again. A new one
   * makes a file for each 16 MiB of its log, and the system writes after 30 s what was stored: commits wait up to 250 ms for either.
   * Redis: its log is written anew, which a new one does when the log has 64 MiB, in a process that needs a core for seconds.
   */
  checkpoint(): Promise<void>
  /** Lets go of the engine; `posthorn` is to be stopped before. */
  close(): Promise<void>
}

/** Where an engine is, and what keeps apart those who share it. */
export interface Place {
  readonly postgres: string
  readonly redis: string
  readonly schema: string
}

export function freshPlace(servers: { readonly postgres: string; readonly redis: string }): Place {
  return { ...servers, schema: `bench_${randomUUID().replaceAll('-', '')}` }
}

interface OpenedStorage extends Pick<Opened, 'checkpoint' | 'close'> {
  readonly options: Options & { readonly storage: Storage }
}

/** What an instance keeps its data in, on an engine. */
export async function openStorage(engine: Engine, place: Place): Promise<OpenedStorage> {
  const closing: (() => Promise<unknown>)[] = []
  const checkpoints: (() => Promise<unknown>)[] = []
  let storage: Options = {}
  if (engine === 'memory') storage = { storage: memory() }
  if (engine.includes('redis')) {
    const client = new Redis(place.redis)
    const store = redis(client, { namespace: place.schema })
    storage =
      engine === 'redis' ? { storage: store } : { queue: store.queue, inbox: store.inbox, limiter: store.limiter }
    checkpoints.push(() => logWrittenAnew(client))
    closing.push(async () => {
      await store.close()
      client.disconnect()
    })
  }
  if (engine.includes('postgres')) {
    const pool = new Pool({ connectionString: place.postgres, max: 20, connectionTimeoutMillis: 5000, keepAlive: true })
    pool.on('error', () => {})
    await migrate(pool, { schema: place.schema })
    const store = postgres(pool, { schema: place.schema })
    storage = { ...storage, storage: store }
    closing.unshift(
      () => store.close(),
      () => pool.end(),
    )
    checkpoints.push(() => pool.query('checkpoint'))
  }
  return {
    async checkpoint() {
      for (const checkpoint of checkpoints) await checkpoint()
    },
    options: { ...storage, storage: storage.storage! }, // each engine has one
    async close() {
      for (const close of closing) await close()
    },
  }
}

async function logWrittenAnew(client: Redis): Promise<void> {
  const isAtWork = async (): Promise<boolean> =>
    /aof_rewrite_(in_progress|scheduled):1/.test(await client.info('persistence'))
  while (await isAtWork()) await sleep(50) // it writes one at a time
  await client.bgrewriteaof()
  do await sleep(50)
  while (await isAtWork())
}

/** An instance on an engine, as a host would make it; `settled` is told how many attempts the storage has recorded. */
export async function openPosthorn(
  engine: Engine,
  place: Place,
  {
    deliver = {},
    settled = () => {},
    counts = true,
    secrets,
  }: {
    deliver?: DeliverOptions
    settled?: (count: number) => void
    counts?: boolean
    secrets?: NonNullable<Options['secrets']>
  } = {},
): Promise<Opened> {
  const { options, checkpoint, close } = await openStorage(engine, place)
  const posthorn = createPosthorn({
    ...options,
    storage: watched(counts ? options.storage : uncounted(options.storage), settled),
    deliver: { allow: ['127.0.0.1'], ...deliver },
    ...(secrets && { secrets }),
  })
  return { posthorn, checkpoint, close }
}

/** A storage that counts no outcome: there is no such option, since statistics are always there. */
function uncounted(storage: Storage): Storage {
  const { attempts } = storage
  return {
    ...storage,
    attempts: {
      ...attempts,
      settle: (settlements, options) =>
        attempts.settle(
          settlements.map((settlement) => ({ ...settlement, counted: null })),
          options,
        ),
    },
  }
}

function watched(storage: Storage, settled: (count: number) => void): Storage {
  const { attempts } = storage
  return {
    ...storage,
    attempts: {
      ...attempts,
      async settle(settlements, options) {
        const answers = await attempts.settle(settlements, options)
        settled(answers.filter((answer) => answer.settled).length)
        return answers
      },
    },
  }
}
