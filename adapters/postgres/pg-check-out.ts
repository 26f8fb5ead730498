import type { PgPool, PgListener } from './clients.ts'
import { lateError } from './errors.ts'
import { letExit } from './timers.ts'

/** An attempt to connect that nobody answers is ended after this time, where the host has set none. */
const connectMs = 5_000
const lookEveryMs = 1_000

/** A client of `pg` that a pool is connecting. */
interface Connecting {
  readonly _connecting?: boolean
  readonly connection?: { readonly stream?: { destroy(): void } }
}
interface Internals {
  readonly options?: { readonly connectionTimeoutMillis?: number }
  readonly _clients?: readonly Connecting[]
}

/** When clients were first seen connecting. */
const since = new WeakMap<Connecting, number>()

/**
 * A client of the pool, within `timeoutMs`. One that comes later goes back at once.
 *
 * A pool without `connectionTimeoutMillis` waits for ever for a server that accepts a connection and never answers, and
 * such attempts take all its places: so they are ended here.
 */
export function checkOut(pool: PgPool, timeoutMs: number): Promise<PgListener> {
  const waiting = pool.connect()
  const isGuarded = ((pool as Internals).options?.connectionTimeoutMillis ?? 0) > 0
  const looking = isGuarded || pool.idleCount > 0 ? undefined : watch(pool as Internals)
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      clearInterval(looking)
      reject(lateError())
    }, timeoutMs)
    letExit(timer)
    waiting.then(
      (client) => {
        if (isLate) return client.release()
        clearTimeout(timer)
        clearInterval(looking)
        resolve(client)
      },
      (cause: Error) => {
        clearTimeout(timer)
        clearInterval(looking)
        reject(cause)
      },
    )
  })
}

/** Ends attempts to connect that take too long, as long as somebody waits. */
function watch(pool: Internals): ReturnType<typeof setInterval> {
  const look = (): void => {
    const now = performance.now()
    const { _clients: clients = [] } = pool
    for (const client of clients) {
      const { _connecting: isConnecting } = client
      if (isConnecting !== true) continue
      const first = since.get(client) ?? now
      since.set(client, first)
      if (now - first >= connectMs) client.connection?.stream?.destroy()
    }
  }
  look()
  const timer = setInterval(look, lookEveryMs)
  letExit(timer)
  return timer
}
