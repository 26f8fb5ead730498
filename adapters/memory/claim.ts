import type { ClaimOptions } from '../../src/contracts/queue.ts'
import { lowRank, maxLow } from '../../src/core/job-rank.ts'
import { maxFor } from '../../src/core/fair-share.ts'
import { ascending, first, upTo } from './sorted.ts'
import type { KeptJob, Line, QueueState } from './state.ts'

/** A workspace that offers jobs to a claim. */
interface Offer {
  readonly line: Line
  readonly turn: number
  /** Null until a second job is needed: most claims take one of many workspaces. */
  rest: Iterator<Offered, void> | null
  /** The job that comes next; null when it was taken. */
  next: Offered | null
  /** The slot that the next job would take: one more than the workspace has in use by then. */
  level: number
}

/** A job, and the oldest due job of its group. */
interface Offered {
  readonly job: KeptJob
  readonly head: KeptJob
}

/** The jobs that a claim takes, in order: see `Queue.claim`. */
export function chosen(queue: QueueState, options: ClaimOptions): KeptJob[] {
  let open = offers(queue, options).toSorted(byTurn)
  const taken: KeptJob[] = []
  while (open.length > 0) {
    const level = open.reduce((lowest, offer) => Math.min(lowest, offer.level), Infinity)
    for (const offer of open) {
      if (offer.level !== level) continue
      if (level > maxFor(options.free - taken.length)) return taken
      taken.push(offer.next!.job) // of every offer that is open
      if (taken.length >= options.limit) return taken
      offer.next = null
      offer.level++
    }
    open = open.filter((offer) => offer.next !== null || goesOn(offer, options))
  }
  return taken
}

/** Whether a workspace has another job to offer. */
function goesOn(offer: Offer, options: ClaimOptions): boolean {
  if (offer.rest === null) {
    offer.rest = offered(offer.line, options)
    offer.rest.next() // that was taken
  }
  offer.next = offer.rest.next().value ?? null
  return offer.next !== null
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
  for (const [turn, line] of ascending(queue.turns)) {
    if (turn > options.now) break
    if (unserved >= options.limit && (last === null || byTurn({ turn, line }, last) > 0)) break
    const next = firstOffered(line, options)
    if (next === undefined) continue
    const used = options.busy.workspaces.get(line.id) ?? 0
    const isHead = next.head === line.head // then the line's turn is `turn`
    const ownTurn = isHead ? turn : turnOf(line, next.head)
    const offer: Offer = { line, turn: ownTurn, rest: null, next, level: used + 1 }
    found.push(offer)
    if (used > 0) continue
    unserved++
    if (last === null || byTurn(offer, last) > 0) last = offer
  }
  return found
}

/** The first of `offered`: mostly the oldest job of all. */
function firstOffered(line: Line, options: ClaimOptions): Offered | undefined {
  const head = line.head! // the line has a turn
  const { name, waiting } = head.group
  const { cap, busy, leaveOut, now } = options
  const [at, job] = first(waiting)! // it has a head
  if (at <= now && cap > (busy.groups.get(name) ?? 0) && !leaveOut.has(name)) return { job, head }
  return offered(line, options).next().value ?? undefined
}

/** The due jobs of a workspace that the caller may take, in order. */
function* offered(line: Line, { cap, busy, leaveOut, now }: ClaimOptions): Generator<Offered, void> {
  for (const head of heads(line, now)) {
    const { name, waiting } = head.group
    let room = cap - (busy.groups.get(name) ?? 0)
    if (room <= 0 || leaveOut.has(name)) continue
    for (const job of upTo(waiting, now)) {
      if (room-- === 0) break
      yield { job, head }
    }
    let lowRoom = Math.min(room, maxLow(cap) - (busy.low.get(name) ?? 0))
    if (lowRoom <= 0) continue
    for (const job of upTo(waiting, now + lowRank, lowRank)) {
      if (lowRoom-- === 0) break
      yield { job, head }
    }
  }
}

/** The oldest waiting job of each group, if it is due, in order. */
function* heads({ head, others }: Line, now: number): Generator<KeptJob, void> {
  if (head === null || head.due_at > now) return
  yield head
  if (others !== null) yield* upTo(others, now)
}

function turnOf({ served }: Line, { due_at }: KeptJob): number {
  return Math.max(due_at, served)
}

function byTurn(a: Pick<Offer, 'turn' | 'line'>, b: Pick<Offer, 'turn' | 'line'>): number {
  return a.turn - b.turn || (a.line.id < b.line.id ? -1 : 1)
}
