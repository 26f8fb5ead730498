import type { Bounds, ConfigPlan, Violation } from '../contracts/storage/configuration.ts'
import { countsAfter, fullViolation } from './capacity.ts'
import type { Kind } from './row-plan.ts'
import { type Key, keysOf, keyText } from './unique-keys.ts'

/** What a plan is judged by, as of one moment. `this`: a row of the plan's workspace; `other`: a row of another workspace. */
export interface Surroundings {
  /** Whose row has this id. */
  rowOf(kind: Kind, id: string): 'this' | 'other' | 'none'
  /** The id of the row that holds a unique key; null when the row is another workspace's; undefined when the key is free. */
  holderOf(kind: Kind, key: Key): string | null | undefined
  /** Ids of plugins whose owners the plan removes. */
  readonly orphans: ReadonlySet<string>
  /** What the workspace has. */
  readonly counts: Bounds
  /** The number of event patterns of an endpoint of the workspace; 0 when the workspace has no such endpoint. */
  patternsOf(endpointId: string): number
}

/**
 * The first rule that would be broken once all of a plan was written: unique keys, owners of plugins, then bounds. Memory and
 * PostgreSQL judge by it; the Lua of Redis restates it, and a test holds both against the same cases.
 */
export function violationOf(plan: ConfigPlan, around: Surroundings): Violation | null {
  return (
    keyViolation('endpoints', plan, around) ??
    keyViolation('sources', plan, around) ??
    ownerViolation(plan, around) ??
    keyViolation('plugins', plan, around) ??
    fullViolation(plan, around.counts, countsOnceWritten(plan, around))
  )
}

/** What the workspace has once all of a plan was written. */
export function countsOnceWritten(plan: ConfigPlan, { counts, rowOf, patternsOf, orphans }: Surroundings): Bounds {
  return countsAfter(plan, {
    counts,
    // An orphan is a row of the workspace, though the plan does not name it.
    has: (kind, id) => rowOf(kind, id) === 'this' || (kind === 'plugins' && orphans.has(id)),
    patternsOf,
    orphans,
  })
}

function keyViolation(kind: Kind, plan: ConfigPlan, { rowOf, holderOf, orphans }: Surroundings): Violation | null {
  const { put, remove } = plan[kind]
  // Rows that are replaced or removed let go of their keys.
  const letGo = new Set([...remove, ...put.map(({ id }) => id), ...(kind === 'plugins' ? orphans : [])])
  const claimed = new Set<string>()
  for (const row of put) {
    if (rowOf(kind, row.id) === 'other') return { kind: 'unique', key: { id: row.id } }
    for (const key of keysOf(plan.workspaceId, kind, row)) {
      const holder = holderOf(kind, key)
      const isHeld = holder === null || (holder !== undefined && !letGo.has(holder))
      const text = keyText(kind, key)
      if (isHeld || claimed.has(text)) return { kind: 'unique', key }
      claimed.add(text)
    }
  }
  return null
}

/** The first plugin whose owner would not be in the workspace. */
function ownerViolation(plan: ConfigPlan, { rowOf }: Surroundings): Violation | null {
  const idsOf = ({ put, remove }: ConfigPlan['endpoints' | 'sources']) => ({
    put: new Set(put.map(({ id }) => id)),
    remove: new Set(remove),
  })
  const owners = { endpoints: idsOf(plan.endpoints), sources: idsOf(plan.sources) }
  const stands = (kind: 'endpoints' | 'sources', id: string) =>
    owners[kind].put.has(id) || (rowOf(kind, id) === 'this' && !owners[kind].remove.has(id))
  for (const { endpoint_id, source_id } of plan.plugins.put) {
    if (endpoint_id !== null && !stands('endpoints', endpoint_id)) {
      return { kind: 'foreign_key', key: { endpoint_id }, references: 'endpoints' }
    }
    if (source_id !== null && !stands('sources', source_id)) {
      return { kind: 'foreign_key', key: { source_id }, references: 'sources' }
    }
  }
  return null
}
