import type { ConfigPlan, Configuration, Violation } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { type Surroundings, violationOf } from '../../src/core/configuration-rules.ts'
import { type Kind, kinds, type Rows } from '../../src/core/row-plan.ts'
import { keysOf, keyText } from '../../src/core/unique-keys.ts'
import { copyOf } from './copy.ts'
import { type Access, type Kept, raise, tellRoutes, type Room, roomOf, type State } from './state.ts'
import { add, ascending, entriesOf, remove, sorted, type Sorted } from './sorted.ts'

/** What delivery and the gateway read, and the config sync. Every write of configuration ends in `applyPlan`. */
export function memoryConfiguration(
  access: Access,
): Pick<Required<Storage>, 'configuration' | 'configurationSince' | 'routes' | 'applyConfig'> {
  return {
    configuration: (workspaceId) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        return room === undefined ? null : writtenAfter(state, room, -1)
      }),

    configurationSince: (workspaceId, revision) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        if (room === undefined) return null
        const ids = {
          endpoints: entriesOf(room.endpoints),
          sources: entriesOf(room.sources),
          plugins: entriesOf(room.plugins),
        }
        return { ...writtenAfter(state, room, revision), ids }
      }),

    routes: (keys) =>
      access.read((state) =>
        keys.map(({ path, method }) => {
          const id = state.holders.get(keyText('sources', { path, method }))
          const source = id === undefined ? undefined : state.sources.get(id)
          return source === undefined ? null : { workspaceId: source.room.row.id, sourceId: source.row.id }
        }),
      ),

    applyConfig: (plan, from) =>
      access.write((state) => {
        const room = roomOf(state, plan.workspaceId)
        if (room === undefined || room.revision !== from) return 'conflict'
        return applyPlan(state, room, plan) ?? 'applied'
      }),
  }
}

/** Writes a plan, unless a rule would be broken once all of it was written: then nothing is. */
export function applyPlan(state: State, room: Room, plan: ConfigPlan): Violation | null {
  const orphans = orphansOf(state, room, plan)
  const violation = violationOf(plan, surroundings(state, room, orphans))
  if (violation !== null) return violation

  const revision = raise(state, room)
  for (const kind of kinds) {
    for (const id of plan[kind].remove) forget(state, room, kind, id)
    if (kind === 'plugins') for (const id of orphans) forget(state, room, kind, id)
    // Replaced rows give up their unique keys first, so that two rows may swap keys.
    for (const row of plan[kind].put) forget(state, room, kind, row.id)
    for (const row of plan[kind].put) keep(state, room, kind, row, revision)
  }
  return null
}

/** Ids of plugins whose owners a plan removes. */
function orphansOf(state: State, room: Room, plan: ConfigPlan): ReadonlySet<string> {
  const gone = { endpoints: new Set(plan.endpoints.remove), sources: new Set(plan.sources.remove) }
  const plugins = gone.endpoints.size + gone.sources.size > 0 ? room.plugins : sorted()
  const orphans = [...ascending(plugins)].filter(([, id]) => {
    const { endpoint_id, source_id } = state.plugins.get(id)!.row // a workspace lists only rows that exist
    return gone.endpoints.has(endpoint_id ?? '') || gone.sources.has(source_id ?? '')
  })
  return new Set(orphans.map(([, id]) => id))
}

function surroundings(state: State, room: Room, orphans: ReadonlySet<string>): Surroundings {
  const roomAround = (kind: Kind, id: string): Room | undefined => state[kind].get(id)?.room
  return {
    rowOf(kind, id) {
      const around = roomAround(kind, id)
      return around === undefined ? 'none' : around === room ? 'this' : 'other'
    },
    holderOf(kind, key) {
      const holder = state.holders.get(keyText(kind, key))
      return holder === undefined || roomAround(kind, holder) === room ? holder : null
    },
    orphans,
    counts: {
      endpoints: room.endpoints.size,
      sources: room.sources.size,
      plugins: room.plugins.size,
      patterns: room.patterns,
    },
    patternsOf: (id) => patternsOf(state, room, id),
  }
}

function keep(state: State, room: Room, kind: Kind, row: Rows[Kind], revision: number): void {
  const kept = state[kind] as Map<string, Kept<unknown>> // rows of a plan are of the kind they stand under
  kept.set(row.id, { room, row: copyOf(row), revision })
  if (kind === 'endpoints') room.patterns += patternsOf(state, room, row.id)
  add(room[kind], [0, row.id])
  for (const key of keysOf(room.row.id, kind, row)) state.holders.set(keyText(kind, key), row.id)
  if (kind === 'sources' && row.enabled) tellRoutes(state)
}

/** Removes a row of the workspace and the unique keys of the row, if the row exists. */
export function forget(state: State, room: Room, kind: Kind, id: string): void {
  const there = state[kind].get(id)
  if (there === undefined || there.room !== room) return
  for (const key of keysOf(room.row.id, kind, there.row)) state.holders.delete(keyText(kind, key))
  if (kind === 'endpoints') room.patterns -= patternsOf(state, room, id)
  state[kind].delete(id)
  remove(room[kind], [0, id])
  if (kind === 'sources' && there.row.enabled) tellRoutes(state)
}

function patternsOf(state: State, room: Room, endpointId: string): number {
  const kept = state.endpoints.get(endpointId)
  return kept?.room === room ? kept.row.events.length : 0
}

function writtenAfter(state: State, room: Room, revision: number): Configuration {
  return {
    workspace: copyOf(room.row),
    revision: room.revision,
    endpoints: rowsOf(state.endpoints, room.endpoints, revision),
    sources: rowsOf(state.sources, room.sources, revision),
    plugins: rowsOf(state.plugins, room.plugins, revision),
  }
}

function rowsOf<Row extends object>(
  kept: ReadonlyMap<string, Kept<Row>>,
  ids: Sorted,
  after: number,
): { row: Row; revision: number }[] {
  return entriesOf(ids).flatMap((id) => {
    const { row, revision } = kept.get(id)! // a workspace lists only rows that exist
    return revision > after ? { row: sharedCopyOf(row), revision } : []
  })
}

// One copy for each stored version of a row. After each write the whole configuration is read anew, with thousands of
// rows perhaps. Readers of a configuration change nothing in it, so they may share the copies.
const copies = new WeakMap<object, unknown>()

function sharedCopyOf<Row extends object>(row: Row): Row {
  const copy = (copies.get(row) as Row | undefined) ?? copyOf(row) // a copy has the type of the row
  copies.set(row, copy)
  return copy
}
