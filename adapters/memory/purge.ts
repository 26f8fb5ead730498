import { removeAttempt, removeEvent } from './rows.ts'
import { ascending, first, sorted } from './sorted.ts'
import type { Room, State } from './state.ts'

/**
 * Removes at most `limit` rows that belong to deleted workspaces or are older than the bounds, and answers how many. An
 * event goes after its attempts.
 */
export function purge(
  state: State,
  {
    eventsBefore,
    attemptsBefore,
    limit,
    workspaceId,
  }: { eventsBefore: number | null; attemptsBefore: number | null; limit: number; workspaceId?: string },
): number {
  if (workspaceId !== undefined) return purgeRoom(state, state.rooms.get(workspaceId), eventsBefore, limit)
  let removed = 0
  for (let room = state.condemned[0]; room !== undefined && removed < limit; room = state.condemned[0]) {
    const event = first(room.events)
    if (event === undefined) state.condemned.shift()
    else removed += removeEvent(state, event[1], limit - removed)
  }
  for (let next = first(state.idle); removed < limit && isBefore(next, eventsBefore); next = first(state.idle)) {
    removed += removeEvent(state, next[1], limit - removed)
  }
  for (
    let next = first(state.finished);
    removed < limit && isBefore(next, attemptsBefore);
    next = first(state.finished)
  ) {
    removeAttempt(state, next[1])
    removed++
  }
  return removed
}

function purgeRoom(state: State, room: Room | undefined, eventsBefore: number | null, limit: number): number {
  let removed = 0
  const old = [...ascending(room?.events ?? sorted())].filter(([, id]) => {
    const { event, open } = state.events.get(id)!
    return open === 0 && eventsBefore !== null && event.created_at < eventsBefore
  })
  for (const [, id] of old) if (removed < limit) removed += removeEvent(state, id, limit - removed)
  return removed
}

function isBefore(position: ReturnType<typeof first>, bound: number | null): position is NonNullable<typeof position> {
  return position !== undefined && bound !== null && position[0] < bound
}
