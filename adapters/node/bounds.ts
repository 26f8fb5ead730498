import { type Semaphore, type Waiter, semaphore } from './semaphore.ts'

const maxConnections = 2048
export const maxConnectionsPerOrigin = 512

/** A place among the requests in flight, or in the line for one. */
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
 * Holds requests to 512 for each origin and 2048 in all, both shared by workspace, and connections, the idle ones included,
 * to 2048.
 */
export interface Bounds {
  /** A visit of the origin for a workspace, or for the host itself (null), not entered yet. */
  visit(origin: string, workspace: string | null): Visit
  /** A connection will be dialled. The one that is idle longest is closed where that makes one too many. */
  opening(): void
  closed(connection?: Connection): void
  idle(connection: Connection): void
  busy(connection: Connection): void
  /** Connections open now, those being made included. */
  readonly connections: number
}

export function connectionBounds(): Bounds {
  const everyone = semaphore(maxConnections)
  const origins = new Map<string, Semaphore>()
  const idle = new Set<Connection>()
  let connections = 0

  return {
    visit(origin, workspace) {
      const own = origins.get(origin) ?? semaphore(maxConnectionsPerOrigin)
      origins.set(origin, own)
      let at: 'outside' | 'origin' | 'everyone' | 'inside' = 'outside'
      let go: () => void
      const ofOrigin: Waiter = {
        workspace,
        go() {
          at = 'everyone'
          everyone.acquire(ofEveryone)
        },
      }
      const ofEveryone: Waiter = {
        workspace,
        go() {
          at = 'inside'
          go()
        },
      }

      return {
        enter(whenInside) {
          go = whenInside
          at = 'origin'
          own.acquire(ofOrigin)
        },
        leave() {
          if (at === 'origin') own.cancel(ofOrigin)
          if (at === 'everyone') everyone.cancel(ofEveryone)
          if (at === 'inside') everyone.release(ofEveryone)
          if (at === 'everyone' || at === 'inside') own.release(ofOrigin)
          at = 'outside'
          if (own.inUse === 0) origins.delete(origin)
        },
        isInside: () => at === 'inside',
      }
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
