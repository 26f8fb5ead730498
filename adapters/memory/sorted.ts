/** What is sorted: ids, or things that have one. */
export type Entry = string | { readonly id: string }

/** A place in an order: by a number first (a time, or 0 where only ids count), then by id, bytewise. */
export type Position<One extends Entry = string> = readonly [at: number, one: One]

/** Numbers and entries apart, without a pair for each position: every delivery has about seven. */
interface Chunk<One extends Entry> {
  ats: number[]
  all: (One | null)[]
  /** Where the positions begin. Before it stands nothing: queues lose their first position all the time. */
  from: number
}

/**
 * Positions in order, in chunks, so that adding and removing cost little at any size. Most lists are short: the list itself is the
 * first chunk, and the only one that may be empty. Plain data: a transaction copies it with all the rest.
 */
export interface Sorted<One extends Entry = string> extends Chunk<One> {
  /** The other chunks; null where there are none. */
  more: Chunk<One>[] | null
  size: number
}

const chunkSize = 512
/** Places at the start of a chunk that stay empty at most. */
const maxEmpty = 32

export function sorted<One extends Entry = string>(positions: readonly Position<One>[] = []): Sorted<One> {
  const list: Sorted<One> = { ats: [], all: [], from: 0, more: null, size: 0 }
  for (const position of positions) add(list, position)
  return list
}

/** Why a row is refused whose time has no place in an order. */
export const noTime = (): Error => new Error('a time is not a number')

export function compare<One extends Entry>([at, one]: Position<One>, [otherAt, other]: Position<One>): number {
  if (at !== otherAt) return at - otherAt
  const [id, otherId] = [idOf(one), idOf(other)]
  return id < otherId ? -1 : id > otherId ? 1 : 0
}

function idOf(one: Entry): string {
  return typeof one === 'string' ? one : one.id
}

/** Adds a position, once. */
export function add<One extends Entry>(list: Sorted<One>, [at, one]: Position<One>): void {
  if (list.size === 0) {
    list.ats = [at] // of just this size: most events have a single attempt
    list.all = [one]
    list.from = 0
    list.size = 1
    return
  }
  const last = chunksOf(list) - 1
  const end = chunkAt(list, last)
  const id = idOf(one)
  // Rows mostly come in order.
  if (countOf(end) < chunkSize && isBefore(end, end.all.length - 1, at, id)) {
    end.ats.push(at)
    end.all.push(one)
    list.size++
    return
  }
  const which = Math.min(whichChunk(list, at, id), last)
  const chunk = chunkAt(list, which)
  const index = indexIn(chunk, at, id)
  if (isAt(chunk, index, at, one)) return
  list.size++
  if (index === chunk.from && index > 0) {
    chunk.from--
    chunk.ats[chunk.from] = at
    chunk.all[chunk.from] = one
  } else {
    chunk.ats.splice(index, 0, at)
    chunk.all.splice(index, 0, one)
  }
  if (countOf(chunk) > chunkSize) {
    // At the end the full chunk stays full, and a new chunk begins.
    const from = which === last && index === chunk.all.length - 1 ? index : chunk.from + chunkSize / 2
    list.more ??= []
    list.more.splice(which, 0, { ats: chunk.ats.splice(from), all: chunk.all.splice(from), from: 0 })
  }
}

/** Answers whether the position was in the list. */
export function remove<One extends Entry>(list: Sorted<One>, [at, one]: Position<One>): boolean {
  const isFirst = isAt(list, list.from, at, one)
  const id = idOf(one)
  const which = isFirst ? 0 : whichChunk(list, at, id)
  if (which === chunksOf(list)) return false
  const chunk = chunkAt(list, which)
  const index = isFirst ? list.from : indexIn(chunk, at, id)
  if (!isAt(chunk, index, at, one)) return false
  list.size--
  if (countOf(chunk) === 1) dropChunk(list, which)
  else if (index === chunk.from) dropFirst(chunk)
  else {
    chunk.ats.splice(index, 1)
    chunk.all.splice(index, 1)
  }
  return true
}

/** Removes the first position of a chunk that has others. */
function dropFirst<One extends Entry>(chunk: Chunk<One>): void {
  const { ats, all } = chunk
  all[chunk.from] = null
  chunk.from++
  if (chunk.from < maxEmpty) return
  ats.splice(0, chunk.from)
  all.splice(0, chunk.from)
  chunk.from = 0
}

/** Removes a chunk. The second takes the place of the first; the only one stays, without positions. */
function dropChunk<One extends Entry>(list: Sorted<One>, which: number): void {
  if (list.more === null) {
    list.ats = []
    list.all = []
    list.from = 0
    return
  }
  if (which === 0) Object.assign(list, list.more[0])
  list.more.splice(Math.max(which - 1, 0), 1)
  if (list.more.length === 0) list.more = null
}

