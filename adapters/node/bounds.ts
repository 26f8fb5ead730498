import { type Gate, type Visitor, gate } from './semaphore.ts'

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
  const everyone = gate(maxConnections)
  const origins = new Map<string, Gate>()
  const idle = new Set<Connection>()
  let connections = 0

  return {
    visit(origin, workspace) {
      const own = origins.get(origin) ?? gate(maxConnectionsPerOrigin)
      origins.set(origin, own)
      let at: 'outside' | 'origin' | 'everyone' | 'inside' = 'outside'
      let go: () => void
      const ofOrigin: Visitor = {
        workspace,
        go() {
          at = 'everyone'
          everyone.enter(ofEveryone)
        },
      }
      const ofEveryone: Visitor = {
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
          own.enter(ofOrigin)
        },
        leave() {
          if (at === 'origin') own.forget(ofOrigin)
          if (at === 'everyone') everyone.forget(ofEveryone)
          if (at === 'inside') everyone.leave(ofEveryone)
          if (at === 'everyone' || at === 'inside') own.leave(ofOrigin)
          at = 'outside'
          if (own.inside === 0) origins.delete(origin)
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
