import type { PgPool, PgListener } from './clients.ts'
import { lateError } from './errors.ts'
import type { PgInternals } from './pg-cancel.ts'
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

/** A client of the pool, and how it goes back. A broken client is closed. */
export interface CheckedOut {
  readonly client: PgListener
  giveBack(isGood: boolean): void
}

/**
 * A client of the pool, within `timeoutMs`. A client that comes later goes back at once.
 *
 * A pool without `connectionTimeoutMillis` waits for ever for a server that accepts a connection and never answers, and
 * such attempts take all its places: so they are ended here.
 */
export function checkOut(pool: PgPool, timeoutMs: number): Promise<CheckedOut> {
  const waiting = connected(pool)
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
      (checkedOut) => {
        if (isLate) return checkedOut.giveBack(true)
        clearTimeout(timer)
        clearInterval(looking)
        resolve(checkedOut)
      },
      (cause: Error) => {
        clearTimeout(timer)
        clearInterval(looking)
        reject(cause)
      },
    )
  })
}

/**
 * Without a listener, an error of a client that is not in the pool ends the process. The first error may arrive in the
 * same bytes as the server's message that the connection is ready: so the listener is attached before any promise goes
 * on.
 */
function connected(pool: PgPool): Promise<CheckedOut> {
  return new Promise((resolve, reject) => {
    pool.connect((cause, client) => {
      if (client === undefined) return reject(cause!) // one of the two exists
      const onError = (): void => {} // the statement that runs fails with the error, and so does the next
      client.on('error', onError)
      resolve({
        client,
        giveBack(isGood) {
          client.removeListener('error', onError)
          if (!isGood) hangUp(client)
          client.release(!isGood)
        },
      })
    })
  })
}

/** Closes the socket, also where nobody answers at the other end. */
function hangUp(client: PgListener): void {
  ;(client as unknown as PgInternals).connection?.stream?.destroy()
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
