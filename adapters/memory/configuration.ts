import type { Bounds, ConfigPlan, Route, Violation } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { countsAfter, fullViolation } from '../../src/core/capacity.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { Source } from '../../src/schema/source.ts'
import { type Access, type Kept, raise, raiseRoutes, type Room, roomOf, type State } from './state.ts'
import { add, ascending, remove, sorted, type Sorted } from './sorted.ts'

export type Kind = 'endpoints' | 'sources' | 'plugins'
export interface Rows {
  endpoints: Endpoint
  sources: Source
  plugins: Plugin
}
type Key = Readonly<Record<string, string>>

/** What delivery and the gateway read, and the config sync. Every write of configuration ends in `applyPlan`. */
export function memoryConfiguration(access: Access): Pick<Storage, 'configuration' | 'routes' | 'applyConfig'> {
  return {
    configuration: (workspaceId) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        if (room === undefined) return null
        return {
          workspace: structuredClone(room.row),
          revision: room.revision,
          endpoints: rowsOf(state.endpoints, room.endpoints),
          sources: rowsOf(state.sources, room.sources),
          plugins: rowsOf(state.plugins, room.plugins),
        }
      }),

    routes: () =>
      access.read((state) => {
        const routes: Route[] = []
        for (const { room, row } of state.sources.values()) {
          if (!row.enabled) continue
          const { path, methods } = row.config.http
          routes.push({ workspaceId: room.row.id, sourceId: row.id, path, methods: [...methods] })
        }
        return { revision: state.routesRevision, routes }
      }),

    applyConfig: (plan, from) =>
      access.write((state) => {
        const room = roomOf(state, plan.workspaceId)
        if (room === undefined || room.revision !== from) return 'conflict'
        return applyPlan(state, room, plan) ?? 'applied'
      }),
  }
}

/** A plan for one row, or one deletion. */
export function planFor<K extends Kind>(
  room: Room,
  kind: K,
  put: readonly Rows[K][],
  removed: readonly string[],
  bounds?: Bounds,
): ConfigPlan {
  const nothing = { put: [], remove: [] }
  return {
    workspaceId: room.row.id,
    endpoints: nothing,
    sources: nothing,
    plugins: nothing,
    [kind]: { put, remove: removed },
    bounds,
  }
}

/** Writes a plan, unless a rule would be broken once all of it was written: then nothing is. */
export function applyPlan(state: State, room: Room, plan: ConfigPlan): Violation | null {
  const gone = { endpoints: new Set(plan.endpoints.remove), sources: new Set(plan.sources.remove) }
  const orphans = [...ascending(gone.endpoints.size + gone.sources.size > 0 ? room.plugins : sorted())].flatMap(
    ([, id]) => {
      const { endpoint_id, source_id } = state.plugins.get(id)!.row
      return gone.endpoints.has(endpoint_id ?? '') || gone.sources.has(source_id ?? '') ? [id] : []
    },
  )
  const removed = { ...plan, plugins: { ...plan.plugins, remove: [...plan.plugins.remove, ...orphans] } }

  const violation =
    uniqueViolation(state, room, removed, 'endpoints') ??
    uniqueViolation(state, room, removed, 'sources') ??
    ownerViolation(state, room, removed) ??
    uniqueViolation(state, room, removed, 'plugins')
  if (violation !== null) return violation
  const before = {
    endpoints: room.endpoints.size,
    sources: room.sources.size,
    plugins: room.plugins.size,
    patterns: room.patterns,
  }
  const after = countsAfter(plan, {
    counts: before,
    has: (kind, id) => state[kind].get(id)?.room === room,
    patternsOf: (id) => patternsOf(state, room, id),
    orphans,
  })
  const full = fullViolation(plan, before, after)
  if (full !== null) return full

  const revision = raise(state, room)
  for (const kind of ['endpoints', 'sources', 'plugins'] as const) {
    for (const id of removed[kind].remove) forget(state, room, kind, id)
    // What is replaced lets go of its keys first, so that two rows may swap them.
    for (const row of removed[kind].put) forget(state, room, kind, row.id)
    for (const row of removed[kind].put) keep(state, room, kind, row, revision)
  }
  return null
}

