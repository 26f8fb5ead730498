import type { Job } from '../../src/contracts/queue.ts'
import type {
  AttemptQuery,
  Attempts,
  Delivery,
  NewAttempt,
  Settled,
  Settlement,
  StoredAttempt,
  Undelivered,
} from '../../src/contracts/storage/attempts.ts'
import { endedAttempt, isFinal } from '../../src/core/attempt.ts'
import { isBefore } from '../../src/core/delivery.ts'
import { goneEndpoint } from '../../src/core/gone-endpoint.ts'
import { planFor } from '../../src/core/row-plan.ts'
import { applyPlan } from './configuration.ts'
import { inRange } from '../../src/core/time-range.ts'
import { pageOf, shownPage } from './page.ts'
import { completeJobs } from './queue.ts'
import { evict } from './evict.ts'
import { addAttempt, closeAttempt, isTimed } from './rows.ts'
import { type Access, type KeptAttempt, type KeptEvent, type Room, roomOf, type State } from './state.ts'
import { ascending, noTime, type Sorted, sorted } from './sorted.ts'
import { addNote, tallied } from './statistics.ts'

export function memoryAttempts(access: Access, keep: number): Attempts {
  return {
    load: (ids) => access.read((state) => ids.flatMap((id) => delivery(state, id) ?? [])),

    settle: (settlements, { enqueue }) =>
      access.write((state) => {
        const seen = new Set<string>()
        const answers = settlements.map((settlement) => {
          const isRepeated = seen.has(settlement.attempt.id)
          seen.add(settlement.attempt.id)
          return settle(state, settlement, { enqueue, isRepeated })
        })
        evict(state, keep)
        return answers
      }),

    add: (workspaceId, attempts, { enqueue, first = false }) =>
      access.write((state) => {
        const room = roomOf(state, workspaceId)
        return attempts.map((attempt) => {
          const there = state.attempts.get(attempt.id)
          if (there !== undefined) return there.of.room === room
          const event = state.events.get(attempt.event_id)
          if (event === undefined || event.room !== room) return false
          if (first && hasAttempt(state, event, attempt.endpoint_id)) return false
          addAttempt(state, event, attempt, enqueue)
          return true
        })
      }),

    get: (workspaceId, id) =>
      access.read((state) => {
        const kept = state.attempts.get(id)
        return kept !== undefined && kept.of.room === roomOf(state, workspaceId) ? structuredClone(kept.attempt) : null
      }),

    list: (workspaceId, query) =>
      shownPage(
        access.read((state) => {
          const room = roomOf(state, workspaceId)
          const listed = (id: string) => {
            const { attempt } = state.attempts.get(id)! // the lists hold only attempts that exist
            return isListed(attempt, query) ? attempt : null
          }
          return pageOf(room === undefined ? sorted() : candidates(state, room, query), query, listed)
        }),
        brief,
      ),

    ofEvents: (workspaceId, eventIds, { endpointId, after = null, descending = false, limit }) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        const bound = after && { endpoint_id: after[0], id: after[1] }
        const isBeyond = (attempt: StoredAttempt) =>
          bound === null || (descending ? isBefore(attempt, bound) : isBefore(bound, attempt))
        const found: StoredAttempt[] = []
        for (const eventId of eventIds) {
          if (found.length >= limit) break
          const event = state.events.get(eventId)
          if (event === undefined || event.room !== room) continue
          const own = event.attempts.flatMap((id) => {
            const { attempt } = state.attempts.get(id)!
            return (endpointId === undefined || attempt.endpoint_id === endpointId) && isBeyond(attempt) ? attempt : []
          })
          own.sort((a, b) => (isBefore(a, b) === descending ? 1 : -1))
          for (const attempt of own.slice(0, limit - found.length)) found.push(brief(attempt))
        }
        return found
      }),

    overdue: ({ before, after, limit }) =>
      access.read((state) => {
        const jobs: Job[] = []
        for (const [due_at, id] of ascending(state.open, after)) {
          if (due_at >= before || jobs.length >= limit) break
          const { of, attempt } = state.attempts.get(id)!
          if (of.room.alive) jobs.push({ id, workspace: of.room.row.id, group: attempt.endpoint_id, due_at })
        }
        return jobs
      }),

    undelivered: (workspaceId, query) =>
      access.read((state) => {
        const found: Undelivered[] = []
        const room = roomOf(state, workspaceId)
        if (room === undefined) return found
        const newest = newestAttempts(state)
        for (const [, id] of ascending(room.attempts, query.after === null ? null : [0, query.after])) {
          if (found.length >= query.limit) break
          const kept = state.attempts.get(id)!
          const { attempt, of } = kept
          const { status, event_id, endpoint_id } = attempt
          if (!(status === 'CANCELED' || (status === 'FAILED' && attempt.exhausted))) continue
          if (attempt.trigger_mode === 'TEST') continue
          if (query.status !== undefined && status !== query.status) continue
          if (query.endpoint_id !== undefined && endpoint_id !== query.endpoint_id) continue
          if (!inRange(of.event.created_at, query.created_at)) continue
          if (!inRange(attempt.attempted_at, query.attempted_at)) continue
          if (query.event_types !== undefined && !query.event_types.includes(of.event.event_type)) continue
          if (newest(of, endpoint_id) === id) found.push({ attemptId: id, event_id, endpoint_id })
        }
        return found
      }),

    missing: (workspaceId, { endpoint_id, created_at, after, limit }) =>
      access.read((state) => {
        const room = roomOf(state, workspaceId)
        const events: { id: string; event_type: string }[] = []
        let looked = 0
        let last: string | null = null
        if (room === undefined) return { events, next: null }
        for (const [, id] of ascending(room.events, after === null ? null : [0, after])) {
          if (looked++ >= limit) return { events, next: last }
          last = id
          const kept = state.events.get(id)!
          if (!inRange(kept.event.created_at, created_at)) continue
          if (!hasAttempt(state, kept, endpoint_id)) events.push({ id, event_type: kept.event.event_type })
        }
        return { events, next: null }
      }),

    tallies: (since) => access.read((state) => tallied(state, since)),
  }
}

