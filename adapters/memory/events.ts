import type {
  AttemptSought,
  EventHead,
  EventQuery,
  Events,
  IngestAnswer,
  IngestEntry,
} from '../../src/contracts/storage/events.ts'
import type { StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import { isSought } from '../../src/core/attempt-sought.ts'
import { inRange } from '../../src/core/time-range.ts'
import { copyOf } from './copy.ts'
import { pageOf, shownPage } from './page.ts'
import { removeJob } from './queue.ts'
import { evict } from './evict.ts'
import { addEvent, isTimed, removeEvent } from './rows.ts'
import { type Access, type KeptEvent, type Room, roomOf, type State, uniqueIdKey } from './state.ts'
import { ascending, descending, noTime, type Position, type Sorted, sorted } from './sorted.ts'

export function memoryEvents(access: Access, keep: number): Events {
  const encoder = new TextEncoder()
  return {
    ingest(entries, { enqueue }) {
      const uniqueIds = entries.flatMap(({ workspaceId, event }) =>
        event.unique_id === null ? [] : [uniqueIdKey(workspaceId, event.unique_id)],
      )
      // A transaction makes its writes again on newer state: an entry that it stored once is not judged by revision
      // again.
      const judged = new Set<IngestEntry>()
      return access.write((state) => {
        const answers = entries.map((entry) => {
          const answer = ingest(state, entry, { enqueue, judged: judged.has(entry) })
          if (answer.kind === 'stored') judged.add(entry)
          return answer
        })
        evict(state, keep)
        return answers
      }, uniqueIds)
    },

    get: (workspaceId, id) =>
      access.read((state) => {
        const kept = state.events.get(id)
        return kept !== undefined && kept.room === roomOf(state, workspaceId) ? { ...kept.event } : null
      }),

    timeline: (workspaceId, { ids, having, event_type, created_at, from, descending: isDescending, limit }) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        if (room === undefined) return []
        const heads: EventHead[] = []
        const wanted = ids && new Set(ids)
        const start = from === null ? null : ([from.created_at, from.id] as const)
        const beyond = isDescending ? descending(room.timeline, start) : ascending(room.timeline, start)
        const at = from?.inclusive === true ? state.events.get(from.id) : undefined
        const isThere = at?.room === room && at.event.created_at === from?.created_at
        for (const id of chain(isThere ? [at.event.id] : [], beyond)) {
          if (heads.length >= limit) break
          const { event_type: type, unique_id, created_at: time } = state.events.get(id)!.event
          if (wanted?.has(id) === false || (event_type !== undefined && type !== event_type)) continue
          if (having !== undefined && !hasAttempt(state, id, having)) continue
          if (inRange(time, created_at)) heads.push({ id, event_type: type, unique_id, created_at: time })
        }
        return heads
      }),

    erase: (workspaceId, ids) =>
      access.write((state) => {
        const room = roomOf(state, workspaceId)
        const there = [...new Set(ids)].filter((id) => room !== undefined && state.events.get(id)?.room === room)
        for (const id of there) {
          for (const attempt of state.events.get(id)!.attempts) removeJob(state, attempt)
          removeEvent(state, id, Infinity)
        }
        return there.length
      }),

    list: (workspaceId, query) =>
      shownPage(
        access.read((state) => {
          const room = roomOf(state, workspaceId)
          const listed = (id: string) => {
            const { event } = state.events.get(id)! // a workspace lists only events that exist
            return isListed(event, query) ? event : null
          }
          const ids = room === undefined ? sorted() : candidates(room, query)
          return pageOf(ids, query, listed, ({ data }) => encoder.encode(data).length)
        }),
        copyOf,
      ),
  }
}

function* chain(first: readonly string[], rest: Iterable<Position>): Generator<string> {
  yield* first
  for (const [, id] of rest) yield id
}

function ingest(
  state: State,
  entry: IngestEntry,
  { enqueue, judged }: { enqueue: boolean; judged: boolean },
): IngestAnswer {
  const { workspaceId, revision, event, attempts } = entry
  if (!Number.isFinite(event.created_at) || !attempts.every(isTimed)) return { kind: 'rejected', cause: noTime() }
  const room = roomOf(state, workspaceId)
  if (room === undefined) return { kind: 'stale' }
  const there = state.events.get(event.id)
  if (there?.room === room && isOfCall(there, entry)) return { kind: 'stored' }
  const seen = event.unique_id === null ? undefined : room.eventOfUniqueId.get(event.unique_id)
  if (seen !== undefined) return { kind: 'duplicate', event: { ...state.events.get(seen)!.event } }
  if (there !== undefined) return { kind: 'id_taken' }
  if (room.revision !== revision && !judged) return { kind: 'stale' }
  const taken = attempts.find((attempt) => state.attempts.has(attempt.id))
  if (taken !== undefined) return { kind: 'rejected', cause: new Error(`attempt id ${taken.id} is taken`) }

  const held = addEvent(state, room, entry, enqueue)
  return held.length === 0 ? { kind: 'stored' } : { kind: 'stored', held }
}

/** Whether an event was stored by an earlier flush of the same call. */
function isOfCall({ event: stored, token }: KeptEvent, { event, token: own }: IngestEntry): boolean {
  if (own !== undefined) return token === own
  return (
    stored.event_type === event.event_type &&
    stored.data === event.data &&
    stored.unique_id === event.unique_id &&
    stored.ingested_at === event.ingested_at &&
    stored.created_at === event.created_at
  )
}

/** The ids among which to look. */
function candidates(room: Room, query: EventQuery): Sorted {
  if (query.unique_id === undefined) return room.events
  const id = room.eventOfUniqueId.get(query.unique_id)
  return id === undefined ? sorted() : sorted([[0, id]])
}

function isListed(event: StoredEvent, query: EventQuery): boolean {
  return (
    (query.event_type === undefined || event.event_type === query.event_type) &&
    inRange(event.created_at, query.created_at) &&
    inRange(event.ingested_at, query.ingested_at)
  )
}

/** Whether an event has an attempt that is sought. */
function hasAttempt(state: State, eventId: string, sought: AttemptSought): boolean {
  // An event may have thousands of attempts, most endpoints a single one.
  const byEndpoint = new Map<string, StoredAttempt[]>()
  for (const id of state.events.get(eventId)!.attempts) {
    const { attempt } = state.attempts.get(id)!
    const { endpoint_id } = attempt
    if (sought.endpoint_id !== undefined && endpoint_id !== sought.endpoint_id) continue
    const own = byEndpoint.get(endpoint_id)
    if (own === undefined) byEndpoint.set(endpoint_id, [attempt])
    else own.push(attempt)
  }
  for (const own of byEndpoint.values()) if (own.some((attempt) => isSought(attempt, own, sought))) return true
  return false
}
