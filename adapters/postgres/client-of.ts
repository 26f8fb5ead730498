import { PosthornError } from '../../src/errors.ts'
import type { Row } from '../sql/values.ts'
import type { Pglite, PostgresClient, PostgresHandle } from './clients.ts'
import { quoted } from './pg-listen.ts'
import { pgClient, pgPool } from './pg.ts'
import { isTransaction, postgresJs } from './postgres-js.ts'

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

/** The client behind a handle, recognized by the functions that the handle has. */
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
        const stop = (await db.listen!(quoted(channel), heard)) as () => Promise<void> // PGlite documents it as the way to stop
        return () => stop()
      },
    }),
  }
}
