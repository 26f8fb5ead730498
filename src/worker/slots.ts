import type { EngineClock } from '../contracts/clock.ts'
import type { Claim, ClaimOptions } from '../contracts/queue.ts'
import { mostFor } from '../core/share.ts'
import { alarm } from '../services/alarm.ts'
import { slowEndpoints } from './slow-endpoints.ts'
import type { Wakeup } from './wakeup.ts'

/** The most jobs that one claim takes. */
const mostClaims = 500

/**
 * The slots of this process: who uses them, who may have more, and the one place that decides that a new claim is worth
 * its cost. A slot is a request in flight. It is free again when the answer is there; the hold on the job lasts until the
 * outcome is stored, and there are at most twice as many holds as slots.
 */
export interface Slots {
  /** How many jobs a claim may take now. */
  mayClaim(): number
  /** What a claim is told, made anew for each. `leaveOut`: endpoints that are not to be claimed for other reasons. */
  request(options: { paced: boolean; leaveOut: Iterable<string> }): SlotRequest
  /** Takes slots for what a claim brought; gives back what is beyond the shares of slow and new endpoints. */
  taken(claims: readonly Claim[], asked: SlotRequest): { taken: readonly Claim[]; surplus: readonly Claim[] }
  /** A request ended. `slow` says whether its endpoint was; null when that is not known. */
  freed(claim: Claim, slow: boolean | null): void
  /** The hold on a job ended. */
  letGo(): void
  /** Whether an endpoint gets one request at a time. */
  isWatched(group: string): boolean
  /** Milliseconds until slots that nobody frees may be had all the same. */
  untilRoom(): number
}

export type SlotRequest = Pick<ClaimOptions, 'limit' | 'free' | 'cap' | 'busy' | 'leaveOut'>

export function slots(
  { concurrency, perEndpoint }: { readonly concurrency: number; readonly perEndpoint: number },
  clock: EngineClock,
  wakeup: Wakeup,
): Slots {
  const workspaces = new Map<string, number>()
  const groups = new Map<string, number>()
  const slow = slowEndpoints(
    concurrency,
    () => clock.elapsed(),
    (group) => groups.get(group) ?? 0,
  )
  let used = 0
  let held = 0
  /** The timer of the next turn of slow and new endpoints. Each claim is a turn, so that it stops the timer. */
  let turn: { readonly at: number; readonly stop: () => void } | null = null

  function mayClaim(): number {
    return Math.max(Math.min(concurrency - used, 2 * concurrency - held, mostClaims), 0)
  }

  function isAtShare(workspace: string): boolean {
    return (workspaces.get(workspace) ?? 0) >= mostFor(concurrency - used)
  }

  /** Workspaces that use as many slots as they may. None does while most slots are free. */
  function workspacesAtShare(): string[] {
    if (used < mostFor(concurrency - used)) return []
    return [...workspaces.keys()].filter(isAtShare)
  }

  function request({ paced, leaveOut }: { paced: boolean; leaveOut: Iterable<string> }): SlotRequest {
    turn?.stop()
    turn = null
    const { chosen, leftOut } = slow.choose(paced)
    const busy = new Map(groups)
    for (const group of chosen) busy.set(group, perEndpoint - 1) // so that one job of it comes
    return {
      limit: mayClaim(),
      free: concurrency - used,
      cap: perEndpoint,
      busy: { workspaces: new Map(workspaces), groups: busy },
      leaveOut: new Set([...leftOut, ...leaveOut]),
    }
  }

  function taken(claims: readonly Claim[], asked: SlotRequest): { taken: readonly Claim[]; surplus: readonly Claim[] } {
    const { admitted, surplus } = slow.admit(claims)
    for (const { workspace, group } of admitted) {
      add(workspaces, workspace, 1)
      add(groups, group, 1)
    }
    used += admitted.length
    held += admitted.length
    // Others may have the slots that the surplus does not get. And slots may have fallen free since the claim was asked.
    if (surplus.length > 0 || wasCutShort(admitted, asked)) wakeup.wake('freed')
    wakeForTurn()
    return { taken: admitted, surplus }
  }

  /** Whether a claim ended at the bound of an endpoint or a workspace that has room again by now. */
  function wasCutShort(claims: readonly Claim[], { busy, cap, free }: SlotRequest): boolean {
    const byGroup = new Map<string, number>()
    const byWorkspace = new Map<string, number>()
    for (const { group, workspace } of claims) {
      add(byGroup, group, 1)
      add(byWorkspace, workspace, 1)
    }
    for (const [group, count] of byGroup) {
      const wasFull = (busy.groups.get(group) ?? 0) + count >= cap
      if (wasFull && (groups.get(group) ?? 0) < perEndpoint && !slow.has(group)) return true
    }
    const freeThen = free - claims.length
    for (const [workspace, count] of byWorkspace) {
      const wasAtShare = (busy.workspaces.get(workspace) ?? 0) + count >= mostFor(freeThen)
      if (wasAtShare && freeThen < concurrency - used && !isAtShare(workspace)) return true
    }
    return false
  }

  function freed(claim: Claim, isSlow: boolean | null): void {
    const { workspace, group } = claim
    const wasFull = mayClaim() === 0
    const wasAtCap = (groups.get(group) ?? 0) >= perEndpoint
    const atShare = workspacesAtShare()
    const isProven = isSlow !== null && slow.ended(claim, isSlow)
    used--
    add(workspaces, workspace, -1)
    add(groups, group, -1)
    slow.freed(group)
    if (wasFull || wasAtCap || atShare.some((one) => !isAtShare(one))) wakeup.wake('freed')
    else if (isProven) wakeup.wake('proven')
    else wakeForTurn()
  }

  function wakeForTurn(): void {
    const ms = slow.untilTurn()
    if (ms === null) return
    const at = clock.elapsed() + ms
    if (turn !== null && turn.at <= at) return
    turn?.stop()
    const stop = alarm(clock, ms, () => {
      turn = null
      wakeup.wake('turn')
    })
    turn = { at, stop }
  }

  return {
    mayClaim,
    request,
    taken,
    freed,
    letGo() {
      const wasFull = mayClaim() === 0
      held--
      if (wasFull) wakeup.wake('freed')
    },
    isWatched: slow.has,
    untilRoom: slow.untilSilent,
  }
}

/** Changes a count; one that comes to nothing is forgotten. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