/** An open attempt of a workspace that exists. */
function openAttempt(state: State, id: string): KeptAttempt | null {
  const kept = state.attempts.get(id)
  return kept !== undefined && kept.of.room.alive && kept.attempt.status === 'OPEN' ? kept : null
}

/** Answers the newest attempt of an event to an endpoint. The attempts of an event are looked through once. */
function newestAttempts(state: State): (event: KeptEvent, endpointId: string) => string | undefined {
  const known = new Map<KeptEvent, ReadonlyMap<string, string>>()
  return (event, endpointId) => {
    let newest = known.get(event)
    if (newest === undefined) {
      newest = new Map(event.attempts.map((id) => [state.attempts.get(id)!.attempt.endpoint_id, id])) // in order, so the last stays
      known.set(event, newest)
    }
    return newest.get(endpointId)
  }
}

/** Whether the event has an attempt to the endpoint, or is that of a test delivery. */
function hasAttempt(state: State, { attempts }: KeptEvent, endpointId: string): boolean {
  return attempts.some((id) => {
    const { attempt } = state.attempts.get(id)!
    return attempt.endpoint_id === endpointId || attempt.trigger_mode === 'TEST'
  })
}

function attemptIn(state: State, workspaceId: string, id: string): KeptAttempt | null {
  const kept = state.attempts.get(id)
  return kept !== undefined && kept.of.room === roomOf(state, workspaceId) ? kept : null
}

function delivery(state: State, id: string): Delivery | null {
  const kept = openAttempt(state, id)
  if (kept === null) return null
  const { room, event, trace } = kept.of
  const loaded = {
    workspaceId: room.row.id,
    revision: room.revision,
    attempt: planned(kept.attempt),
    event: { ...event },
  }
  return trace === undefined ? loaded : { ...loaded, trace }
}

