interface Waiting {
  /** Null for what is no tenant's: all of that is a line of its own. */
  readonly workspace: string | null
}

/** What waits: the workspaces take turns, and inside a workspace first come is first served. */
interface Lines<Item> {
  add(item: Item): void
  /** Answers whether the item waited. */
  remove(item: Item): boolean
  /** Takes out the first in turn that may go, and puts its workspace behind the others. */
  next(mayGo: (item: Item) => boolean): Item | undefined
  /** The same where a workspace decides for all of its items: no line is searched. */
  nextOf(mayGo: (workspace: string | null) => boolean): Item | undefined
  /** Whether nothing waits. */
  readonly isEmpty: boolean
}

export function makeLines<Item extends Waiting>(): Lines<Item> {
  // In the order of turns.
  const lines = new Map<string | null, Set<Item>>()

  function remove(item: Item): boolean {
    const line = lines.get(item.workspace)
    const waited = line?.delete(item) ?? false
    if (line?.size === 0) lines.delete(item.workspace)
    return waited
  }

  function takeOut(item: Item): Item {
    const line = lines.get(item.workspace)!
    remove(item)
    if (lines.delete(item.workspace)) lines.set(item.workspace, line)
    return item
  }

  return {
    remove,
    add(item) {
      const line = lines.get(item.workspace)
      if (line === undefined) lines.set(item.workspace, new Set([item]))
      else line.add(item)
    },
    next(mayGo) {
      for (const line of lines.values()) for (const item of line) if (mayGo(item)) return takeOut(item)
      return undefined
    },
    nextOf(mayGo) {
      for (const [workspace, line] of lines) {
        if (!mayGo(workspace)) continue
        for (const first of line) return takeOut(first)
      }
      return undefined
    },
    get isEmpty() {
      return lines.size === 0
    },
  }
}
