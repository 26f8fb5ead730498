import type { Options } from 'posthorn'
import type { OpenedPostgres } from 'posthorn/postgres'

import type { CodeOptions } from './read-settings.ts'
import type { Settings } from './settings.ts'

export interface Engine {
  /** Such as `postgres`; empty for memory. */
  readonly names: readonly string[]
  readonly options: Pick<Options, 'storage' | 'queue' | 'inbox' | 'limiter'>
  /** Set where storage is a PostgreSQL that we opened. */
  readonly database: OpenedPostgres | null
}

/** The engines that the settings name. Nothing is connected before something is asked. */
export async function openEngine(settings: Settings, code: CodeOptions = {}): Promise<Engine> {
  const { storage, queue, inbox, limiter } = code
  if (storage !== undefined) {
    const own = { storage, ...(queue && { queue }), ...(inbox && { inbox }), ...(limiter && { limiter }) }
    return { names: [storage.name], options: own, database: null }
  }
  const redis = await redisOf(settings)
  if (settings.databaseUrl === undefined) {
    return redis === null
      ? { names: [], options: {}, database: null }
      : { names: ['redis'], options: { storage: redis }, database: null }
  }
  const database = await openDatabase(settings)
  return {
    names: redis === null ? ['postgres'] : ['postgres', 'redis'],
    options: { storage: database, ...(redis && { queue: redis.queue, inbox: redis.inbox, limiter: redis.limiter }) },
    database,
  }
}

async function redisOf({ redisUrl, redisNamespace }: Settings) {
  if (redisUrl === undefined) return null
  const { openRedis } = await import('posthorn/redis')
  return await openRedis(redisUrl, { namespace: redisNamespace })
}

/** @throws PosthornError when the package `pg` is not installed, as soon as something is asked. */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'databaseSchema' | 'databasePool' | 'databasePrepare'>,
): Promise<OpenedPostgres> {
  const { openPostgres } = await import('posthorn/postgres')
  return openPostgres(settings.databaseUrl ?? '', {
    max: settings.databasePool,
    schema: settings.databaseSchema,
    ...(!settings.databasePrepare && { prepare: false }),
  })
}
