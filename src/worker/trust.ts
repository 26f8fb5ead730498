import type { Claim } from '../contracts/queue.ts'

const mostWatched = 2000
const mostProven = 10_000

/**
 * Which endpoints may have many requests in flight at once. One that is watched gets one at a time: because its last try
 * timed out or could not connect, such ones together at most half of the slots; or because it has yet to end a first try
 * here, a quarter of the slots together. Were strangers trusted at once, a few silent ones would fill all slots.
 */
export interface Trust {
  /** What a claim is to take for the busy slots of each watched endpoint. */
  restrictions(): Readonly<Record<string, number>>
  /** Leaves out claims beyond those shares: many may have come in one answer. */
  within(claims: readonly Claim[]): { taken: Claim[]; surplus: Claim[] }
  /** Learns how a try ended; answers whether the endpoint may have more requests now than before. */
  judge(group: string, unresponsive: boolean): boolean
  /** Whether any endpoint is watched. */
  watches(): boolean
}

/** @param busy slots in use, by endpoint. */
export function trust(
  { concurrency, perEndpoint }: { readonly concurrency: number; readonly perEndpoint: number },
  busy: ReadonlyMap<string, number>,
): Trust {
  const suspects = new Set<string>()
  const strangers = new Set<string>()
  const proven = new Set<string>()
  const shares = [
    { groups: suspects, slots: concurrency / 2 },
    { groups: strangers, slots: concurrency / 4 },
  ]

  function slotsOf(groups: ReadonlySet<string>): number {
    let slots = 0
    if (groups.size < busy.size) for (const group of groups) slots += busy.get(group) ?? 0
    else for (const [group, count] of busy) if (groups.has(group)) slots += count
    return slots
  }

  return {
    watches: () => suspects.size + strangers.size > 0,

    restrictions() {
      const answer: Record<string, number> = {}
      for (const { groups, slots } of shares) {
        const full = slotsOf(groups) >= slots
        for (const group of groups) {
          answer[group] = full ? perEndpoint : Math.max(perEndpoint - 1, 0) + (busy.get(group) ?? 0)
        }
      }
      return answer
    },

    within(claims) {
      for (const { group } of claims) {
        if (!proven.has(group) && !suspects.has(group) && strangers.size < mostWatched) strangers.add(group)
      }
      const room = new Map(shares.map(({ groups, slots }) => [groups, slots - slotsOf(groups)]))
      const chosen = new Set<string>()
      const taken: Claim[] = []
      const surplus: Claim[] = []
      for (const one of claims) {
        const groups = suspects.has(one.group) ? suspects : strangers.has(one.group) ? strangers : null
        if (groups === null) {
          taken.push(one)
          continue
        }
        const left = room.get(groups) ?? 0
        if (left <= 0 || busy.has(one.group) || chosen.has(one.group)) {
          surplus.push(one)
          continue
        }
        room.set(groups, left - 1)
        chosen.add(one.group)
        taken.push(one)
      }
      return { taken, surplus }
    },

    judge(group, unresponsive) {
      const watched = suspects.has(group) || strangers.has(group)
      strangers.delete(group)
      if (unresponsive) {
        proven.delete(group)
        if (suspects.size < mostWatched) suspects.add(group)
        return false
      }
      // Those that are forgotten prove themselves anew.
      if (proven.size >= mostProven) proven.clear()
      proven.add(group)
      suspects.delete(group)
      return watched
    },
  }
}