function settle(
  state: State,
  settlement: Settlement,
  { enqueue, isRepeated }: { enqueue: boolean; isRepeated: boolean },
): Settled {
  if (!Number.isFinite(settlement.settled_at) || (settlement.next !== null && !isTimed(settlement.next))) {
    return { settled: false, disabled: false, refused: noTime() }
  }
  if (enqueue && settlement.claim !== null) completeJobs(state, [settlement.claim])
  const kept = attemptIn(state, settlement.workspaceId, settlement.attempt.id)
  if (kept === null || isRepeated) return { settled: false, disabled: false }
  if (kept.attempt.status !== 'OPEN') return settledBefore(state, kept, settlement)

  const { settled_at, next } = settlement
  // The follow-up first, so that the event is never without an open attempt in between.
  if (next !== null && !state.attempts.has(next.id)) {
    const { jobs } = state.news
    addAttempt(state, kept.of, next, enqueue)
    // An attempt that falls due later is found by this process, and by any process that polls then.
    if (next.scheduled_at > settled_at) state.news.jobs = jobs
  }
  closeAttempt(
    state,
    kept,
    endedAttempt(kept.attempt, kept.attempt.event_type, settlement, settlement.request, settlement.response),
  )
  const disabled = settlement.disable !== null && disable(state, kept.of.room, settlement)
  addNote(state, kept.of.room, settlement, disabled)
  return { settled: true, disabled }
}

/** Whether it was this very settlement that closed the attempt, by an earlier call. */
function settledBefore(state: State, { of, attempt }: KeptAttempt, settlement: Settlement): Settled {
  const { status, attempted_at, settled_at, disable, next } = settlement
  const settled =
    attempt.status === status &&
    attempt.attempted_at === attempted_at &&
    attempt.updated_at === settled_at &&
    (next === null || state.attempts.has(next.id))
  const endpoint = state.endpoints.get(attempt.endpoint_id)
  const isDisabled = endpoint?.room === of.room && !endpoint.row.enabled && endpoint.row.updated_at === settled_at
  return { settled, disabled: settled && disable !== null && isDisabled }
}

/** Disables the endpoint that was judged, if the endpoint is still enabled and still has that url. */
function disable(state: State, room: Room, { attempt, disable, settled_at }: Settlement): boolean {
  const kept = state.endpoints.get(attempt.endpoint_id)
  if (kept === undefined || kept.room !== room || !kept.row.enabled || kept.row.request.url !== disable?.url)
    return false
  applyPlan(state, room, planFor(room.row.id, 'endpoints', [goneEndpoint(kept.row, settled_at)], []))
  return true
}

function planned(attempt: StoredAttempt): NewAttempt {
  const { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at } = attempt
  return { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at }
}

/** As lists show it: without headers and bodies. */
function brief(attempt: StoredAttempt): StoredAttempt {
  const { request, response } = attempt
  return {
    ...attempt,
    request: request && { ...request, headers: null, body: null },
    response: response && { ...response, headers: null, body: null },
  }
}

/** The ids among which to look. */
function candidates(state: State, room: Room, query: AttemptQuery): Sorted {
  const { event_id, unique_id } = query
  const known = unique_id === undefined ? event_id : room.eventOfUniqueId.get(unique_id)
  if (event_id === undefined && unique_id === undefined) return room.attempts
  if (known === undefined || (event_id !== undefined && event_id !== known)) return sorted()
  const event = state.events.get(known)
  return event === undefined || event.room !== room ? sorted() : sorted(event.attempts.map((id) => [0, id]))
}

function isListed(attempt: StoredAttempt, query: AttemptQuery): boolean {
  return (
    (query.endpoint_id === undefined || attempt.endpoint_id === query.endpoint_id) &&
    (query.status === undefined || attempt.status === query.status) &&
    (query.event_type === undefined || attempt.event_type === query.event_type) &&
    (query.final === undefined || isFinal(attempt) === query.final) &&
    (query.trigger_mode === undefined || attempt.trigger_mode === query.trigger_mode) &&
    (query.error_code === undefined || attempt.error_code === query.error_code) &&
    (query.response_status === undefined || attempt.response?.status === query.response_status) &&
    inRange(attempt.created_at, query.created_at) &&
    inRange(attempt.attempted_at, query.attempted_at) &&
    isDueWithin(attempt, query)
  )
}

function isDueWithin({ trigger_mode, scheduled_at }: StoredAttempt, query: AttemptQuery): boolean {
  const byHand = trigger_mode === 'MANUAL' ? query.scheduled_at_by_hand : undefined
  return byHand !== null && inRange(scheduled_at, byHand ?? query.scheduled_at)
}
