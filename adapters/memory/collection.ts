import type { Collection, OwnedQuery, PluginQuery, Stored } from '../../src/contracts/storage/configuration.ts'
import { type Kind, planFor, type Rows } from '../../src/core/row-plan.ts'
import { applyPlan } from './configuration.ts'
import { isListed, pageOf, shownPage } from './page.ts'
import { copyOf } from './copy.ts'
import { type Access, type Kept, type Room, roomOf, type State } from './state.ts'
import { sorted } from './sorted.ts'
import { storedBytes } from './stored-bytes.ts'

/** Endpoints, sources or plugins. */
export function memoryCollection<K extends Kind>(kind: K, access: Access): Collection<Rows[K], PluginQuery> {
  // The rows of a kind are in the map of that name.
  const keptIn = (state: State) => state[kind] as unknown as ReadonlyMap<string, Kept<Rows[K]>>
  const find = (state: State, workspaceId: string, id: string): Kept<Rows[K]> | undefined => {
    const kept = keptIn(state).get(id)
    return kept !== undefined && kept.room === roomOf(state, workspaceId) ? kept : undefined
  }

  return {
    insert: (workspaceId, row, bounds) =>
      access.write((state) => {
        const room = roomOf(state, workspaceId)
        if (room === undefined) return 'missing'
        if (keptIn(state).has(row.id)) return { kind: 'unique', key: { id: row.id } }
        return applyPlan(state, room, planFor(workspaceId, kind, [row], [], bounds)) ?? 'written'
      }),

    get: (workspaceId, id) =>
      access.read((state) => {
        const kept = find(state, workspaceId, id)
        return kept === undefined ? null : handedOut(kept)
      }),

    list: (workspaceId, query) =>
      shownPage(
        access.read((state) => {
          const room: Room | undefined = roomOf(state, workspaceId)
          const listed = (id: string) => {
            const { row } = keptIn(state).get(id)! // a workspace lists only rows that exist
            return isListed(row, query) && isOwnedAs(row, query) ? row : null
          }
          return pageOf(room?.[kind] ?? sorted(), query, listed, storedBytes)
        }),
        copyOf,
      ),

    update: (workspaceId, row, from, bounds) =>
      access.write((state) => {
        const kept = find(state, workspaceId, row.id)
        if (kept === undefined) return 'missing'
        if (kept.revision !== from) return 'conflict'
        return applyPlan(state, kept.room, planFor(workspaceId, kind, [row], [], bounds)) ?? 'written'
      }),

    delete: (workspaceId, id) =>
      access.write((state) => {
        const kept = find(state, workspaceId, id)
        if (kept === undefined) return false
        applyPlan(state, kept.room, planFor(workspaceId, kind, [], [id]))
        return true
      }),
  }
}

function handedOut<Row>({ row, revision }: Kept<Row>): Stored<Row> {
  return { row: copyOf(row), revision }
}

function isOwnedAs(row: Rows[Kind], query: OwnedQuery & PluginQuery): boolean {
  return (
    (query.enabled === undefined || row.enabled === query.enabled) &&
    (query.endpoint_id === undefined || ('endpoint_id' in row && row.endpoint_id === query.endpoint_id)) &&
    (query.source_id === undefined || ('source_id' in row && row.source_id === query.source_id))
  )
}
