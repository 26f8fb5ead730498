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
  /** Takes out items in turn, until none is left or `fits` refuses one, which stays. */
  takeWhile(fits: (item: Item) => boolean): void
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

  function takeOff(line: Line<Item>, item: Item): boolean {
    if (!line.items.delete(item)) return false
    size--
    if (line.first === item) line.first = line.rest.next().value
    return true
  }

  function remove(item: Item): boolean {
    const line = lines.get(item.workspace)
    if (line === undefined || !takeOff(line, item)) return false
    if (line.items.size === 0) lines.delete(item.workspace)
    return true
  }

  /** After a turn of a workspace. Answers whether another one comes next: with a single workspace the order stays. */
  function putBehind(workspace: string | null, line: Line<Item>): boolean {
    if (line.items.size > 0 && lines.size === 1) return false
    lines.delete(workspace)
    if (line.items.size > 0) lines.set(workspace, line)
    return true
  }

  function takeOut(line: Line<Item>, item: Item): Item {
    takeOff(line, item)
    putBehind(item.workspace, line)
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
    takeWhile(fits) {
      // A workspace that is put behind the others is met again: a walk over a map comes to what is added meanwhile.
      for (const [workspace, line] of lines) {
        for (let item = line.first; item !== undefined; item = line.first) {
          if (!fits(item)) return
          takeOff(line, item)
          if (putBehind(workspace, line)) break
        }
      }
    },
    next(mayGo) {
      for (const line of lines.values()) for (const item of line.items) if (mayGo(item)) return takeOut(line, item)
      return undefined
    },
    nextOf(mayGo = anyone) {
      for (const [workspace, line] of lines) {
        if (mayGo(workspace)) return takeOut(line, line.first!) // a line has at least one
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
