interface Waiting {
  /** Null for an item of no workspace: all such items take turns as if they were of one more workspace. */
  readonly workspace: string | null
}

/** The items of a workspace that wait, at least one item. */
interface Line<Item> {
  readonly items: Set<Item>
  /**
   * Goes on behind `first`. A new walk from the front of the set would pass the places of all items that were taken
   * out.
   */
  readonly rest: Iterator<Item, undefined>
  first: Item | undefined
}

/** What waits: the workspaces take turns, and inside a workspace first come is first served. */
export class InTurns<Item extends Waiting> {
  /** By workspace, in the order of turns. */
  readonly #lines = new Map<string | null, Line<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: Item): void {
    const line = this.#lines.get(item.workspace)
    this.#size++
    if (line === undefined) this.#lines.set(item.workspace, lineOf(item))
    else line.items.add(item)
  }

  /** Answers whether the item waited. */
  remove(item: Item): boolean {
    const line = this.#lines.get(item.workspace)
    if (line === undefined || !this.#takeOff(line, item)) return false
    if (line.items.size === 0) this.#lines.delete(item.workspace)
    return true
  }

  /** Takes out items in turn, until none is left or `fits` refuses an item, which stays. */
  takeWhile(fits: (item: Item) => boolean): void {
    // A workspace that is put behind the others is met again: a walk over a map comes to what is added meanwhile.
    for (const [workspace, line] of this.#lines) {
      for (let item = line.first; item !== undefined; item = line.first) {
        if (!fits(item)) return
        this.#takeOff(line, item)
        if (this.#putBehind(workspace, line)) break
      }
    }
  }

  /** Takes out the first item in turn that may go, and puts the item's workspace behind the others. */
  next(mayGo: (item: Item) => boolean): Item | undefined {
    for (const line of this.#lines.values()) {
      for (const item of line.items) if (mayGo(item)) return this.#takeOut(line, item)
    }
    return undefined
  }

  /** The same where a workspace decides for all its items, so that no line is searched. Default: all may go. */
  nextOf(mayGo: (workspace: string | null) => boolean = () => true): Item | undefined {
    for (const [workspace, line] of this.#lines) {
      if (mayGo(workspace)) return this.#takeOut(line, line.first!) // a line holds at least one item
    }
    return undefined
  }

  /** Takes out all items. */
  clear(): Item[] {
    const left = [...this.#lines.values()].flatMap(({ items }) => [...items])
    this.#lines.clear()
    this.#size = 0
    return left
  }

  #takeOut(line: Line<Item>, item: Item): Item {
    this.#takeOff(line, item)
    this.#putBehind(item.workspace, line)
    return item
  }

  #takeOff(line: Line<Item>, item: Item): boolean {
    if (!line.items.delete(item)) return false
    this.#size--
    if (line.first === item) line.first = line.rest.next().value
    return true
  }

  /**
   * After a turn of a workspace. Answers whether another workspace comes next: with a single workspace the order stays.
   */
  #putBehind(workspace: string | null, line: Line<Item>): boolean {
    if (line.items.size > 0 && this.#lines.size === 1) return false
    this.#lines.delete(workspace)
    if (line.items.size > 0) this.#lines.set(workspace, line)
    return true
  }
}

function lineOf<Item>(item: Item): Line<Item> {
  const items = new Set([item])
  const rest = items.values()
  return { items, rest, first: rest.next().value }
}
