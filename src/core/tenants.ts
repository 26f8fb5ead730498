import { mayTake, maxFor } from './fair-share.ts'

/** For whom something is held: a workspace, and in the workspace a source or an endpoint. */
export interface Tenant {
  readonly workspace: string
  readonly owner: string
}

/** What is in use of a resource, and by whom. */
interface Shares {
  /**
   * Takes units for an owner, unless the workspace would then hold more than its share of the total, or the owner more
   * than its share of the workspace.
   */
  take(tenant: Tenant, units: number): boolean
  give(tenant: Tenant, units: number): void
}

/**
 * Shares of `total` units by workspace, and shares of a workspace's units by owner, so that many sources or endpoints
 * together get no more than a single source or endpoint would.
 */
export function tenantShares(total: number): Shares {
  let used = 0
  const held = new Map<string, { units: number; readonly owners: Map<string, number> }>()

  return {
    take({ workspace: id, owner }, units) {
      const workspace = held.get(id) ?? { units: 0, owners: new Map<string, number>() }
      const own = workspace.owners.get(owner) ?? 0
      // Judged by the last of the units: where that unit may be taken, all units before it may.
      const before = units - 1
      const free = total - used - before
      const room = maxFor(free) - workspace.units - before
      if (!mayTake(workspace.units + before, free) || !mayTake(own + before, room)) return false
      used += units
      workspace.units += units
      workspace.owners.set(owner, own + units)
      held.set(id, workspace)
      return true
    },

    give({ workspace: id, owner }, units) {
      const workspace = held.get(id)
      if (workspace === undefined) return
      used -= units
      workspace.units -= units
      const left = (workspace.owners.get(owner) ?? 0) - units
      if (left > 0) workspace.owners.set(owner, left)
      else workspace.owners.delete(owner)
      if (workspace.units <= 0) held.delete(id)
    },
  }
}
