import type { Value } from './sql.ts'

export type Row = Readonly<Record<string, unknown>>

export interface QueryOptions {
  /** Prepare the statement under this name, which stands for this text alone. Missing: do not prepare. */
  readonly name?: string
  /** Give the statement up after this time. */
  readonly timeoutMs?: number
}

/**
 * All that is asked of a driver. A wrapper for one that is not known here takes a few lines; `$1` marks parameters, and
 * an array stands for a `text[]`.
 */
export interface PostgresClient {
  query(text: string, values: Value[], options?: QueryOptions): Promise<{ rows: Row[] }>
  /**
   * Hears notifications on a connection of its own. A lost one is made again, then `regained` is called.
   * Answers how to stop.
   */
  listen?(channel: string, heard: (payload: string) => void, regained: () => void): Promise<() => Promise<void>>
  /** Connections of the pool, all and busy. */
  stats?(): { total: number; active: number }
}

/** The part of a `pg` Client that is used. */
export interface PgClient {
  query(query: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  escapeIdentifier(text: string): string
}
/** The part of a `pg` Pool that is used. Attach an `error` listener to yours: without one, a lost connection ends the process. */
export interface PgPool {
  query(query: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<PgListener>
  readonly totalCount: number
  readonly idleCount: number
}
export interface PgListener {
  query(query: string): Promise<unknown>
  on(event: string, listener: (...args: never[]) => void): unknown
  removeListener(event: string, listener: (...args: never[]) => void): unknown
  release(destroy?: boolean): void
}
/** The part of a postgres.js instance, or of its transaction, that is used. */
export interface PostgresJs {
  unsafe(query: string, parameters?: never[], options?: { prepare?: boolean }): PromiseLike<unknown[]>
  listen?(
    channel: string,
    heard: (payload: string) => void,
    onlisten?: () => void,
  ): Promise<{ unlisten(): Promise<void> }>
}
/** The part of PGlite, or of its transaction, that is used. */
export interface Pglite {
  query(query: string, params?: unknown[], options?: object): Promise<{ rows: unknown[] }>
  listen?(channel: string, heard: (payload: string) => void): Promise<unknown>
}

/** What `postgres()` and `using()` take: a `pg` Pool or Client, a postgres.js instance or transaction, PGlite, or a wrapper. */
export type PostgresHandle = PostgresClient | PgPool | PgClient | PostgresJs | Pglite

/** The client behind a handle, told by what it can do. */
export function clientOf(handle: PostgresHandle): PostgresClient {
  if ('unsafe' in handle) return postgresJs(handle)
  if ('totalCount' in handle) return pgPool(handle)
  if ('escapeIdentifier' in handle) return pgClient(handle)
  if ('execProtocol' in handle) return pglite(handle as Pglite) // only PGlite has it
  return handle as PostgresClient // what is left has `query`, as a wrapper has
}

/** pg takes the name and the time with the text, which its typed overloads hide. */
function pgClient(client: PgClient | PgPool): PostgresClient {
  const query = client.query.bind(client) as unknown as (config: object) => Promise<{ rows: Row[] }>
  return {
    query: (text, values, { name, timeoutMs } = {}) => query({ text, values, name, query_timeout: timeoutMs }),
  }
}

function pgPool(pool: PgPool): PostgresClient {
  const max = (pool as { options?: { max?: number } }).options?.max ?? Infinity
  return {
    ...pgClient(pool),
    stats: () => ({ total: pool.totalCount, active: pool.totalCount - pool.idleCount }),
    // A pool of one connection has none to spare for listening.
    ...(max > 1 && { listen: (channel, heard, regained) => pgListen(pool, channel, heard, regained) }),
  }
}

const pauseMs = 1000

/** Listens on one connection of the pool, and takes another when that is lost. */
async function pgListen(
  pool: PgPool,
  channel: string,
  heard: (payload: string) => void,
  regained: () => void,
): Promise<() => Promise<void>> {
  let stopped = false
  let hangUp: () => void = () => {}

  const open = async (): Promise<void> => {
    const client = await pool.connect()
    const onNotification = (message: { channel: string; payload?: string }) => {
      if (message.channel === channel) heard(message.payload ?? '')
    }
    const end = (): void => {
      client.removeListener('notification', onNotification)
      client.removeListener('end', onLost)
      client.release(true)
    }
    const onLost = (): void => {
      end()
      if (!stopped) again()
    }
    client.on('notification', onNotification)
    // Every loss ends with `end`; without a listener for `error` it would end the process too.
    client.on('error', () => {})
    client.on('end', onLost)
    hangUp = end
    try {
      await client.query(`listen ${quoted(channel)}`)
    } catch (error) {
      end()
      throw error
    }
    if (stopped) end()
  }
  const again = (): void => {
    hangUp = () => clearTimeout(timer)
    const timer = setTimeout(() => void open().then(regained, () => stopped || again()), pauseMs)
  }

  await open()
  return async () => {
    if (stopped) return
    stopped = true
    hangUp()
  }
}

function postgresJs(instance: PostgresJs): PostgresClient {
  return {
    async query(text, values, { name, timeoutMs } = {}) {
      const pending = instance.unsafe(text, values as never[], { prepare: name !== undefined })
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => cancel(pending), timeoutMs)
      try {
        return { rows: (await pending) as Row[] } // objects, as rows are unless asked otherwise
      } finally {
        clearTimeout(timer)
      }
    },
    ...(typeof instance.listen === 'function' && {
      listen: async (channel, heard, regained) => {
        let listening = false
        const request = await instance.listen!(channel, heard, () => {
          if (listening) regained()
          listening = true
        })
        return () => request.unlisten()
      },
    }),
  }
}

function cancel(pending: unknown): void {
  if (typeof pending === 'object' && pending !== null && 'cancel' in pending && typeof pending.cancel === 'function') {
    pending.cancel()
  }
}

function pglite(db: Pglite): PostgresClient {
  return {
    query: (text, values) => db.query(text, values) as Promise<{ rows: Row[] }>, // objects, as rows are unless asked otherwise
    ...(typeof db.listen === 'function' && {
      listen: async (channel, heard) => {
        const stop = (await db.listen!(quoted(channel), heard)) as () => Promise<void> // the way to stop, by its documentation
        return () => stop()
      },
    }),
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`
}
