import { PosthornError } from '../../src/errors.ts'
import { quoted } from './pg-listen.ts'
import { pgClient, pgPool } from './pg.ts'
import { isTransaction, postgresJs } from './postgres-js.ts'
import type { Value } from './sql.ts'

export type Row = Readonly<Record<string, unknown>>

export interface QueryOptions {
  /** Prepare the statement under this name, which stands for this text alone. Missing: do not prepare. */
  readonly name?: string
  /** Give the statement up after this time, the wait for a connection included. Default 20,000. */
  readonly timeoutMs?: number
  /** Give it up when the server has not answered so long after it was sent. Default `timeoutMs`. */
  readonly answerMs?: number
  /**
   * Run it in a transaction of its own with this isolation, where the default of the database, role or session is another.
   * A wrapper that has no way to do so leaves it out.
   */
  readonly isolation?: 'read committed'
}

/**
 * All that is asked of a driver. A wrapper for one that is not known here takes a few lines; `$1` marks parameters, and
 * an array stands for a `text[]`. A wrapper should also end a statement on the server when its time is over.
 */
export interface PostgresClient {
  query(text: string, values: Value[], options?: QueryOptions): Promise<{ rows: Row[] }>
  /**
   * Hears notifications on a connection of its own. A lost one is told to `lost` at once, if that can be seen, and made
   * again; then `regained` is called. Answers how to stop. A connection that went silent unseen is stopped, and `listen` is
   * called once more.
   */
  listen?(
    channel: string,
    heard: (payload: string) => void,
    regained: () => void,
    lost?: () => void,
  ): Promise<() => Promise<void>>
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
  connect(callback: (cause: Error | undefined, client: PgListener | undefined) => void): void
  readonly totalCount: number
  readonly idleCount: number
}
/** The part of a client of a `pg` Pool that is used. */
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
  reserve?(): Promise<PostgresJs & { release(): void }>
}
/** The part of PGlite, or of its transaction, that is used. */
export interface Pglite {
  query(query: string, params?: unknown[], options?: object): Promise<{ rows: unknown[] }>
  listen?(channel: string, heard: (payload: string) => void): Promise<unknown>
}

/** What `postgres()` and `using()` take: a `pg` Pool or Client, a postgres.js instance or transaction, PGlite, or a wrapper. */
export type PostgresHandle = PostgresClient | PgPool | PgClient | PostgresJs | Pglite

/** Refuses what is no handle, at the call that passes it. A url may hold a password, so the refusal does not repeat it. */
export function checkHandle(handle: unknown): void {
  if (typeof handle === 'object' && handle !== null && 'query' in handle) return
  if ((typeof handle === 'object' || typeof handle === 'function') && handle !== null && 'unsafe' in handle) return
  throw new PosthornError(
    'validation',
    typeof handle === 'string'
      ? 'postgres: pass a pool of pg, postgres.js or PGlite, not a url; openPostgres(url) opens a pool of its own'
      : 'postgres: pass a pool of pg, postgres.js or PGlite, or openPostgres(url) instead',
  )
}

/** The client behind a handle, told by what it can do. */
export function clientOf(handle: PostgresHandle): PostgresClient {
  if ('unsafe' in handle) return postgresJs(handle)
  if ('totalCount' in handle) return pgPool(handle)
  if ('escapeIdentifier' in handle) return pgClient(handle)
  if ('execProtocol' in handle) return pglite(handle as Pglite) // only PGlite has it
  return handle as PostgresClient // what is left has `query`, as a wrapper has
}

/** Whether a handle runs each statement where it likes: a pool, a postgres.js instance, PGlite itself. */
export function isPool(handle: PostgresHandle): boolean {
  const isInstance = 'unsafe' in handle && 'begin' in handle && !isTransaction(handle)
  return isInstance || 'totalCount' in handle || 'execProtocol' in handle
}

/** Whether a handle says itself that a transaction is open. Where it does not, the server is to be asked. */
export function isInTransaction(handle: PostgresHandle): boolean {
  if ('unsafe' in handle) return isTransaction(handle)
  const { getTransactionStatus } = handle as { getTransactionStatus?(): string | null }
  const status = typeof getTransactionStatus === 'function' ? getTransactionStatus.call(handle) : null
  return status === 'T' || status === 'E'
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
