import type { Counts, Grouping, StatisticsRow } from '../contracts/storage/statistics.ts'
import type { StatsGroup } from '../schema/stats.ts'
import { addCounts, noCounts, volumeOf } from './counts.ts'

/** A stored sum, as a query finds it. */
export interface FoundSum {
  readonly workspaceId: string
  readonly time: number
  readonly endpoint_id: string
  readonly event_type: string
  readonly counts: Counts
}

/** Adds sums up by time and group, for engines that cannot do it themselves. */
export class GroupedSums {
  readonly #grouping: Grouping | null
  readonly #named: ReadonlySet<string>
  readonly #rows = new Map<string, StatisticsRow>()

  constructor(grouping: Grouping | null) {
    this.#grouping = grouping
    this.#named = new Set(grouping?.names)
  }

  add(found: FoundSum): void {
    const name = this.#grouping === null ? null : groupOf(this.#grouping.by, found)
    const group = name === null || this.#named.has(name) ? name : '*'
    const key = `${found.time} ${group}`
    let row = this.#rows.get(key)
    if (row === undefined) this.#rows.set(key, (row = { time: found.time, group, counts: noCounts() }))
    addCounts(row.counts, found.counts)
  }

  rows(): StatisticsRow[] {
    return [...this.#rows.values()]
  }
}

/** The number of attempts of each group. */
export class GroupVolumes {
  readonly #by: StatsGroup
  readonly #volumes = new Map<string, number>()

  constructor(by: StatsGroup) {
    this.#by = by
  }

  add(found: FoundSum): void {
    const group = groupOf(this.#by, found)
    this.#volumes.set(group, (this.#volumes.get(group) ?? 0) + volumeOf(found.counts))
  }

  /** The names of the largest groups, the largest first. */
  largest(limit: number): string[] {
    const inOrder = [...this.#volumes].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    return inOrder.slice(0, limit).map(([group]) => group)
  }
}

function groupOf(by: StatsGroup, { workspaceId, endpoint_id, event_type }: FoundSum): string {
  return by === 'workspace' ? workspaceId : by === 'endpoint' ? endpoint_id : event_type
}