export function first<One extends Entry>(list: Sorted<One>): Position<One> | undefined {
  return list.size === 0 ? undefined : positionIn(list, list.from)
}

/** All entries, in order. The list may change meanwhile. */
export function entriesOf<One extends Entry>({ all, more }: Sorted<One>): readonly One[] {
  const chunks = more === null ? all : all.concat(...more.map((chunk) => chunk.all))
  return chunks.filter((one) => one !== null)
}

/** The entries with a number from `min` up to `max`, upwards, without a pair for each. The list may not change meanwhile. */
export function* upTo<One extends Entry>(list: Sorted<One>, max: number, min = -Infinity): Generator<One, void> {
  for (let which = min === -Infinity ? 0 : whichChunk(list, min, ''); which < chunksOf(list); which++) {
    const chunk = chunkAt(list, which)
    const { ats, all, from } = chunk
    for (let index = ats[from]! < min ? indexIn(chunk, min, '') : from; index < all.length; index++) {
      if (ats[index]! > max) return
      yield all[index]!
    }
  }
}

/** The first position with a number from `min` on. */
export function firstFrom<One extends Entry>(list: Sorted<One>, min: number): Position<One> | undefined {
  const end = chunkAt(list, chunksOf(list) - 1)
  if (list.size === 0 || end.ats.at(-1)! < min) return undefined
  const chunk = chunkAt(list, whichChunk(list, min, ''))
  return positionIn(chunk, indexIn(chunk, min, ''))
}

/** From the first position strictly beyond `after` upwards, or from the start. The list may not change meanwhile. */
export function* ascending<One extends Entry>(
  list: Sorted<One>,
  after: Position<One> | null = null,
): Generator<Position<One>, void> {
  for (let which = after === null ? 0 : whichChunk(list, after[0], idOf(after[1])); which < chunksOf(list); which++) {
    const chunk = chunkAt(list, which)
    let index = chunk.from
    if (after !== null) {
      index = indexIn(chunk, after[0], idOf(after[1]))
      if (isAt(chunk, index, ...after)) index++
      after = null
    }
    for (; index < chunk.all.length; index++) yield positionIn(chunk, index)
  }
}

/** From the last position strictly before `before` downwards, or from the end. The list may not change meanwhile. */
export function* descending<One extends Entry>(
  list: Sorted<One>,
  before: Position<One> | null = null,
): Generator<Position<One>, void> {
  let which = chunksOf(list) - 1
  if (before !== null) which = Math.min(whichChunk(list, before[0], idOf(before[1])), which)
  for (; which >= 0; which--) {
    const chunk = chunkAt(list, which)
    let index = chunk.all.length
    if (before !== null) {
      index = indexIn(chunk, before[0], idOf(before[1]))
      before = null
    }
    while (index-- > chunk.from) yield positionIn(chunk, index)
  }
}

function chunksOf<One extends Entry>({ more }: Sorted<One>): number {
  return more === null ? 1 : more.length + 1
}

function countOf<One extends Entry>({ all, from }: Chunk<One>): number {
  return all.length - from
}

function chunkAt<One extends Entry>(list: Sorted<One>, which: number): Chunk<One> {
  return which === 0 ? list : list.more![which - 1]! // callers pass a chunk of the list
}

/** The first chunk whose last position is not before this position; the number of chunks when every chunk ends before. */
function whichChunk<One extends Entry>(list: Sorted<One>, at: number, id: string): number {
  let low = 0
  let high = chunksOf(list)
  while (low < high) {
    const middle = (low + high) >>> 1
    const chunk = chunkAt(list, middle)
    if (isBefore(chunk, chunk.all.length - 1, at, id)) low = middle + 1
    else high = middle
  }
  return low
}

/** The first index whose position is not before this position. */
function indexIn<One extends Entry>(chunk: Chunk<One>, at: number, id: string): number {
  let low = chunk.from
  let high = chunk.all.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(chunk, middle, at, id)) low = middle + 1
    else high = middle
  }
  return low
}

function positionIn<One extends Entry>({ ats, all }: Chunk<One>, index: number): Position<One> {
  return [ats[index]!, all[index]!] // callers pass an index of the chunk
}

/** Whether the position at an index of the chunk comes before this position. */
function isBefore<One extends Entry>({ ats, all }: Chunk<One>, index: number, at: number, id: string): boolean {
  return ats[index]! < at || (ats[index] === at && idOf(all[index]!) < id)
}

function isAt<One extends Entry>({ ats, all }: Chunk<One>, index: number, at: number, one: One): boolean {
  return all[index] === one && ats[index] === at
}
