import type { PostgresHandle } from './clients.ts'

/** What a host should set on its pool, so that a silent connection is noticed. */
export function adviceOn(handle: PostgresHandle): readonly string[] {
  const { options } = handle as { readonly options?: Readonly<Record<string, unknown>> }
  if (options === undefined || typeof options !== 'object') return []
  const missing: string[] = []
  const more: string[] = []
  if ('totalCount' in handle) {
    if (!isPositive(options['connectionTimeoutMillis'])) missing.push('connectionTimeoutMillis: 5000')
    if (options['keepAlive'] !== true) missing.push('keepAlive: true')
  } else if ('unsafe' in handle) {
    if (!isPositive(options['connect_timeout']) || Number(options['connect_timeout']) > 10)
      missing.push('connect_timeout: 5')
    if (!isPositive(options['keep_alive'])) missing.push('keep_alive: 10')
    // It asks for them on each new connection, and nobody catches what comes of that.
    if (options['fetch_types'] !== false)
      more.push('a connection that postgres.js loses while it asks for types ends the process: set fetch_types: false')
    if (!connectsSoon(options['backoff']))
      more.push('postgres.js waits up to 20 s before it connects again: set backoff: () => 1')
  }
  if (missing.length === 0) return more
  return [
    `the pool of PostgreSQL notices a silent line late: set ${missing.join(' and ')}, or use openPostgres()`,
    ...more,
  ]
}

/** The longest wait between two tries to connect, in seconds. */
const maxBackoff = 5
/** So many tries failed when the wait of postgres.js has grown to what it can be. */
const manyTries = 10

/** `backoff` of postgres.js is a wait in seconds, or makes one of the number of tries that failed. */
function connectsSoon(backoff: unknown): boolean {
  return Number(typeof backoff === 'function' ? backoff(manyTries) : backoff) <= maxBackoff
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0
}
