import { mayTake } from '../core/share.ts'

export type Kind = 'slow' | 'new'

/** An endpoint that gets one request at a time. */
export interface Watched {
  readonly group: string
  readonly workspace: string
  readonly kind: Kind
  /** When its last try began, on the monotonic clock. */
  readonly triedAt: number
  /** Slots in use: more than one where an endpoint became slow while it had several requests in flight. */
  readonly slots: number
  /** Whether a job is known to wait: a claim brought one for which there was no slot, or a try has just ended. */
  readonly isWaiting: boolean
}

/** The watched endpoints, and the slots that those of each kind may use together. */
export interface Watchlist {
  get(group: string): Watched | undefined
  groups(): Iterable<string>
  count(kind: Kind): number
  /** Adds an endpoint, or changes what is known of it. */
  put(one: Watched): void
  remove(group: string): void
  /** Endpoints with a request in flight, the one that was tried first in front. */
  tried(kind: Kind): Iterable<Watched>
  /** Slots of a kind that are free, and those that a workspace uses. */
  free(kind: Kind): number
  slotsOf(kind: Kind, workspace: string): number
  /** Whether an endpoint with a waiting job may be tried now. */
  mayTry(kind: Kind): boolean
  /**
   * Up to `most` endpoints with a waiting job, in turns by workspace, and as many of which that is not known; all of those
   * where there is room for more than the waiting ones need.
   */
  choose(kind: Kind, most: number): readonly string[]
  /** Learns that an endpoint was chosen and no job of it came. */
  foundNothing(group: string): void
}

/** One kind: each endpoint stands in one of the three. */
interface Part {
  readonly tried: Set<Watched>
  /** By workspace, in the order of their turns. */
  readonly waiting: Map<string, Set<Watched>>
  readonly others: Set<Watched>
  readonly slots: Map<string, number>
  used: number
  count: number
}

export function watchlist(most: Readonly<Record<Kind, number>>): Watchlist {
  const byGroup = new Map<string, Watched>()
  const parts: Readonly<Record<Kind, Part>> = { slow: emptyPart(), new: emptyPart() }

  const free = (kind: Kind): number => most[kind] - parts[kind].used
  const slotsOf = (kind: Kind, workspace: string): number => parts[kind].slots.get(workspace) ?? 0

  function remove(group: string): void {
    const one = byGroup.get(group)
    if (one === undefined) return
    byGroup.delete(group)
    leave(parts[one.kind], one)
  }

  function put(one: Watched): void {
    remove(one.group)
    byGroup.set(one.group, one)
    enter(parts[one.kind], one)
  }

  /** The next waiting endpoint of each workspace in turn, and again, while the shares allow it. */
  function* waitingInTurns(kind: Kind): Generator<Watched, void> {
    const { waiting } = parts[kind]
    const places = Array.from(waiting, ([workspace, ones]) => ({ workspace, rest: ones.values(), chosen: 0 }))
    let chosen = 0
    for (let before = -1; before < chosen;) {
      before = chosen
      for (const place of places) {
        if (!mayTake(slotsOf(kind, place.workspace) + place.chosen, free(kind) - chosen)) continue
        const { value, done } = place.rest.next()
        if (done === true) continue
        place.chosen++
        chosen++
        yield value
      }
    }
  }

  function choose(kind: Kind, atMost: number): readonly string[] {
    const { waiting, others, count, tried } = parts[kind]
    const left = Math.min(atMost, free(kind))
    if (left < 1) return []
    const chosen: string[] = []
    for (const one of waitingInTurns(kind)) {
      if (chosen.length >= left) break
      chosen.push(one.group)
      const ones = waiting.get(one.workspace)! // it came from there
      waiting.delete(one.workspace)
      waiting.set(one.workspace, ones) // its next turn comes after that of all others
    }
    const waits = count - tried.size - others.size
    for (const one of free(kind) > waits ? [...others] : firstOf(others, left)) {
      chosen.push(one.group)
      others.delete(one)
      others.add(one)
    }
    return chosen
  }

  return {
    get: (group) => byGroup.get(group),
    groups: () => byGroup.keys(),
    count: (kind) => parts[kind].count,
    put,
    remove,
    tried: (kind) => parts[kind].tried,
    free,
    slotsOf,
    choose,
    mayTry(kind) {
      for (const workspace of parts[kind].waiting.keys()) {
        if (mayTake(slotsOf(kind, workspace), free(kind))) return true
      }
      return false
    },
    foundNothing(group) {
      const one = byGroup.get(group)
      if (one?.isWaiting === true) put({ ...one, isWaiting: false })
    },
  }
}

function emptyPart(): Part {
  return { tried: new Set(), waiting: new Map(), others: new Set(), slots: new Map(), used: 0, count: 0 }
}

function enter(part: Part, one: Watched): void {
  part.count++
  if (one.slots > 0) {
    part.tried.add(one)
    part.used += one.slots
    part.slots.set(one.workspace, (part.slots.get(one.workspace) ?? 0) + one.slots)
  } else if (one.isWaiting) {
    const ones = part.waiting.get(one.workspace)
    if (ones === undefined) part.waiting.set(one.workspace, new Set([one]))
    else ones.add(one)
  } else part.others.add(one)
}

function leave(part: Part, one: Watched): void {
  part.count--
  if (one.slots > 0) {
    part.tried.delete(one)
    part.used -= one.slots
    const left = part.slots.get(one.workspace)! - one.slots // it was counted when it entered
    if (left > 0) part.slots.set(one.workspace, left)
    else part.slots.delete(one.workspace)
  } else if (one.isWaiting) {
    const ones = part.waiting.get(one.workspace)
    ones?.delete(one)
    if (ones?.size === 0) part.waiting.delete(one.workspace)
  } else part.others.delete(one)
}

function firstOf<T>(all: ReadonlySet<T>, count: number): T[] {
  const found: T[] = []
  for (const one of all) {
    if (found.length >= count) break
    found.push(one)
  }
  return found
}