/** The first key of the rows to be put that would then be held twice. */
function uniqueViolation(state: State, room: Room, plan: ConfigPlan, kind: Kind): Violation | null {
  const kept: ReadonlyMap<string, Kept<unknown>> = state[kind]
  const letGo = new Set(plan[kind].remove)
  for (const row of plan[kind].put) letGo.add(row.id)
  const claimed = new Set<string>()
  for (const row of plan[kind].put) {
    const there = kept.get(row.id)
    if (there !== undefined && there.room !== room) return { kind: 'unique', key: { id: row.id } }
    for (const key of keysOf(room, kind, row)) {
      const text = keyText(kind, key)
      const holder = state.holders.get(text)
      const taken = holder !== undefined && !(letGo.has(holder) && kept.get(holder)!.room === room)
      if (taken || claimed.has(text)) return { kind: 'unique', key }
      claimed.add(text)
    }
  }
  return null
}

/** The first plugin to be put whose owner would then not be in the workspace. */
function ownerViolation(state: State, room: Room, plan: ConfigPlan): Violation | null {
  const stands = (kind: 'endpoints' | 'sources', id: string) =>
    plan[kind].put.some((row) => row.id === id) ||
    (state[kind].get(id)?.room === room && !plan[kind].remove.includes(id))
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

/** The unique keys that a row of the plan's kind holds, as messages show them. */
function keysOf(room: Room, kind: Kind, row: Endpoint | Source | Plugin): Key[] {
  if (kind === 'plugins') {
    const { name, endpoint_id, source_id } = row as Plugin // the kind says so
    return [
      ...(endpoint_id === null ? [] : [{ endpoint_id, name }]),
      ...(source_id === null ? [] : [{ source_id, name }]),
    ]
  }
  const keys: Key[] = row.name === null ? [] : [{ ws_id: room.row.id, name: row.name }]
  if (kind === 'sources' && row.enabled) {
    const { path, methods } = (row as Source).config.http // the kind says so
    for (const method of new Set(methods)) keys.push({ method, path })
  }
  return keys
}

function keyText(kind: Kind, key: Key): string {
  return JSON.stringify([kind, key])
}

function keep(state: State, room: Room, kind: Kind, row: Endpoint | Source | Plugin, revision: number): void {
  const kept = state[kind] as Map<string, Kept<unknown>> // rows of a plan are of the kind they stand under
  kept.set(row.id, { room, row: structuredClone(row), revision })
  if (kind === 'endpoints') room.patterns += patternsOf(state, room, row.id)
  add(room[kind], [0, row.id])
  for (const key of keysOf(room, kind, row)) state.holders.set(keyText(kind, key), row.id)
  if (kind === 'sources' && row.enabled) raiseRoutes(state)
}

/** Removes a row of the workspace with its keys, if it is there. */
export function forget(state: State, room: Room, kind: Kind, id: string): void {
  const there = state[kind].get(id)
  if (there === undefined || there.room !== room) return
  for (const key of keysOf(room, kind, there.row)) state.holders.delete(keyText(kind, key))
  if (kind === 'endpoints') room.patterns -= patternsOf(state, room, id)
  state[kind].delete(id)
  remove(room[kind], [0, id])
  if (kind === 'sources' && there.row.enabled) raiseRoutes(state)
}

function patternsOf(state: State, room: Room, endpointId: string): number {
  const kept = state.endpoints.get(endpointId)
  return kept?.room === room ? kept.row.events.length : 0
}

function rowsOf<Row>(kept: ReadonlyMap<string, Kept<Row>>, ids: Sorted): { row: Row; revision: number }[] {
  return [...ascending(ids)].map(([, id]) => {
    const { row, revision } = kept.get(id)! // a workspace lists only rows that are there
    return { row: copyOf(row), revision }
  })
}

// One copy for each stored version of a row: each write makes a workspace with thousands of rows be read anew. Who reads a
// configuration changes nothing in it.
const copies = new WeakMap<object, unknown>()

function copyOf<Row>(row: Row): Row {
  const known = copies.get(row as object) as Row | undefined // rows are objects, and a copy has the type of its row
  if (known !== undefined) return known
  const copy = structuredClone(row)
  copies.set(row as object, copy)
  return copy
}
