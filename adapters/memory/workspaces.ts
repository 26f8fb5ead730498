import type { Violation, Workspaces } from '../../src/contracts/storage/configuration.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import { rowBytes } from '../../src/core/row-bytes.ts'
import { forget } from './configuration.ts'
import { isListed, pageOf, shownPage } from './page.ts'
import { copyOf } from './copy.ts'
import { type Access, raise, type Room, roomOf, type State } from './state.ts'
import { add, first, remove, sorted } from './sorted.ts'

export function memoryWorkspaces(access: Access): Workspaces {
  return {
    insert: (row) =>
      access.write((state) => {
        if (state.rooms.has(row.id) || state.roomOfName.has(row.id)) return { kind: 'unique', key: { id: row.id } }
        const violation = nameViolation(state, row)
        if (violation !== null) return violation
        const room = emptyRoom(row)
        state.rooms.set(row.id, room)
        add(state.roomIds, [0, row.id])
        if (row.name !== null) state.roomOfName.set(row.name, row.id)
        room.rowRevision = raise(state, room)
        return 'written'
      }),

    get: (id) => access.read((state) => handedOut(roomOf(state, id))),

    find: (idOrName) =>
      access.read((state) => {
        const named = state.roomOfName.get(idOrName)
        return handedOut(roomOf(state, idOrName) ?? (named === undefined ? undefined : roomOf(state, named)))
      }),

    list: (query) =>
      shownPage(
        access.read((state) =>
          pageOf(
            state.roomIds,
            query,
            (id) => {
              const { row } = state.rooms.get(id)! // the list of ids is that of the rooms
              return isListed(row, query) ? row : null
            },
            rowBytes,
          ),
        ),
        copyOf,
      ),

    update: (row, from) =>
      access.write((state) => {
        const room = roomOf(state, row.id)
        if (room === undefined) return 'missing'
        if (room.rowRevision !== from) return 'conflict'
        const violation = nameViolation(state, row)
        if (violation !== null) return violation
        if (room.row.name !== null) state.roomOfName.delete(room.row.name)
        if (row.name !== null) state.roomOfName.set(row.name, row.id)
        room.row = copyOf(row)
        room.rowRevision = raise(state, room)
        return 'written'
      }),

    delete: (id) =>
      access.write((state) => {
        const room = roomOf(state, id)
        if (room === undefined) return false
        for (const kind of ['plugins', 'endpoints', 'sources'] as const) {
          for (let next = first(room[kind]); next !== undefined; next = first(room[kind])) {
            forget(state, room, kind, next[1])
          }
        }
        raise(state, room)
        room.alive = false
        state.rooms.delete(id)
        remove(state.roomIds, [0, id])
        if (room.row.name !== null) state.roomOfName.delete(room.row.name)
        state.condemned.push(room)
        return true
      }),
  }
}

/** A workspace may have its own id as its name, but no other workspace's id or name. */
function nameViolation(state: State, { id, name }: Workspace): Violation | null {
  if (name === null) return null
  const taken = (state.rooms.has(name) && name !== id) || (state.roomOfName.get(name) ?? id) !== id
  return taken ? { kind: 'unique', key: { name } } : null
}

function emptyRoom(row: Workspace): Room {
  return {
    row: copyOf(row),
    rowRevision: 0,
    revision: 0,
    alive: true,
    endpoints: sorted(),
    sources: sorted(),
    plugins: sorted(),
    patterns: 0,
    events: sorted(),
    timeline: sorted(),
    attempts: sorted(),
    eventOfUniqueId: new Map(),
    statistics: { minute: new Map(), hour: new Map(), day: new Map(), types: new Map(), streaks: new Map() },
  }
}

function handedOut(room: Room | undefined): { row: Workspace; revision: number } | null {
  return room === undefined ? null : { row: copyOf(room.row), revision: room.rowRevision }
}
