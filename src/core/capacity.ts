import type { Bounds, ConfigPlan, Violation } from '../contracts/storage/configuration.ts'
import { type Kind, kinds } from './row-plan.ts'

/** How many rows of each bounded kind a workspace has at one moment, and which of these rows a plan touches. */
export interface Held {
  readonly counts: Bounds
  /** Whether the workspace has that row. */
  has(kind: Kind, id: string): boolean
  /** The number of event patterns of an endpoint of the workspace; 0 when it does not exist. */
  patternsOf(endpointId: string): number
  /** Plugins of owners that the plan removes. */
  readonly orphans: Iterable<string>
}

/** What the workspace has once all of a plan was written. */
export function countsAfter(plan: ConfigPlan, { counts, has, patternsOf, orphans }: Held): Bounds {
  const after = { ...counts }
  for (const kind of kinds) {
    const put = new Set(plan[kind].put.map(({ id }) => id))
    const gone = new Set([...plan[kind].remove, ...(kind === 'plugins' ? orphans : [])])
    for (const id of put) if (!has(kind, id)) after[kind]++
    for (const id of gone) if (!put.has(id) && has(kind, id)) after[kind]--
    if (kind !== 'endpoints') continue
    for (const id of new Set([...put, ...gone])) after.patterns -= patternsOf(id)
  }
  for (const { events } of plan.endpoints.put) after.patterns += events.length
  return after
}

/** The first bound that a plan would overstep. What is beyond a bound already may stay and shrink. */
export function fullViolation({ bounds }: ConfigPlan, before: Bounds, after: Bounds): Violation | null {
  if (bounds === undefined) return null
  for (const of of [...kinds, 'patterns'] as const) {
    if (after[of] > bounds[of] && after[of] > before[of]) return { kind: 'full', of, max: bounds[of] }
  }
  return null
}
