/** A place in an order: by a number first (a time, or 0 where only ids count), then by id, bytewise. */
export type Position = readonly [at: number, id: string]

/**
 * Positions in order, in chunks, so that adding and removing cost little at any size. Plain data: a transaction copies
 * it with all the rest.
 */
export interface Sorted {
  readonly chunks: Position[][]
  size: number
}

const chunkSize = 512

export function sorted(positions: readonly Position[] = []): Sorted {
  const list: Sorted = { chunks: [], size: 0 }
  for (const position of positions) add(list, position)
  return list
}

export function compare(a: Position, b: Position): number {
  return a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0)
}

/** Adds a position, once. */
export function add(list: Sorted, position: Position): void {
  const last = list.chunks.length - 1
  const end = list.chunks[last]
  // Rows mostly come in order.
  if (end !== undefined && end.length < chunkSize && compare(end.at(-1)!, position) < 0) {
    end.push(position)
    list.size++
    return
  }
  const at = Math.min(chunkOf(list, position), last)
  const chunk = list.chunks[at]
  if (chunk === undefined) {
    list.chunks.push([position])
    list.size++
    return
  }
  const index = indexIn(chunk, position)
  const there = chunk[index]
  if (there !== undefined && compare(there, position) === 0) return
  chunk.splice(index, 0, position)
  list.size++
  // At the end the full chunk stays full and a new one begins.
  if (chunk.length > chunkSize) {
    list.chunks.splice(at + 1, 0, chunk.splice(at === last && index === chunkSize ? chunkSize : chunkSize / 2))
  }
}

/** Answers whether it was there. */
export function remove(list: Sorted, position: Position): boolean {
  const at = chunkOf(list, position)
  const chunk = list.chunks[at]
  if (chunk === undefined) return false
  const index = indexIn(chunk, position)
  const there = chunk[index]
  if (there === undefined || compare(there, position) !== 0) return false
  // Mostly the first one goes.
  if (index === 0) chunk.shift()
  else chunk.splice(index, 1)
  list.size--
  if (chunk.length === 0) list.chunks.splice(at, 1)
  return true
}

export function first(list: Sorted): Position | undefined {
  return list.chunks[0]?.[0]
}

/** From the first position strictly beyond `after` upwards, or from the start. The list may not change meanwhile. */
export function* ascending(list: Sorted, after: Position | null = null): Generator<Position, void> {
  let at = after === null ? 0 : chunkOf(list, after)
  for (let chunk = list.chunks[at]; chunk !== undefined; chunk = list.chunks[++at]) {
    let index = 0
    if (after !== null) {
      index = indexIn(chunk, after)
      const there = chunk[index]
      if (there !== undefined && compare(there, after) === 0) index++
      after = null
    }
    for (; index < chunk.length; index++) yield chunk[index]!
  }
}

/** From the last position strictly before `before` downwards, or from the end. The list may not change meanwhile. */
export function* descending(list: Sorted, before: Position | null = null): Generator<Position, void> {
  let at = list.chunks.length - 1
  if (before !== null) at = Math.min(chunkOf(list, before), at)
  for (let chunk = list.chunks[at]; chunk !== undefined; chunk = list.chunks[--at]) {
    let index = chunk.length
    if (before !== null) {
      index = indexIn(chunk, before)
      before = null
    }
    while (index-- > 0) yield chunk[index]!
  }
}

/** The first chunk whose last position is not before this one; the number of chunks when there is none. */
function chunkOf({ chunks }: Sorted, position: Position): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const chunk = chunks[middle]!
    if (compare(chunk[chunk.length - 1]!, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The first index whose position is not before this one. */
function indexIn(chunk: readonly Position[], position: Position): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(chunk[middle]!, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}
