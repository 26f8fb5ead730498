import { mayTake, mostFor } from '../core/share.ts'

export interface Tenant {
  readonly workspaceId: string
  readonly sourceId: string
}

/** What is in use of a resource, and by whom. */
export interface Shares {
  /** Takes units for a source unless that is more than the share of its workspace, or than its own share there. */
  take(tenant: Tenant, units: number): boolean
  give(tenant: Tenant, units: number): void
}

/**
 * Shares of `total` units by workspace, and of what a workspace may take by source, so that many sources together get
 * no more than one would.
 */
export function tenantShares(total: number): Shares {
  let used = 0
  const held = new Map<string, { units: number; readonly sources: Map<string, number> }>()

  return {
    take({ workspaceId, sourceId }, units) {
      const workspace = held.get(workspaceId) ?? { units: 0, sources: new Map<string, number>() }
      const own = workspace.sources.get(sourceId) ?? 0
      // Judged by the last of the units: where that one may be taken, all before it may.
      const before = units - 1
      const free = total - used - before
      const room = mostFor(free) - workspace.units - before
      if (!mayTake(workspace.units + before, free) || !mayTake(own + before, room)) return false
      used += units
      workspace.units += units
      workspace.sources.set(sourceId, own + units)
      held.set(workspaceId, workspace)
      return true
    },

    give({ workspaceId, sourceId }, units) {
      const workspace = held.get(workspaceId)
      if (workspace === undefined) return
      used -= units
      workspace.units -= units
      const left = (workspace.sources.get(sourceId) ?? 0) - units
      if (left > 0) workspace.sources.set(sourceId, left)
      else workspace.sources.delete(sourceId)
      if (workspace.units <= 0) held.delete(workspaceId)
    },
  }
}
