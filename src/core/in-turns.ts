/** What may wait, in a single place at a time. */
export interface Waits {
  /** Null for an item of no workspace: all such items take turns as if they were of one more workspace. */
  readonly workspace: string | null
  /** Where the item waits. `InTurns` alone sets these three; they are undefined while the item does not wait. */
  line?: object | undefined
  before?: Waits | undefined
  after?: Waits | undefined
}

/** The items of a workspace that wait, at least one item. They are linked, so that adding and taking out make no object. */
interface Line {
  first: Waits | undefined
  last: Waits | undefined
}

/** What waits: the workspaces take turns, and inside a workspace first come is first served. */
export class InTurns<Item extends Waits> {
  /** By workspace, in the order of turns. */
  readonly #lines = new Map<string | null, Line>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: Item): void {
    let line = this.#lines.get(item.workspace)
    if (line === undefined) this.#lines.set(item.workspace, (line = { first: undefined, last: undefined }))
    this.#size++
    item.line = line
    item.before = line.last
    if (line.last === undefined) line.first = item
    else line.last.after = item
    line.last = item
  }

  /** Answers whether the item waited. */
  remove(item: Item): boolean {
    const line = this.#lines.get(item.workspace)
    if (line === undefined || item.line !== line) return false
    this.#takeOff(line, item)
    if (line.first === undefined) this.#lines.delete(item.workspace)
    return true
  }

  /** Takes out items in turn, until none is left or `fits` refuses an item, which stays. */
  takeWhile(fits: (item: Item) => boolean): void {
    // A workspace that is put behind the others is met again: a walk over a map comes to what is added meanwhile.
    for (const [workspace, line] of this.#lines) {
      for (let item = line.first; item !== undefined; item = line.first) {
        if (!fits(item as Item)) return // only items of this type were added
        this.#takeOff(line, item)
        if (this.#putBehind(workspace, line)) break
      }
    }
  }

  /** Takes out the first item in turn that may go, and puts the item's workspace behind the others. */
  next(mayGo: (item: Item) => boolean): Item | undefined {
    for (const line of this.#lines.values()) {
      for (let item = line.first; item !== undefined; item = item.after) {
        if (mayGo(item as Item)) return this.#takeOut(line, item)
      }
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
    const left: Item[] = []
    this.takeWhile((item) => left.push(item) > 0)
    return left
  }

  #takeOut(line: Line, item: Waits): Item {
    this.#takeOff(line, item)
    this.#putBehind(item.workspace, line)
    return item as Item
  }

  #takeOff(line: Line, item: Waits): void {
    const { before, after } = item
    if (before === undefined) line.first = after
    else before.after = after
    if (after === undefined) line.last = before
    else after.before = before
    item.line = item.before = item.after = undefined
    this.#size--
  }

  /**
   * After a turn of a workspace. Answers whether another workspace comes next: with a single workspace the order stays.
   */
  #putBehind(workspace: string | null, line: Line): boolean {
    if (line.first !== undefined && this.#lines.size === 1) return false
    this.#lines.delete(workspace)
    if (line.first !== undefined) this.#lines.set(workspace, line)
    return true
  }
}
