import { type ErrorCode, PosthornError } from '../../src/errors.ts'

/** Lost or refused connections, by the codes of Node and of postgres.js. */
const connection = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ENOENT',
  'EPIPE',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
])

/** The same where pg gives no code. */
const connectionText =
  /Connection terminated|Connection ended|Client has encountered a connection error|Client was closed|not queryable|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end/

/** Of the server: connection exceptions, out of resources, shut down or canceled, I/O; a standby; a schema that does not exist. */
const unavailableState = /^(08|53|57|58)|^(25006|42P01|42703|42883|3F000|3D000|28000|28P01)$/

const missingSchema = new Set(['42P01', '42703', '42883', '3F000'])

/** The SQLSTATE or driver code of an error. Bun.SQL puts the SQLSTATE into `errno`. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  if (typeof errno === 'string' && /^[0-9A-Z]{5}$/.test(errno)) return errno
  return typeof code === 'string' ? code : ''
}

/** The SQLSTATE of an error that the server sent; null of any other. */
export function sqlState(error: unknown): string | null {
  const code = codeOf(error)
  return /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE' ? code : null
}

/** Errors of the engine for which we have a code. */
const codes: Readonly<Record<string, ErrorCode>> = {
  '40001': 'serialization_failure',
  '40P01': 'deadlock',
  '55P03': 'timeout',
  '57014': 'timeout',
}
const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  serialization_failure: 'another transaction wrote the same at the same time: try it again',
  deadlock: 'two transactions waited for each other: try it again',
  timeout: 'PostgreSQL ended a statement that took too long or waited too long for a lock',
}

/** Deadlock or serialization failure: nothing was written, and the same statement may succeed now. */
export function mayBeSentAgain(error: unknown): boolean {
  return error instanceof PosthornError && (error.code === 'serialization_failure' || error.code === 'deadlock')
}

/** A transaction met what another transaction wrote meanwhile. Under READ COMMITTED that is no error. */
export function isSerialization(error: unknown): boolean {
  return error instanceof PosthornError && error.code === 'serialization_failure'
}

/** A lock was not to be had in the time that the statement gave. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(causeOf(error)) === '55P03'
}

/** An earlier statement of the transaction failed. */
export function isAborted(error: unknown): boolean {
  return codeOf(causeOf(error)) === '25P02'
}

/** PostgreSQL was silent for too long. */
export function lateError(): PosthornError {
  return new PosthornError(
    'unavailable',
    'PostgreSQL did not answer in time. A pool is safe with connectionTimeoutMillis and keepAlive (pg) or connect_timeout and keep_alive (postgres.js)',
  )
}

/** Others change the same index at once: a deadlock, or a row of the catalog that another statement changed (XX000). */
export function isCollision(error: unknown): boolean {
  return /^(40P01|XX000)$/.test(codeOf(causeOf(error)))
}

/** A unique or foreign key was violated, which only a writer at the same moment can cause: all is looked at before. */
export function isRace(error: unknown): boolean {
  return /^2350[35]$/.test(codeOf(causeOf(error)))
}

/**
 * Classes of SQLSTATE that one row can cause: bad data (22), a constraint (23, 27, 44), a row twice (21), a trigger of the
 * host (09, 38, 39, P0), a size (54), a broken page or an internal limit (XX). All others are about the statement, the
 * session or the server.
 */
const stateOfRow = /^(09|21|22|23|27|38|39|44|54|P0|XX)/

/** The engine, or the driver before it, refuses what one of the values says. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof PosthornError && error.code === 'unavailable') return false
  // A text that is too long to be made (RangeError).
  return causeOf(error) instanceof RangeError || stateOfRow.test(codeOf(causeOf(error)))
}

/** No transaction gets an id until old rows are vacuumed. The code is that of a value too large. */
function isOutOfIds(error: unknown): boolean {
  const { routine } = (error ?? {}) as { routine?: unknown } // of what a driver threw
  return routine === 'GetNewTransactionId' || routine === 'GetNewMultiXactId'
}

function causeOf(error: unknown): unknown {
  return error instanceof PosthornError ? error.cause : error
}

/** Our own error for what a driver threw. The message holds no SQL; the cause stays for the log. */
export function translated(error: unknown, schema: string): PosthornError {
  if (error instanceof PosthornError) return error
  const code = codeOf(error)
  if (missingSchema.has(code)) {
    return new PosthornError('unavailable', `The schema "${schema}" is missing or old: run migrate()`, { cause: error })
  }
  const text = error instanceof Error ? error.message : ''
  if (code === '42501') {
    return new PosthornError(
      'unavailable',
      `The role of PostgreSQL lacks a right: ${text} (see docs/postgres-roles.md)`,
      {
        cause: error,
      },
    )
  }
  const own = codes[code]
  if (own !== undefined) return new PosthornError(own, `${sentences[own]} (${code})`, { cause: error })
  if (connection.has(code) || connectionText.test(text) || unavailableState.test(code) || isOutOfIds(error)) {
    return new PosthornError('unavailable', `PostgreSQL is not available${code === '' ? '' : ` (${code})`}`, {
      cause: error,
    })
  }
  return new PosthornError('internal', `PostgreSQL refused a statement${code === '' ? '' : ` (${code})`}`, {
    cause: error,
  })
}
