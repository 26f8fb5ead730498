/** Entries that wait, served in turns by tenant, and in order inside a tenant. Every operation costs the same at any size. */
export interface InTurns<Entry> {
  add(tenant: string, entry: Entry): void
  /** The entry that comes next. It stays until `take`. */
  peek(): Entry | undefined
  /** Takes the entry that comes next; its tenant waits for its next turn behind all others. */
  take(): Entry | undefined
  size(): number
  /** Takes all entries. */
  clear(): Entry[]
}

interface Line<Entry> {
  readonly tenant: string
  entries: Entry[]
  head: number
}

export function inTurns<Entry>(): InTurns<Entry> {
  /** Tenants with entries, in the order of their turns: the first comes next. */
  const lines = new Map<string, Line<Entry>>()
  let first: Line<Entry> | undefined
  let size = 0

  function next(): Line<Entry> | undefined {
    first ??= lines.values().next().value
    return first
  }

  return {
    add(tenant, entry) {
      size++
      const line = lines.get(tenant)
      if (line === undefined) lines.set(tenant, { tenant, entries: [entry], head: 0 })
      else line.entries.push(entry)
    },
    peek() {
      const line = next()
      return line?.entries[line.head]
    },
    take() {
      const line = next()
      if (line === undefined) return undefined
      const entry = line.entries[line.head++]
      size--
      if (line.head === line.entries.length) {
        lines.delete(line.tenant)
        first = undefined
        return entry
      }
      // Cut now and then, not at every entry, so that taking stays cheap.
      if (line.head >= 1024 && line.head * 2 > line.entries.length) {
        line.entries = line.entries.slice(line.head)
        line.head = 0
      }
      if (lines.size > 1) {
        lines.delete(line.tenant)
        lines.set(line.tenant, line)
        first = undefined
      }
      return entry
    },
    size: () => size,
    clear() {
      const left = [...lines.values()].flatMap(({ entries, head }) => entries.slice(head))
      lines.clear()
      first = undefined
      size = 0
      return left
    },
  }
}
