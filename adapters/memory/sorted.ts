/** A place in an order: by a number first (a time, or 0 where only ids count), then by id, bytewise. */
export type Position = readonly [at: number, id: string]

/**
 * Positions in order, in chunks, so that adding and removing cost little at any size. Plain data: a transaction copies
 * it with all the rest.
 */
export interface Sorted {
  chunks: Chunk[]
  size: number
}

/** Numbers and ids apart, without a pair for each position: every delivery has about seven. */
interface Chunk {
  ats: number[]
  ids: string[]
}

const chunkSize = 512

export function sorted(positions: readonly Position[] = []): Sorted {
  const list: Sorted = { chunks: [], size: 0 }
  for (const position of positions) add(list, position)
  return list
}

/** Why a row is refused whose time has no place in an order. */
export const noTime = (): Error => new Error('a time is not a number')

export function compare(a: Position, b: Position): number {
  return a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0)
}

/** Adds a position, once. */
export function add(list: Sorted, [at, id]: Position): void {
  const { chunks } = list
  const last = chunks.length - 1
  const end = chunks[last]
  if (end === undefined) {
    list.chunks = [{ ats: [at], ids: [id] }] // of just this size: most events have a single attempt
    list.size = 1
    return
  }
  const length = end.ids.length
  // Rows mostly come in order.
  if (length < chunkSize && isBefore(end, length - 1, at, id)) {
    end.ats.push(at)
    end.ids.push(id)
    list.size++
    return
  }
  const which = Math.min(chunkOf(list, at, id), last)
  const chunk = chunks[which]!
  const index = indexIn(chunk, at, id)
  if (isAt(chunk, index, at, id)) return
  chunk.ats.splice(index, 0, at)
  chunk.ids.splice(index, 0, id)
  list.size++
  if (chunk.ids.length > chunkSize) {
    // At the end the full chunk stays full, and a new chunk begins.
    const from = which === last && index === chunkSize ? chunkSize : chunkSize / 2
    chunks.splice(which + 1, 0, { ats: chunk.ats.splice(from), ids: chunk.ids.splice(from) })
  }
}

/** Answers whether the position was in the list. */
export function remove(list: Sorted, [at, id]: Position): boolean {
  const which = chunkOf(list, at, id)
  const chunk = list.chunks[which]
  if (chunk === undefined) return false
  const index = indexIn(chunk, at, id)
  if (!isAt(chunk, index, at, id)) return false
  // Mostly the first position is removed.
  if (index === 0) {
    chunk.ats.shift()
    chunk.ids.shift()
  } else {
    chunk.ats.splice(index, 1)
    chunk.ids.splice(index, 1)
  }
  list.size--
  if (chunk.ids.length === 0) list.chunks.splice(which, 1)
  return true
}

export function first({ chunks: [chunk] }: Sorted): Position | undefined {
  return chunk && positionIn(chunk, 0)
}

/** The ids of positions with a number from `min` up to `max`, upwards, without a pair for each. The list may not change meanwhile. */
export function* idsUpTo(list: Sorted, max: number, min = -Infinity): Generator<string, void> {
  for (let which = min === -Infinity ? 0 : chunkOf(list, min, ''); which < list.chunks.length; which++) {
    const { ats, ids } = list.chunks[which]!
    for (let index = ats[0]! < min ? indexIn(list.chunks[which]!, min, '') : 0; index < ids.length; index++) {
      if (ats[index]! > max) return
      yield ids[index]!
    }
  }
}

/** The first position with a number from `min` on. */
export function firstFrom(list: Sorted, min: number): Position | undefined {
  const end = list.chunks.at(-1)
  if (end === undefined || end.ats.at(-1)! < min) return undefined
  return ascending(list, [min, '']).next().value ?? undefined
}

/** From the first position strictly beyond `after` upwards, or from the start. The list may not change meanwhile. */
export function* ascending(list: Sorted, after: Position | null = null): Generator<Position, void> {
  let which = after === null ? 0 : chunkOf(list, ...after)
  for (let chunk = list.chunks[which]; chunk !== undefined; chunk = list.chunks[++which]) {
    let index = 0
    if (after !== null) {
      index = indexIn(chunk, ...after)
      if (isAt(chunk, index, ...after)) index++
      after = null
    }
    for (; index < chunk.ids.length; index++) yield positionIn(chunk, index)
  }
}

/** From the last position strictly before `before` downwards, or from the end. The list may not change meanwhile. */
export function* descending(list: Sorted, before: Position | null = null): Generator<Position, void> {
  let which = list.chunks.length - 1
  if (before !== null) which = Math.min(chunkOf(list, ...before), which)
  for (let chunk = list.chunks[which]; chunk !== undefined; chunk = list.chunks[--which]) {
    let index = chunk.ids.length
    if (before !== null) {
      index = indexIn(chunk, ...before)
      before = null
    }
    while (index-- > 0) yield positionIn(chunk, index)
  }
}

/** The first chunk whose last position is not before this position; the number of chunks when every chunk ends before. */
function chunkOf({ chunks }: Sorted, at: number, id: string): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const chunk = chunks[middle]!
    if (isBefore(chunk, chunk.ids.length - 1, at, id)) low = middle + 1
    else high = middle
  }
  return low
}

/** The first index whose position is not before this position. */
function indexIn(chunk: Chunk, at: number, id: string): number {
  let low = 0
  let high = chunk.ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(chunk, middle, at, id)) low = middle + 1
    else high = middle
  }
  return low
}

function positionIn({ ats, ids }: Chunk, index: number): Position {
  return [ats[index]!, ids[index]!] // callers pass an index of the chunk
}

/** Whether the position at an index of the chunk comes before this position. */
function isBefore({ ats, ids }: Chunk, index: number, at: number, id: string): boolean {
  return ats[index]! < at || (ats[index] === at && ids[index]! < id)
}

function isAt({ ats, ids }: Chunk, index: number, at: number, id: string): boolean {
  return ids[index] === id && ats[index] === at
}
