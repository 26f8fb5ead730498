/** Lets at most `limit` in at once; others wait in the order they came. */
export interface Gate {
  /** Calls `go` at once when there is room, else when its turn comes. */
  enter(go: () => void): void
  /** Stops waiting. False when `go` was called already. */
  forget(go: () => void): boolean
  leave(): void
  readonly inside: number
}

export function gate(limit: number): Gate {
  const waiting = new Set<() => void>()
  let inside = 0

  function admitNext(): void {
    for (const go of waiting) {
      waiting.delete(go)
      return go()
    }
    inside--
  }

  return {
    enter(go) {
      if (inside >= limit) {
        waiting.add(go)
        return
      }
      inside++
      go()
    },
    forget: (go) => waiting.delete(go),
    leave() {
      // Whoever leaves gives its socket back in this very turn of the loop; the next one shall find it.
      if (waiting.size > 0) setImmediate(admitNext)
      else inside--
    },
    get inside() {
      return inside
    },
  }
}
