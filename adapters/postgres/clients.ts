import type { Value } from '../sql/sql.ts'
import type { Row } from '../sql/values.ts'

export interface QueryOptions {
  /** Prepare the statement under this name, which stands for this text alone. Missing: do not prepare. */
  readonly name?: string
  /** Give the statement up after this time, the wait for a connection included. Default 20,000. */
  readonly timeoutMs?: number
  /** Give it up when the server has not answered so long after it was sent. Default `timeoutMs`. */
  readonly answerMs?: number
  /**
   * Run the statement in a separate transaction with this isolation: the default of the database, role or session is
   * another. A wrapper that cannot do so ignores this.
   */
  readonly isolation?: 'read committed'
}

/**
 * All that we need of a driver. A wrapper for another driver takes a few lines; `$1` marks parameters, and an array
 * stands for a `text[]`. A wrapper should also end a statement on the server when the statement's time is over.
 */
export interface PostgresClient {
  query(text: string, values: Value[], options?: QueryOptions): Promise<{ rows: Row[] }>
  /**
   * Listens for notifications on a separate connection. `lost` is called at once when a loss can be seen; the
   * connection is made again; then `regained` is called. Answers a function that stops. A connection that went silent
   * unseen is stopped, and `listen` is called once more.
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
/**
 * The part of a `pg` Pool that is used. Attach an `error` listener to your pool: without a listener, a lost connection
 * ends the process.
 */
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
