import type { Claim } from '../contracts/queue.ts'

const mostWatched = 2000
const mostProven = 10_000
const silentAfterMs = 500
const soonMs = 5
const leastGapMs = 5
const mostGapMs = 25

type Kind = 'suspect' | 'stranger'

/**
 * Which endpoints may have many requests in flight at once. One that is watched gets one at a time. It is a suspect when
 * its last try timed out or could not connect, or when its first has had no answer for half a second: such ones have a
 * quarter of the slots together. It is a stranger until it has ended a first try here: such ones have a quarter too, and
 * never the last one. Were strangers trusted at once, a few silent ones would fill all slots; were they not suspected
 * soon, all other strangers, that is everybody after a start, would wait for their timeouts.
 */
export interface Trust {
  /** Writes what a claim is to take for the busy slots of each watched endpoint; `paced`: suspects get their turn a few at a time. */
  restrict(slots: Record<string, number>, now: number, paced: boolean): void
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
  /** Both with the time at which each was tried last. */
  const suspects = new Map<string, number>()
  const strangers = new Map<string, number>()
  const proven = new Set<string>()
  /**
   * Watched endpoints that have a job due, as far as is known: there was no slot for it, or their last try failed. A claim
   * asks for as many of them as there are slots, so that it need not fetch a job of each to take one.
   */
  const waiting = new Set<string>()
  /**
   * As many of those that are known to wait go at once, lest requests of others wait until all have been made; when there
   * is room for more than wait, one turn may bring many. Suspects go so far apart as fills their slots while a try takes
   * what the last ones took: were all tried together, their timeouts would come together too, again and again.
   */
  const atOnce: Readonly<Record<Kind, number>> = {
    suspect: Math.max(concurrency / 64, 1),
    stranger: Math.max(concurrency / 8, 1),
  }
  const turn: Record<Kind, number> = { suspect: 0, stranger: 0 }
  let lastAsked: readonly string[] = []
  let suspectsAskedAt = -Infinity
  /** Of late, how long the tries of suspects took. */
  let tookMs = 0

  function slotsOf(groups: ReadonlyMap<string, number>): number {
    let slots = 0
    if (groups.size < busy.size) for (const group of groups.keys()) slots += busy.get(group) ?? 0
    else for (const [group, count] of busy) if (groups.has(group)) slots += count
    return slots
  }

  function room(): Record<Kind, number> {
    const ofSuspects = slotsOf(suspects)
    const ofStrangers = slotsOf(strangers)
    return {
      suspect: concurrency / 4 - ofSuspects,
      stranger: Math.min(concurrency / 4, (concurrency * 3) / 4 - ofSuspects) - ofStrangers,
    }
  }

  /**
   * Whom the next claim may take a job of, if there is room for so many: as many of those that are known to wait, oldest
   * first, and as many of the others in turn; all of the others when the room is more than those wait for.
   */
  function asked(kind: Kind, groups: ReadonlyMap<string, number>, left: number, most: number): string[] {
    const known: string[] = []
    for (const group of waiting) if (kindOf(group) === kind && !busy.has(group)) known.push(group)
    const others: string[] = []
    for (const group of groups.keys()) if (!waiting.has(group) && !busy.has(group)) others.push(group)
    most = Math.ceil(Math.max(Math.min(left, most), 0))
    if (left <= known.length && most < others.length) {
      const from = turn[kind] % others.length
      turn[kind] = from + most
      others.push(...others.splice(0, from))
      others.length = most
    }
    return [...known.slice(0, most), ...others]
  }

  /** How many suspects may go now, and how far apart their turns are. */
  function pace(now: number): { most: number; gapMs: number } {
    const gapMs = Math.min(Math.max(tookMs / (concurrency / 4), leastGapMs), mostGapMs)
    return { most: Math.min(Math.round((now - suspectsAskedAt) / gapMs), atOnce.suspect), gapMs }
  }

  function kindOf(group: string): Kind | null {
    return suspects.has(group) ? 'suspect' : strangers.has(group) ? 'stranger' : null
  }

  function suspectTheSilent(now: number): void {
    for (const [group, triedAt] of strangers) {
      if (!busy.has(group) || now - triedAt < silentAfterMs || suspects.size >= mostWatched) continue
      strangers.delete(group)
      suspects.set(group, triedAt)
    }
  }

  return {
    vacated(group) {
      if (kindOf(group) !== null) waiting.add(group)
    },

    untilNext(now) {
      if (waiting.size === 0) return null
      const left = room()
      if (left.suspect <= 0 && left.stranger <= 0) return null
      let next: number | null = null
      for (const group of waiting) {
        const kind = kindOf(group)
        if (kind === null || left[kind] <= 0 || busy.has(group)) continue
        if (kind === 'stranger') return soonMs
        next = Math.max(suspectsAskedAt + pace(now).gapMs - now, soonMs)
      }
      return next
    },

    restrict(slots, now, paced) {
      suspectTheSilent(now)
      for (const group of waiting) if (kindOf(group) === null) waiting.delete(group)
      const left = room()
      for (const group of suspects.keys()) slots[group] = perEndpoint
      for (const group of strangers.keys()) slots[group] = perEndpoint
      const most = paced ? pace(now).most : atOnce.suspect
      const askedSuspects = most <= 0 ? [] : asked('suspect', suspects, left.suspect, most)
      if (askedSuspects.length > 0) suspectsAskedAt = now
      lastAsked = [...askedSuspects, ...asked('stranger', strangers, left.stranger, atOnce.stranger)]
      for (const group of lastAsked) slots[group] = Math.max(perEndpoint - 1, 0)
    },

    within(claims, now) {
      for (const group of lastAsked) waiting.delete(group)
      for (const { group } of claims) {
        if (proven.has(group) || kindOf(group) !== null) continue
        if (strangers.size < mostWatched) strangers.set(group, now)
      }
      const left = room()
      const chosen = new Set<string>()
      const taken: Claim[] = []
      const surplus: Claim[] = []
      for (const one of claims) {
        const { group } = one
        const kind = kindOf(group)
        if (kind === null) {
          taken.push(one)
        } else if (busy.has(group) || chosen.has(group)) {
          surplus.push(one)
        } else if (left[kind] <= 0) {
          surplus.push(one)
          waiting.add(group)
        } else {
          left[kind]--
          chosen.add(group)
          ;(kind === 'stranger' ? strangers : suspects).set(group, now)
          taken.push(one)
        }
      }
      return { taken, surplus }
    },

    watches: (group) => kindOf(group) !== null,

    untilSilent(now) {
      let least = Infinity
      for (const [group, triedAt] of strangers) {
        if (busy.has(group)) least = Math.min(least, triedAt + silentAfterMs - now)
      }
      return Math.max(least, 1)
    },

    judge(group, unresponsive, now) {
      const suspectedAt = suspects.get(group)
      const triedAt = suspectedAt ?? strangers.get(group)
      if (suspectedAt !== undefined) tookMs += (now - suspectedAt - tookMs) / 4
      strangers.delete(group)
      if (unresponsive) {
        proven.delete(group)
        if (suspects.size < mostWatched) suspects.set(group, triedAt ?? now)
        return false
      }
      // Those that are forgotten prove themselves anew.
      if (proven.size >= mostProven) proven.clear()
      proven.add(group)
      suspects.delete(group)
      return triedAt !== undefined
    },
  }
}
