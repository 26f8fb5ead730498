import { inTurns } from '../../src/core/in-turns.ts'
import { mayTake } from '../../src/core/share.ts'

export interface Visitor {
  /** Null for requests of the host itself, which have no share. */
  readonly workspace: string | null
  go(): void
}

/** Lets at most `limit` in at once, shared by workspace (core/share.ts). The workspaces of those who wait take turns. */
export interface Gate {
  /** Calls `go` at once when there is room, else when its turn comes. */
  enter(visitor: Visitor): void
  /** Stops waiting. False when `go` was called already. */
  forget(visitor: Visitor): boolean
  leave(visitor: Visitor): void
  readonly inside: number
}

export function gate(limit: number): Gate {
  const waiting = inTurns<Visitor>()
  const held = new Map<string, number>()
  let inside = 0

  const mayEnter = (workspace: string | null): boolean =>
    workspace === null ? inside < limit : mayTake(held.get(workspace) ?? 0, limit - inside)

  function letIn(visitor: Visitor): void {
    inside++
    if (visitor.workspace !== null) held.set(visitor.workspace, (held.get(visitor.workspace) ?? 0) + 1)
    visitor.go()
  }

  function letOut({ workspace }: Visitor): void {
    inside--
    if (workspace === null) return
    const left = (held.get(workspace) ?? 0) - 1
    if (left > 0) held.set(workspace, left)
    else held.delete(workspace)
  }

  function admit(): void {
    for (let next = waiting.nextOf(mayEnter); next !== undefined; next = waiting.nextOf(mayEnter)) letIn(next)
  }

  return {
    enter(visitor) {
      if (mayEnter(visitor.workspace)) letIn(visitor)
      else waiting.add(visitor)
    },
    forget: (visitor) => waiting.remove(visitor),
    leave(visitor) {
      if (waiting.size === 0) return letOut(visitor)
      // Whoever leaves gives its socket back in this very turn of the loop; the next one shall find it.
      setImmediate(() => {
        letOut(visitor)
        admit()
      })
    },
    get inside() {
      return inside
    },
  }
}
