import { PosthornError } from '../../src/errors.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { PgListener, PgPool, PostgresClient } from './clients.ts'
import { type PostgresOptions, postgres } from './storage.ts'
import { migrate, type MigrateOptions } from './migrate.ts'
import { pgPool } from './pg.ts'

export interface OpenPostgresOptions extends PostgresOptions {
  /** The most connections. Default 10. */
  readonly max?: number
  /** What the server shows as the name of the process. Default `posthorn`. */
  readonly applicationName?: string
}

type Parts = 'queue' | 'inbox' | 'limiter' | 'using' | 'verify' | 'advice'

/** A storage with the pool that it opened. */
export interface OpenedPostgres extends Omit<Storage, Parts>, Required<Pick<Storage, Parts>> {
  /** The same as the function `migrate`, for this database and schema. */
  migrate(options?: Omit<MigrateOptions, 'schema'>): Promise<void>
  /** A `pg` client for a transaction of yours. Call `release()` on it afterwards. */
  connect(): Promise<PgListener>
}

const connectMs = 5_000
const keepAliveMs = 10_000
/** The server ends a statement that Posthorn gave up, also where nobody can ask it to. */
const statementMs = 30_000

type OwnPool = PgPool & {
  connect(): Promise<PgListener>
  end(): Promise<void>
  on(event: 'connect', listener: (client: PgListener) => void): unknown
  on(event: 'error', listener: () => void): unknown
}

/**
 * A storage on PostgreSQL that opens its own pool, for hosts without a pool. The package `pg` must be installed. The
 * pool gives up an attempt to connect after 5 s and keeps connections alive; the server ends statements after 30 s, and
 * statements of a process that is gone after 10 s (PostgreSQL 14). Nothing is opened before it is used; `stop()` closes
 * the pool, and what is asked afterwards opens another connection.
 *
 * Behind a pooler pass `prepare: false`: then no setting of a session is made.
 *
 * @example const posthorn = createPosthorn({ storage: openPostgres(process.env.DATABASE_URL, { max: 10 }) })
 */
export function openPostgres(
  url: string,
  { max = 10, applicationName = 'posthorn', ...options }: OpenPostgresOptions = {},
): OpenedPostgres {
  let opened: Promise<OwnPool> | null = null
  const isPooled = options.prepare === false
  const pool = (): Promise<OwnPool> => (opened ??= poolOf({ url, max, applicationName, limited: !isPooled }))
  const stop = async (): Promise<void> => {
    const old = opened
    opened = null
    await (await old)?.end()
  }
  const client: PostgresClient = {
    query: async (...asked) => await pgPool(await pool()).query(...asked),
    ...(max > 1 && {
      listen: async (...asked) => await pgPool(await pool()).listen!(...asked), // set, since `max` is above 1
    }),
  }
  const storage: Storage & ReturnType<typeof postgres> = postgres(client, options)
  return {
    ...storage,
    async migrate(asked = {}) {
      // What a step does takes as long as it takes.
      const own = await poolOf({ url, max: 1, applicationName, limited: false })
      try {
        await migrate(own, { ...asked, ...(options.schema !== undefined && { schema: options.schema }) })
      } finally {
        await own.end()
      }
    },
    connect: async () => await (await pool()).connect(),
    stats: async () => (opened === null ? { total: 0, active: 0 } : pgPool(await opened).stats!()), // a pool has it
    close: async () => {
      await storage.close()
      await stop()
    },
    stopped: stop,
  }
}

async function poolOf(settings: {
  url: string
  max: number
  applicationName: string
  limited: boolean
}): Promise<OwnPool> {
  const { url, max, applicationName, limited } = settings
  const Pool = await poolClass()
  const pool = new Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    ...(limited && { statement_timeout: statementMs, onConnect: watchTheLine }),
  })
  // The statement that wants a lost connection reports the loss, whether the pool or the host had the connection.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Has the backend end its statement when the client is gone. PostgreSQL before 14 has no such setting. */
async function watchTheLine(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query(`
    select set_config(name, '10s', false) from pg_settings where name = 'client_connection_check_interval'`)
}

async function poolClass(): Promise<new (config: object) => OwnPool> {
  // Bundlers shall not look for it: most hosts bring a pool of their own.
  const name = 'pg'
  try {
    const found = (await import(name)) as { default: { Pool: new (config: object) => OwnPool } } // as pg exports it
    return found.default.Pool
  } catch (cause) {
    throw new PosthornError('unavailable', 'openPostgres needs the package pg: npm i pg', { cause })
  }
}
