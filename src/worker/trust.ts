import type { Claim } from '../contracts/queue.ts'

const mostWatched = 2000
const mostProven = 10_000
const silentAfterMs = 500
const soonMs = 5
const leastGapMs = 5
const mostGapMs = 25

type Kind = 'suspect' | 'stranger'

/** Being tried; known to have a job due, since there was no slot for it or its last try failed; neither. */
type Standing = 'tried' | 'known' | 'other'

interface Watched {
  readonly group: string
  kind: Kind
  standing: Standing
  triedAt: number
  /** Slots in use. */
  slots: number
}

/**
 * Which endpoints may have many requests in flight at once. One that is watched gets one at a time. It is a suspect when
 * its last try timed out or could not connect, or when its first has had no answer for half a second: such ones have a
 * quarter of the slots together. It is a stranger until it has ended a first try here: such ones have a quarter too, and
 * never the last one. Were strangers trusted at once, a few silent ones would fill all slots; were they not suspected
 * soon, all other strangers, that is everybody after a start, would wait for their timeouts.
 */
export interface Trust {
  /**
   * Chooses the watched endpoints that the next claim may take a job of; adds those to `changed` of which `slotsOf` answers
   * something else by that. `paced`: suspects get their turn a few at a time.
   */
  choose(now: number, paced: boolean, changed: Set<string>): void
  /** How many slots of an endpoint a claim is to take for busy. */
  slotsOf(group: string): number
  /** Leaves out claims beyond those shares: many may have come in one answer. */
  within(claims: readonly Claim[], now: number): { taken: Claim[]; surplus: Claim[] }
  /** Whether an endpoint is watched, so that its requests come after those of others. */
  watches(group: string): boolean
  /** Milliseconds until a stranger that is being tried would become a suspect. */
  untilSilent(now: number): number
  /** Learns how a try ended; answers whether the endpoint may have more requests now than before. */
  judge(group: string, unresponsive: boolean, now: number): boolean
  /** Learns that a slot of an endpoint is free. */
  vacated(group: string): void
  /** Milliseconds until a job of one that is watched may be claimed, as far as is known; null when none is due, or there is no slot. */
  untilNext(now: number): number | null
}

