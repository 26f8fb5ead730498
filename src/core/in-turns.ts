interface Waiting {
  /** Null for what belongs to no workspace: all of that takes turns as one more workspace would. */
  readonly workspace: string | null
}

/** What waits: the workspaces take turns, and inside a workspace first come is first served. */
interface InTurns<Item> {
  readonly size: number
  add(item: Item): void
  /** Answers whether the item waited. */
  remove(item: Item): boolean
  /** The item that comes next. It stays. */
  peek(): Item | undefined
  /** Takes out the first item in turn that may go, and puts its workspace behind the others. */
  next(mayGo: (item: Item) => boolean): Item | undefined
  /** The same where a workspace decides for all of its items, so that no line is searched. Default: all may go. */
  nextOf(mayGo?: (workspace: string | null) => boolean): Item | undefined
  /** Takes out all items. */
  clear(): Item[]
}

/** The items of a workspace that wait, at least one. */
interface Line<Item> {
  readonly items: Set<Item>
  /** Goes on behind `first`. A walk from the front of the set would pass all that was taken out there. */
  readonly rest: Iterator<Item, undefined>
  first: Item | undefined
}

export function inTurns<Item extends Waiting>(): InTurns<Item> {
  /** By workspace, in the order of turns. */
  const lines = new Map<string | null, Line<Item>>()
  let size = 0

  function remove(item: Item): boolean {
    const line = lines.get(item.workspace)
    if (line?.items.delete(item) !== true) return false
    size--
    if (line.items.size === 0) lines.delete(item.workspace)
    else if (line.first === item) line.first = line.rest.next().value
    return true
  }

  function takeOut(item: Item): Item {
    const line = lines.get(item.workspace)! // the item waits in it
    remove(item)
    // With one workspace the order stays.
    if (line.items.size > 0 && lines.size > 1) {
      lines.delete(item.workspace)
      lines.set(item.workspace, line)
    }
    return item
  }

  return {
    get size() {
      return size
    },
    remove,
    add(item) {
      const line = lines.get(item.workspace)
      size++
      if (line === undefined) lines.set(item.workspace, lineOf(item))
      else line.items.add(item)
    },
    peek() {
      return lines.values().next().value?.first
    },
    next(mayGo) {
      for (const line of lines.values()) for (const item of line.items) if (mayGo(item)) return takeOut(item)
      return undefined
    },
    nextOf(mayGo = anyone) {
      for (const [workspace, line] of lines) {
        if (mayGo(workspace)) return takeOut(line.first!) // a line has at least one
      }
      return undefined
    },
    clear() {
      const left = [...lines.values()].flatMap(({ items }) => [...items])
      lines.clear()
      size = 0
      return left
    },
  }
}

function lineOf<Item>(item: Item): Line<Item> {
  const items = new Set([item])
  const rest = items.values()
  return { items, rest, first: rest.next().value }
}

const anyone = (): boolean => true
