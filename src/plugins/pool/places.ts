import { mayTake, mostFor } from '../../core/share.ts'

/** For whom work is done: a workspace, and in it a source or an endpoint. */
export interface Tenant {
  readonly workspace: string
  readonly owner: string
}

interface Held {
  count: number
  readonly owners: Map<string, number>
}

/** The places of work that runs or waits, shared by workspace and inside a workspace by owner. */
export function makePlaces(total: number) {
  const held = new Map<string, Held>()
  let free = total

  return {
    /** Takes a place; answers how to give it back, or null beyond the share of the workspace or of the owner in it. */
    take({ workspace, owner }: Tenant): (() => void) | null {
      const mine = held.get(workspace) ?? { count: 0, owners: new Map<string, number>() }
      const own = mine.owners.get(owner) ?? 0
      if (!mayTake(mine.count, free) || !mayTake(own, mostFor(free) - mine.count)) return null
      held.set(workspace, mine)
      mine.owners.set(owner, own + 1)
      mine.count++
      free--
      let given = false
      return () => {
        if (given) return
        given = true
        free++
        const left = (mine.owners.get(owner) ?? 1) - 1
        if (left === 0) mine.owners.delete(owner)
        else mine.owners.set(owner, left)
        if (--mine.count === 0) held.delete(workspace)
      }
    },
  }
}
