import type { Bounds, ConfigPlan, Violation } from '../../src/contracts/storage/configuration.ts'
import { countsAfter, fullViolation } from '../../src/core/capacity.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { Source } from '../../src/schema/source.ts'
import type { Kind, Rows } from './rows.ts'

/** What stands in the way of a plan, and what it is judged by, as of one moment. */
export interface PlanContext {
  /** The workspace's; null when it is not there. */
  readonly revision: number | null
  /** Rows that the plan names, by id; `mine` are those of the workspace. */
  readonly rows: Readonly<Record<Kind, ReadonlyMap<string, PlanContextRow>>>
  /** Who holds keys of the plan, by the text of the key: a row's id, or null for a row of another workspace. */
  readonly holders: ReadonlyMap<string, string | null>
  /** Plugins of owners that the plan removes. */
  readonly orphans: ReadonlySet<string>
  /** What the workspace has. */
  readonly counts: Bounds
}

export interface PlanContextRow {
  readonly mine: boolean
  readonly revision: number
  /** Event patterns of an endpoint; 0 of others. */
  readonly patterns: number
}

/** What the workspace has once all of the plan was written. */
export function countsOnceWritten(plan: ConfigPlan, { counts, rows, orphans }: PlanContext): Bounds {
  const mine = (kind: Kind, id: string): PlanContextRow | undefined => {
    const row = rows[kind].get(id)
    return row?.mine === true ? row : undefined
  }
  return countsAfter(plan, {
    counts,
    // An orphan is the workspace's, and was not looked for by its id.
    has: (kind, id) => mine(kind, id) !== undefined || (kind === 'plugins' && orphans.has(id)),
    patternsOf: (id) => mine('endpoints', id)?.patterns ?? 0,
    orphans,
  })
}

/** A unique key, as messages show it. */
export type Key = Readonly<Record<string, string>>

/** The unique keys that a row holds. */
export function keysOf<K extends Kind>(workspaceId: string, kind: K, row: Rows[K]): Key[] {
  if (kind === 'plugins') {
    const { name, endpoint_id, source_id } = row as Plugin // the kind says so
    return [
      ...(endpoint_id === null ? [] : [{ endpoint_id, name }]),
      ...(source_id === null ? [] : [{ source_id, name }]),
    ]
  }
  const keys: Key[] = row.name === null ? [] : [{ ws_id: workspaceId, name: row.name }]
  if (kind === 'sources' && row.enabled) {
    for (const { method, path } of routesOf(row as Source)) keys.push({ method, path }) // the kind says so
  }
  return keys
}

export function routesOf({ config }: Source): { method: string; path: string }[] {
  return [...new Set(config.http.methods)].map((method) => ({ method, path: config.http.path }))
}

/** The text by which keys are compared. */
export function keyText(kind: Kind, key: Key): string {
  return JSON.stringify([kind, ...Object.entries(key).toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

/** The first rule that would be broken once all of the plan was written. */
export function violationOf(plan: ConfigPlan, seen: PlanContext): Violation | null {
  return (
    keyViolation('endpoints', plan, seen) ??
    keyViolation('sources', plan, seen) ??
    ownerViolation(plan, seen) ??
    keyViolation('plugins', plan, seen) ??
    fullViolation(plan, seen.counts, countsOnceWritten(plan, seen))
  )
}

function keyViolation(kind: Kind, plan: ConfigPlan, { rows, holders, orphans }: PlanContext): Violation | null {
  const { put, remove } = plan[kind]
  // What is replaced or goes lets go of its keys.
  const letGo = new Set([...remove, ...put.map(({ id }) => id), ...(kind === 'plugins' ? orphans : [])])
  const claimed = new Set<string>()
  for (const row of put) {
    if (rows[kind].get(row.id)?.mine === false) return { kind: 'unique', key: { id: row.id } }
    for (const key of keysOf(plan.workspaceId, kind, row)) {
      const text = keyText(kind, key)
      const holder = holders.get(text)
      const held = holder === null || (holder !== undefined && !letGo.has(holder))
      if (held || claimed.has(text)) return { kind: 'unique', key }
      claimed.add(text)
    }
  }
  return null
}

/** The first plugin whose owner would then not be in the workspace. */
function ownerViolation(plan: ConfigPlan, { rows }: PlanContext): Violation | null {
  const stands = (kind: 'endpoints' | 'sources', id: string) =>
    plan[kind].put.some((row) => row.id === id) ||
    (rows[kind].get(id)?.mine === true && !plan[kind].remove.includes(id))
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
