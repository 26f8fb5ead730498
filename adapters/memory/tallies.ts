import type { Settlement } from '../../src/contracts/storage/attempts.ts'
import { roomOf, type State } from './state.ts'

const minuteMs = 60_000
/** Outcomes older than this are forgotten: a week, in minutes. */
const keptMinutes = 10_080

/** Counts an outcome in the endpoint's tally of the minute. */
export function count(state: State, { workspaceId, attempt, settled_at, status }: Settlement): void {
  const minute = Math.floor(settled_at / minuteMs)
  let tallies = state.tallies.get(minute)
  if (tallies === undefined) {
    state.tallies.set(minute, (tallies = new Map()))
    for (const old of state.tallies.keys()) if (old < minute - keptMinutes) state.tallies.delete(old)
  }
  let tally = tallies.get(attempt.endpoint_id)
  if (tally === undefined) tallies.set(attempt.endpoint_id, (tally = { workspaceId, total: 0, failed: 0 }))
  tally.total++
  if (status === 'FAILED') tally.failed++
}

/** The sums per endpoint since the minute in which `since` lies. */
export function tallied(
  state: State,
  since: number,
): { workspaceId: string; endpointId: string; total: number; failed: number }[] {
  const sums = new Map<string, { workspaceId: string; endpointId: string; total: number; failed: number }>()
  for (const [minute, tallies] of state.tallies) {
    if (minute < Math.floor(since / minuteMs)) continue
    for (const [endpointId, { workspaceId, total, failed }] of tallies) {
      if (roomOf(state, workspaceId) === undefined) continue
      const sum = sums.get(endpointId) ?? { workspaceId, endpointId, total: 0, failed: 0 }
      sum.total += total
      sum.failed += failed
      sums.set(endpointId, sum)
    }
  }
  return [...sums.values()]
}