/** @param busy slots in use, by endpoint. */
export function trust(
  { concurrency, perEndpoint }: { readonly concurrency: number; readonly perEndpoint: number },
  busy: ReadonlyMap<string, number>,
): Trust {
  const watched = new Map<string, Watched>()
  const proven = new Set<string>()
  /** The watched by what is asked of them all the time, and the slots they use: a claim looks at none but those it is for. */
  const suspects = side()
  const strangers = side()
  /**
   * As many of those that are known to have a job due go at once, lest requests of others wait until all have been made;
   * when there is room for more than those, one turn may bring many. Suspects go so far apart as fills their slots while a
   * try takes what the last ones took: were all tried together, their timeouts would come together too, again and again.
   */
  const suspectsAtOnce = Math.max(concurrency / 64, 1)
  const strangersAtOnce = Math.max(concurrency / 8, 1)
  let asked = new Set<string>()
  let suspectsAskedAt = -Infinity
  /** Of late, how long the tries of suspects took. */
  let tookMs = 0

  function sideOf({ kind }: Watched): Side {
    return kind === 'suspect' ? suspects : strangers
  }

  function watch(group: string, kind: Kind, triedAt: number): Watched {
    const slots = busy.get(group) ?? 0
    const one: Watched = { group, kind, standing: slots > 0 ? 'tried' : 'other', triedAt, slots }
    watched.set(group, one)
    enter(one)
    return one
  }

  function unwatch(one: Watched): void {
    watched.delete(one.group)
    leave(one)
  }

  function move(
    one: Watched,
    to: { readonly kind?: Kind; readonly standing?: Standing; readonly slots?: number },
  ): void {
    leave(one)
    one.kind = to.kind ?? one.kind
    one.standing = to.standing ?? one.standing
    one.slots = to.slots ?? one.slots
    enter(one)
  }

  function enter(one: Watched): void {
    const its = sideOf(one)
    its[one.standing].add(one)
    its.slots += one.slots
  }

  function leave(one: Watched): void {
    const its = sideOf(one)
    its[one.standing].delete(one)
    its.slots -= one.slots
  }

  function room(): Record<Kind, number> {
    return {
      suspect: concurrency / 4 - suspects.slots,
      stranger: Math.min(concurrency / 4, (concurrency * 3) / 4 - suspects.slots) - strangers.slots,
    }
  }

  /**
   * Asks for as many as have room of those that are known to have a job due, oldest first, and for as many of the others in
   * turn; for all of the others when the room is more than those need. A claim need not fetch a job of each to take one.
   */
  function ask({ known, other }: Side, left: number, most: number): void {
    most = Math.ceil(Math.max(Math.min(left, most), 0))
    for (const { group } of firstOf(known, most)) asked.add(group)
    const inTurn = left <= known.size && most < other.size
    for (const one of inTurn ? firstOf(other, most) : other) {
      asked.add(one.group)
      if (!inTurn) continue
      other.delete(one)
      other.add(one)
    }
  }

  /** How many suspects may go now, and how far apart their turns are. */
  function pace(now: number): { most: number; gapMs: number } {
    const gapMs = Math.min(Math.max(tookMs / (concurrency / 4), leastGapMs), mostGapMs)
    return { most: Math.min(Math.round((now - suspectsAskedAt) / gapMs), suspectsAtOnce), gapMs }
  }

  function suspectTheSilent(now: number): void {
    for (const one of strangers.tried) {
      if (now - one.triedAt < silentAfterMs || sizeOf(suspects) >= mostWatched) return
      move(one, { kind: 'suspect' })
    }
  }

  return {
    choose(now, paced, changed) {
      suspectTheSilent(now)
      for (const group of asked) changed.add(group)
      asked = new Set()
      const left = room()
      const most = paced ? pace(now).most : suspectsAtOnce
      if (most > 0) ask(suspects, left.suspect, most)
      if (asked.size > 0) suspectsAskedAt = now
      ask(strangers, left.stranger, strangersAtOnce)
      for (const group of asked) changed.add(group)
    },

    slotsOf(group) {
      if (!watched.has(group)) return busy.get(group) ?? 0
      return asked.has(group) ? Math.max(perEndpoint - 1, 0) : perEndpoint
    },

    within(claims, now) {
      for (const group of asked) {
        const one = watched.get(group)
        if (one?.standing === 'known') move(one, { standing: 'other' })
      }
      for (const { group } of claims) {
        if (proven.has(group) || watched.has(group)) continue
        if (sizeOf(strangers) < mostWatched) watch(group, 'stranger', now)
      }
      const left = room()
      const taken: Claim[] = []
      const surplus: Claim[] = []
      for (const claim of claims) {
        const one = watched.get(claim.group)
        if (one === undefined) {
          taken.push(claim)
        } else if (one.slots > 0) {
          surplus.push(claim)
        } else if (left[one.kind] <= 0) {
          surplus.push(claim)
          if (one.standing !== 'known') move(one, { standing: 'known' })
        } else {
          left[one.kind]--
          one.triedAt = now
          move(one, { standing: 'tried', slots: 1 })
          taken.push(claim)
        }
      }
      return { taken, surplus }
    },

    watches: (group) => watched.has(group),

    vacated(group) {
      const one = watched.get(group)
      if (one === undefined) return
      if (one.slots === 1) return move(one, { standing: 'known', slots: 0 })
      one.slots--
      sideOf(one).slots--
    },

    untilNext(now) {
      const left = room()
      if (strangers.known.size > 0 && left.stranger > 0) return soonMs
      if (suspects.known.size > 0 && left.suspect > 0) return Math.max(suspectsAskedAt + pace(now).gapMs - now, soonMs)
      return null
    },

    untilSilent(now) {
      for (const { triedAt } of strangers.tried) return Math.max(triedAt + silentAfterMs - now, 1) // the first is the oldest
      return Infinity
    },

    judge(group, unresponsive, now) {
      const one = watched.get(group)
      if (one?.kind === 'suspect') tookMs += (now - one.triedAt - tookMs) / 4
      if (unresponsive) {
        proven.delete(group)
        if (one?.kind === 'suspect') return false
        if (one !== undefined) unwatch(one)
        if (sizeOf(suspects) < mostWatched) watch(group, 'suspect', one?.triedAt ?? now)
        return false
      }
      // Those that are forgotten prove themselves anew.
      if (proven.size >= mostProven) proven.clear()
      proven.add(group)
      if (one !== undefined) unwatch(one)
      return one !== undefined
    },
  }
}

/** The watched of one kind. Each set is in the order in which they came to stand there. */
interface Side extends Record<Standing, Set<Watched>> {
  slots: number
}

function side(): Side {
  return { tried: new Set(), known: new Set(), other: new Set(), slots: 0 }
}

function sizeOf({ tried, known, other }: Side): number {
  return tried.size + known.size + other.size
}

function firstOf<T>(all: ReadonlySet<T>, count: number): T[] {
  const found: T[] = []
  for (const one of all) {
    if (found.length >= count) break
    found.push(one)
  }
  return found
}
