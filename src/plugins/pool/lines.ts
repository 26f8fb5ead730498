interface Waiting {
  readonly tenant: { readonly workspace: string }
}

/** What waits: the workspaces take turns, and inside a workspace first come is first served. */
export function makeLines<Item extends Waiting>() {
  // In the order of turns.
  const lines = new Map<string, Set<Item>>()

  function remove(item: Item): void {
    const { workspace } = item.tenant
    const line = lines.get(workspace)
    line?.delete(item)
    if (line?.size === 0) lines.delete(workspace)
  }

  return {
    remove,
    add(item: Item): void {
      const { workspace } = item.tenant
      const line = lines.get(workspace)
      if (line === undefined) lines.set(workspace, new Set([item]))
      else line.add(item)
    },
    /** Takes out the first in turn that may go, and puts its workspace behind the others. */
    next(mayGo: (item: Item) => boolean): Item | undefined {
      for (const [workspace, line] of lines) {
        for (const item of line) {
          if (!mayGo(item)) continue
          remove(item)
          if (lines.delete(workspace)) lines.set(workspace, line)
          return item
        }
      }
      return undefined
    },
  }
}
