import type { ClaimOptions } from '../../src/contracts/queue.ts'
import { lowRank, maxLow } from '../../src/core/job-rank.ts'
import { maxFor } from '../../src/core/fair-share.ts'
import { ascending, first, idsUpTo } from './sorted.ts'
import type { Line, QueueState } from './state.ts'

/** A workspace that offers jobs to a claim. */
interface Offer {
  readonly workspace: string
  readonly turn: number
  readonly rest: Iterator<Offered, void>
  /** The job that comes next; undefined when no job is left. */
  next: Offered | undefined
  /** The slot that the next job would take: one more than the workspace has in use by then. */
  level: number
}

/** A job, and the oldest due job of its group. */
interface Offered {
  readonly id: string
  readonly head: string
}

/** The ids of the jobs that a claim takes, in order: see `Queue.claim`. */
export function chosen(queue: QueueState, options: ClaimOptions): string[] {
  let open = offers(queue, options).toSorted(byTurn)
  const taken: string[] = []
  while (open.length > 0) {
    const level = open.reduce((lowest, offer) => Math.min(lowest, offer.level), Infinity)
    for (const offer of open) {
      if (offer.level !== level) continue
      if (taken.length >= options.limit || level > maxFor(options.free - taken.length)) return taken
      taken.push(offer.next!.id) // of every offer that is open
      offer.next = offer.rest.next().value ?? undefined
      offer.level++
    }
    open = open.filter(({ next }) => next !== undefined)
  }
  return taken
}

/**
 * The workspaces that have jobs to offer, in the order of their turns: all workspaces with slots in use, and of the
 * others no more than can get a slot.
 */
function offers(queue: QueueState, options: ClaimOptions): Offer[] {
  const found: Offer[] = []
  let unserved = 0
  /** Of the workspaces found that have no slot in use, the workspace whose turn comes last. */
  let last: Offer | null = null
  for (const [turn, workspace] of ascending(queue.turns)) {
    if (turn > options.now) break
    if (unserved >= options.limit && (last === null || byTurn({ turn, workspace }, last) > 0)) break
    const line = queue.lines.get(workspace)! // of every workspace with a turn
    const rest = offered(queue, line, options)
    const next = rest.next().value ?? undefined
    if (next === undefined) continue
    const used = options.busy.workspaces.get(workspace) ?? 0
    const isHead = next.head === first(line.ready)?.[1] // then the line's turn is `turn`
    const offer = { workspace, turn: isHead ? turn : turnOf(queue, workspace, next.head), rest, next, level: used + 1 }
    found.push(offer)
    if (used > 0) continue
    unserved++
    if (last === null || byTurn(offer, last) > 0) last = offer
  }
  return found
}

/** The due jobs of a workspace that the caller may take, in order. */
function* offered(queue: QueueState, line: Line, { cap, busy, leaveOut, now }: ClaimOptions): Generator<Offered, void> {
  for (const head of idsUpTo(line.ready, now)) {
    const name = queue.jobs.get(head)!.job.group // of every position in `ready`
    let room = cap - (busy.groups.get(name) ?? 0)
    if (room <= 0 || leaveOut.has(name)) continue
    const { waiting } = queue.groups.get(name)!
    for (const id of idsUpTo(waiting, now)) {
      if (room-- === 0) break
      yield { id, head }
    }
    let lowRoom = Math.min(room, maxLow(cap) - (busy.low.get(name) ?? 0))
    if (lowRoom <= 0) continue
    for (const id of idsUpTo(waiting, now + lowRank, lowRank)) {
      if (lowRoom-- === 0) break
      yield { id, head }
    }
  }
}

function turnOf({ jobs, served }: QueueState, workspace: string, head: string): number {
  return Math.max(jobs.get(head)!.job.due_at, served.get(workspace) ?? -Infinity)
}

function byTurn(a: Pick<Offer, 'turn' | 'workspace'>, b: Pick<Offer, 'turn' | 'workspace'>): number {
  return a.turn - b.turn || (a.workspace < b.workspace ? -1 : 1)
}
