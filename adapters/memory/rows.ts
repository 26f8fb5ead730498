import type { IngestEntry } from '../../src/contracts/storage/events.ts'
import type { NewAttempt, PlannedAttempt, StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import { openAttempt } from '../../src/core/attempt.ts'
import type { KeptAttempt, KeptEvent, Room, State } from './state.ts'
import { add, remove } from './sorted.ts'
import { addJob } from './queue.ts'

/** Stores an event with its attempts. Answers the attempts whose jobs are held with their leases. */
export function addEvent(
  state: State,
  room: Room,
  { event, attempts, trace, token }: IngestEntry,
  enqueue: boolean,
): readonly string[] {
  const kept: KeptEvent = { room, event: { ...event }, trace, token, attempts: [], open: attempts.length }
  state.events.set(event.id, kept)
  add(room.events, [0, event.id])
  add(room.timeline, [event.created_at, event.id])
  if (event.unique_id !== null) room.eventOfUniqueId.set(event.unique_id, event.id)
  if (attempts.length === 0) add(state.idle, [event.created_at, event.id])
  const held: string[] = []
  for (const attempt of attempts) if (keepOpen(state, kept, attempt, enqueue)) held.push(attempt.id)
  return held
}

/** Whether the times of an attempt have a place in an order. */
export function isTimed({ scheduled_at, created_at }: NewAttempt): boolean {
  return Number.isFinite(scheduled_at) && Number.isFinite(created_at)
}

/** Adds an open attempt to an event. */
export function addAttempt(state: State, of: KeptEvent, attempt: PlannedAttempt, enqueue: boolean): void {
  if (of.open++ === 0) remove(state.idle, [of.event.created_at, attempt.event_id])
  keepOpen(state, of, attempt, enqueue)
}

/** Answers whether the job is held with the lease of the attempt. */
function keepOpen(state: State, of: KeptEvent, attempt: PlannedAttempt, enqueue: boolean): boolean {
  const { id, endpoint_id, scheduled_at, priority, lease } = attempt
  state.attempts.set(id, { of, attempt: openAttempt(attempt, of.event.event_type) })
  add(of.room.attempts, [0, id])
  addId(of.attempts, id)
  add(state.open, [scheduled_at, id])
  if (!enqueue) return false
  const job = { id, workspace: of.room.row.id, group: endpoint_id, due_at: scheduled_at }
  return addJob(state, priority === undefined ? job : { ...job, priority }, lease)
}

/**
 * Replaces an open attempt by how it ended. Nobody changes the request and the answer of a settlement, so they are not
 * copied: answers of an endpoint mostly share their headers.
 */
export function closeAttempt(state: State, kept: KeptAttempt, ended: StoredAttempt): void {
  const { id, scheduled_at, created_at } = kept.attempt
  kept.attempt = ended
  remove(state.open, [scheduled_at, id])
  add(state.finished, [created_at, id])
  noLongerOpen(state, kept)
}

/** Removes an event with its attempts, as far as the limit goes, and answers how many rows went. */
export function removeEvent(state: State, id: string, limit: number): number {
  const kept = state.events.get(id)!
  let removed = 0
  for (let [next] = kept.attempts; next !== undefined; [next] = kept.attempts) {
    if (removed >= limit) return removed
    removeAttempt(state, next)
    removed++
  }
  if (removed >= limit) return removed
  const { room, event } = kept
  state.events.delete(id)
  remove(room.events, [0, id])
  remove(room.timeline, [event.created_at, id])
  remove(state.idle, [event.created_at, id])
  if (event.unique_id !== null) room.eventOfUniqueId.delete(event.unique_id)
  return removed + 1
}

export function removeAttempt(state: State, id: string): void {
  const kept = state.attempts.get(id)!
  const { of, attempt } = kept
  const { scheduled_at, created_at, status } = attempt
  state.attempts.delete(id)
  remove(of.room.attempts, [0, id])
  of.attempts.splice(of.attempts.indexOf(id), 1)
  if (status === 'OPEN') {
    remove(state.open, [scheduled_at, id])
    noLongerOpen(state, kept)
  } else {
    remove(state.finished, [created_at, id])
  }
}

/** An event is idle once the event's last open attempt is closed. */
function noLongerOpen(state: State, { of }: KeptAttempt): void {
  if (--of.open === 0) add(state.idle, [of.event.created_at, of.event.id])
}

/** Adds an id to ids in order. They mostly come in order. */
function addId(ids: string[], id: string): void {
  const last = ids.at(-1)
  if (last === undefined || last < id) {
    ids.push(id)
    return
  }
  let low = 0
  for (let high = ids.length - 1; low < high;) {
    const middle = (low + high) >>> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  ids.splice(low, 0, id)
}
