import { type Semaphore, type Waiter, semaphore } from './semaphore.ts'

const maxConnections = 2048
export const maxConnectionsPerOrigin = 512

/** A place among the requests in flight, or in the line that waits for such a place. */
export interface Visit {
  /** Calls `go` when the request may be made: at once unless a bound is reached. */
  enter(go: () => void): void
  /** Gives the place up, or the wait for it. */
  leave(): void
  isInside(): boolean
}

interface Connection {
  destroy(): unknown
}

/**
 * Holds requests to 512 for each origin and 2048 in all, both shared by workspace, and connections, idle connections
 * included, to 2048.
 */
export interface Bounds {
  /** A visit of the origin for a workspace, or for the host itself (null), not entered yet. */
  visit(origin: string, workspace: string | null): Visit
  /** A connection will be dialled. If that is too many, the connection that is idle longest is closed. */
  opening(): void
  closed(connection?: Connection): void
  idle(connection: Connection): void
  busy(connection: Connection): void
  /** Connections open now, those being made included. */
  readonly connections: number
}

export function connectionBounds(): Bounds {
  const ofAll = semaphore(maxConnections)
  const origins = new Map<string, { readonly places: Semaphore; readonly onLeft: () => void }>()
  const idle = new Set<Connection>()
  let connections = 0

  function boundsOf(origin: string) {
    const places = semaphore(maxConnectionsPerOrigin)
    const onLeft = (): void => void (places.inUse === 0 && origins.delete(origin))
    const made = { places, onLeft }
    origins.set(origin, made)
    return made
  }

  return {
    visit(origin, workspace) {
      const { places, onLeft } = origins.get(origin) ?? boundsOf(origin)
      return new RequestVisit(workspace, places, ofAll, onLeft)
    },
    opening() {
      if (connections >= maxConnections) {
        const [longest] = idle
        if (longest !== undefined) idle.delete(longest)
        longest?.destroy()
      }
      connections++
    },
    closed(connection) {
      connections--
      if (connection !== undefined) idle.delete(connection)
    },
    idle: (connection) => void idle.add(connection),
    busy: (connection) => void idle.delete(connection),
    get connections() {
      return connections
    },
  }
}

/** One object for both waits: every request makes a visit. */
class RequestVisit implements Visit, Waiter {
  readonly workspace: string | null
  readonly #ofOrigin: Semaphore
  readonly #ofAll: Semaphore
  readonly #onLeft: () => void
  #at: 'outside' | 'before origin' | 'before all' | 'inside' = 'outside'
  #whenInside: (() => void) | null = null

  constructor(workspace: string | null, ofOrigin: Semaphore, ofAll: Semaphore, onLeft: () => void) {
    this.workspace = workspace
    this.#ofOrigin = ofOrigin
    this.#ofAll = ofAll
    this.#onLeft = onLeft
  }

  enter(whenInside: () => void): void {
    this.#whenInside = whenInside
    this.#at = 'before origin'
    this.#ofOrigin.acquire(this)
  }

  /** The wait for the origin is over, then the wait for a place among all. */
  go(): void {
    if (this.#at === 'before origin') {
      this.#at = 'before all'
      this.#ofAll.acquire(this)
    } else {
      this.#at = 'inside'
      this.#whenInside?.()
    }
  }

  leave(): void {
    const at = this.#at
    this.#at = 'outside'
    if (at === 'before origin') this.#ofOrigin.cancel(this)
    if (at === 'before all') this.#ofAll.cancel(this)
    if (at === 'inside') this.#ofAll.release(this)
    if (at === 'before all' || at === 'inside') this.#ofOrigin.release(this)
    this.#onLeft()
  }

  isInside(): boolean {
    return this.#at === 'inside'
  }
}
