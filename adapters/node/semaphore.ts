import { InTurns } from '../../src/core/in-turns.ts'
import { mayTake } from '../../src/core/fair-share.ts'

export interface Waiter {
  /** Null for requests of the host itself, which have no share. */
  readonly workspace: string | null
  go(): void
}

/** Lets at most `limit` in at once, shared by workspace (core/fair-share.ts). The workspaces of those who wait take turns. */
export interface Semaphore {
  /** Calls `go` at once when a place is free, else when the waiter's turn comes. */
  acquire(waiter: Waiter): void
  /** Stops waiting. False when `go` was called already. */
  cancel(waiter: Waiter): boolean
  release(waiter: Waiter): void
  readonly inUse: number
}

export function semaphore(limit: number): Semaphore {
  const waiting = new InTurns<Waiter>()
  const held = new Map<string, number>()
  let inside = 0

  const mayEnter = (workspace: string | null): boolean =>
    workspace === null ? inside < limit : mayTake(held.get(workspace) ?? 0, limit - inside)

  function letIn(waiter: Waiter): void {
    inside++
    if (waiter.workspace !== null) held.set(waiter.workspace, (held.get(waiter.workspace) ?? 0) + 1)
    waiter.go()
  }

  function letOut({ workspace }: Waiter): void {
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
    acquire(waiter) {
      if (mayEnter(waiter.workspace)) letIn(waiter)
      else waiting.add(waiter)
    },
    cancel: (waiter) => waiting.remove(waiter),
    release(waiter) {
      if (waiting.size === 0) return letOut(waiter)
      // A request that leaves gives its socket back in this very turn of the loop; the next request should find that
      // socket.
      setImmediate(() => {
        letOut(waiter)
        admit()
      })
    },
    get inUse() {
      return inside
    },
  }
}
