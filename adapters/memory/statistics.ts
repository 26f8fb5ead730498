import type { Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Statistics, StatisticsQuery } from '../../src/contracts/storage/statistics.ts'
import { addCounts } from '../../src/core/counts.ts'
import { type FoundSum, GroupedSums, GroupVolumes } from '../../src/core/grouped-sums.ts'
import { typeNamer } from '../../src/core/counted-types.ts'
import { fold, joinedStreak, noteOf } from '../../src/core/notes.ts'
import { dayMs, minuteMs, startOf } from '../../src/core/periods.ts'
import { addCauses } from './causes.ts'
import { type Access, type KeptSum, type Room, roomOf, type RoomStatistics, type State } from './state.ts'

/** When so many notes wait, memory folds them itself: a few at a time, since a fold holds the event loop. */
const maxNotes = 100

export function memoryStatistics(access: Access): Statistics {
  return {
    fold: () => access.write(foldNotes),
    sums: (query, grouping) =>
      access.read((state) => {
        const sums = new GroupedSums(grouping)
        for (const found of matching(state, query)) sums.add(found)
        return sums.rows()
      }),
    groups: (query, by, limit) =>
      access.read((state) => {
        const volumes = new GroupVolumes(by)
        for (const found of matching(state, query)) volumes.add(found)
        return volumes.largest(limit)
      }),
    streak: (workspaceId, endpointId) =>
      access.read((state) => {
        const streak = roomOf(state, workspaceId)?.statistics.streaks.get(endpointId)
        return streak === undefined ? null : { ...streak }
      }),
    tidy: (options) => access.write((state) => tidy(state, options)),
  }
}

/** Leaves a note of a settlement that was written. */
export function addNote(state: State, room: Room, settlement: Settlement, disabled: boolean): void {
  if (settlement.counted === null) return
  state.notes.push({ room, note: noteOf(room.row.id, settlement, settlement.counted, disabled) })
  if (state.notes.length >= maxNotes) foldNotes(state)
}

function foldNotes(state: State): number {
  const kept = state.notes.splice(0)
  const alive = kept.filter(({ room }) => room.alive)
  const rooms = new Set(alive.map(({ room }) => room))
  const known = new Map(Array.from(rooms, ({ row, statistics }) => [row.id, new Set(statistics.types.keys())] as const))
  const folded = fold(
    alive.map(({ note }) => note),
    typeNamer(known),
  )
  const statisticsOf = (place: string): RoomStatistics => roomOf(state, place)!.statistics // it is alive
  for (const { place, time, endpoint_id, counts } of folded.minutes) {
    addSum(statisticsOf(place).minute, time, { endpoint_id, event_type: '', counts })
  }
  for (const { place, time, endpoint_id, event_type, counts } of folded.hours) {
    const { hour, types } = statisticsOf(place)
    addSum(hour, time, { endpoint_id, event_type, counts })
    types.set(event_type, Math.max(types.get(event_type) ?? time, time))
  }
  for (const { place, endpoint_id, ...streak } of folded.streaks) {
    const { streaks } = statisticsOf(place)
    const before = streaks.get(endpoint_id)
    streaks.set(endpoint_id, before === undefined ? streak : joinedStreak(before, streak))
  }
  addCauses(state, folded.causes)
  return kept.length
}

function addSum(of: Map<number, Map<string, KeptSum>>, time: number, sum: KeptSum): void {
  let sums = of.get(time)
  if (sums === undefined) of.set(time, (sums = new Map()))
  const key = `${sum.endpoint_id} ${sum.event_type}`
  const there = sums.get(key)
  if (there === undefined) sums.set(key, sum)
  else addCounts(there.counts, sum.counts)
}

/** The successes and failures of each endpoint since the minute in which `since` lies. */
export function tallied(
  state: State,
  since: number,
): { workspaceId: string; endpointId: string; total: number; failed: number }[] {
  const query = { workspaceId: null, step: 'minute', from: startOf(since, minuteMs), to: Infinity } as const
  const found = new Map<string, { workspaceId: string; endpointId: string; total: number; failed: number }>()
  for (const { workspaceId, endpoint_id: endpointId, counts } of matching(state, query)) {
    const [succeeded = 0, failed = 0] = counts
    if (succeeded + failed === 0) continue
    const there = found.get(endpointId)
    const total = (there?.total ?? 0) + succeeded + failed
    found.set(endpointId, { workspaceId, endpointId, total, failed: (there?.failed ?? 0) + failed })
  }
  return [...found.values()]
}

function* matching(
  state: State,
  { workspaceId, step, from, to, endpoint_id, event_type }: StatisticsQuery,
): Generator<FoundSum> {
  const rooms = workspaceId === null ? state.rooms.values() : [roomOf(state, workspaceId)]
  for (const room of rooms) {
    if (room === undefined) continue
    const { minute, hour, day } = room.statistics
    for (const times of step === 'minute' ? [minute] : step === 'hour' ? [hour] : [hour, day]) {
      for (const [at, all] of times) {
        const time = step === 'day' ? startOf(at, dayMs) : at
        if (time < from || time >= to) continue
        for (const sum of all.values()) {
          if (endpoint_id !== undefined && sum.endpoint_id !== endpoint_id) continue
          if (event_type !== undefined && sum.event_type !== event_type) continue
          yield { workspaceId: room.row.id, time, ...sum }
        }
      }
    }
  }
}

function tidy(
  state: State,
  { minutesBefore, hoursBefore, daysBefore, limit }: Parameters<Statistics['tidy']>[0],
): number {
  let gone = 0
  for (const room of state.rooms.values()) {
    const { minute, hour, day, types, streaks } = room.statistics
    const each = (
      times: Map<number, Map<string, KeptSum>>,
      before: number,
      take: (at: number, sum: KeptSum) => void,
    ) => {
      for (const [at, all] of times) {
        if (at >= before) continue
        for (const [key, sum] of all) {
          if (gone >= limit) return
          gone++
          all.delete(key)
          take(at, sum)
        }
        if (all.size === 0) times.delete(at)
      }
    }
    each(minute, minutesBefore, () => {})
    each(hour, hoursBefore, (at, sum) => addSum(day, startOf(at, dayMs), sum))
    each(day, daysBefore, () => {})
    for (const [type, at] of types) if (at < daysBefore) types.delete(type)
    for (const id of streaks.keys()) if (state.endpoints.get(id)?.room !== room) streaks.delete(id)
  }
  return gone
}
