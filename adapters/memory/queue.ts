import type { Claim, Job, Lease, Queue } from '../../src/contracts/queue.ts'
import { lowRank, rankOf } from '../../src/core/job-rank.ts'
import { chosen } from './claim.ts'
import { add, ascending, compare, first, firstFrom, idsUpTo, type Position, remove, sorted } from './sorted.ts'
import type { Access, Group, KeptJob, Line, State } from './state.ts'

const servedForMs = 3_600_000
/** Not at each claim: a walk from the front of a map passes all entries that were deleted at the front. */
const forgetEveryMs = 60_000
/** Due jobs of a group that are counted at most. */
const maxCounted = 10_000

/** The queue, over the queue part of the state. */
export function memoryQueue(access: Access, onAdded?: Queue['onAdded']): Queue {
  return {
    takesLeases: true,
    add: (jobs) => access.write((state) => addJobs(state, jobs)),
    complete: (claims) => access.write((state) => completeJobs(state, claims)),

    claim: (options) =>
      access.write((state) => {
        const { now, leaseMs } = options
        lapse(state, now)
        wake(state, now)
        const claims = chosen(state.queue, options).map((id) => hold(state, state.queue.jobs.get(id)!, now + leaseMs))
        serve(state, claims, now)
        for (const group of new Set(claims.map(({ group }) => group))) place(state, group, { isServed: true })
        return claims
      }),

    extend: (claims, until) =>
      access.write((state) => {
        const lost: string[] = []
        for (const claim of claims) {
          const kept = heldBy(state, claim)
          if (kept === undefined) {
            lost.push(claim.id)
            continue
          }
          takeOut(state, kept)
          kept.heldUntil = until
          add(state.queue.held, [until, claim.id])
        }
        return lost
      }),

    release: (claims) =>
      access.write((state) => {
        for (const claim of claims) {
          const kept = heldBy(state, claim)
          if (kept === undefined) continue
          takeOut(state, kept)
          kept.token = null
          wait(state, kept)
        }
        if (claims.length > 0) state.news.jobs = true
      }),

    pause: (groups) =>
      access.write((state) => {
        for (const { group: name, until } of groups) {
          const group = groupOf(state, name)
          group.pausedUntil = Math.max(group.pausedUntil, until)
          place(state, name)
        }
      }),

    resume: (groups) =>
      access.write((state) => {
        for (const name of groups) {
          const group = state.queue.groups.get(name)
          if (group === undefined) continue
          group.pausedUntil = 0
          place(state, name)
        }
        if (groups.length > 0) state.news.jobs = true
      }),

    pausedUntil: (group, now) =>
      access.read(({ queue }) => {
        const until = queue.groups.get(group)?.pausedUntil ?? 0
        return until > now ? until : null
      }),

    dueOf: (group, now) =>
      access.read(({ queue }) => {
        const waiting = queue.groups.get(group)?.waiting ?? sorted()
        let due = 0
        for (const from of [0, lowRank]) {
          const ids = idsUpTo(waiting, now + from, from)
          while (due < maxCounted && ids.next().done !== true) due++
        }
        return due
      }),

    stats: (now) =>
      access.read((state) => {
        const { queue } = state
        let oldestDueAt: number | null = null
        const consider = (due: number) => {
          if (due <= now && (oldestDueAt === null || due < oldestDueAt)) oldestDueAt = due
        }
        for (const group of queue.groups.values()) {
          const oldest = oldestWaiting(group)
          if (oldest !== undefined) consider(oldest[0])
        }
        for (const [until, id] of ascending(queue.held)) {
          if (until > now) break
          consider(queue.jobs.get(id)!.job.due_at)
        }
        return { size: queue.jobs.size, oldestDueAt }
      }),

    nextDueAt: () =>
      access.read(({ queue }) => {
        const times: number[] = []
        const turn = first(queue.turns)
        if (turn !== undefined) times.push(turn[0])
        for (const [until, name] of ascending(queue.paused)) {
          const oldest = oldestWaiting(queue.groups.get(name)!)
          if (oldest !== undefined) times.push(Math.max(until, oldest[0]))
        }
        for (const [until, id] of ascending(queue.held)) {
          const { job } = queue.jobs.get(id)!
          times.push(Math.max(until, job.due_at, queue.groups.get(job.group)?.pausedUntil ?? 0))
        }
        return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
      }),

    ...(onAdded && { onAdded }),
  }
}

/** Adds jobs that are not known yet. Answers which of them are held with their leases. */
function addJobs(state: State, jobs: readonly Job[]): readonly string[] {
  const held: string[] = []
  for (const { id, workspace, group, due_at, priority, lease } of jobs) {
    if (addJob(state, { id, workspace, group, due_at, ...(priority && { priority }) }, lease)) held.push(id)
  }
  return held
}

/**
 * The same for a job that is the queue's from now on. Storage calls it in the steps in which it writes attempts. Answers whether
 * the job is held with its lease.
 */
export function addJob(state: State, job: Job, lease?: Lease): boolean {
  if (state.queue.jobs.has(job.id)) return false
  const kept: KeptJob = { job, token: null, heldUntil: 0 }
  state.queue.jobs.set(job.id, kept)
  if (lease !== undefined && (state.queue.groups.get(job.group)?.pausedUntil ?? 0) <= lease.from) {
    kept.token = lease.token
    kept.heldUntil = lease.until
    add(state.queue.held, [lease.until, job.id])
    return true
  }
  wait(state, kept)
  state.news.jobs = true
  return false
}

/** Removes jobs that are held with these tokens. */
export function completeJobs(state: State, claims: readonly Claim[]): void {
  for (const claim of claims) {
    const kept = heldBy(state, claim)
    if (kept === undefined) continue
    takeOut(state, kept)
    state.queue.jobs.delete(claim.id)
  }
}

/** Removes a job, held or not. */
export function removeJob(state: State, id: string): void {
  const kept = state.queue.jobs.get(id)
  if (kept === undefined) return
  takeOut(state, kept)
  state.queue.jobs.delete(id)
}

function groupOf(state: State, name: string): Group {
  const there = state.queue.groups.get(name)
  if (there !== undefined) return there
  const group: Group = { workspace: null, waiting: sorted(), pausedUntil: 0, head: null }
  state.queue.groups.set(name, group)
  return group
}

/** The job, if this claim's token is the last it was taken with. */
function heldBy(state: State, claim: Claim): KeptJob | undefined {
  const kept = state.queue.jobs.get(claim.id)
  return kept !== undefined && kept.token === claim.token ? kept : undefined
}

function wait(state: State, kept: KeptJob): void {
  const { id, workspace, group: name } = kept.job
  const group = groupOf(state, name)
  group.workspace ??= workspace
  const rank = rankOf(kept.job)
  add(group.waiting, [rank, id])
  // Most jobs come behind the job that their group is filed under.
  if (group.head?.list !== 'ready' || rank >= lowRank || compare([group.head.at, group.head.id], [rank, id]) > 0) {
    place(state, name)
  }
}

function hold(state: State, kept: KeptJob, until: number): Claim {
  const { job } = kept
  remove(state.queue.groups.get(job.group)!.waiting, [rankOf(job), job.id])
  kept.token = String(++state.token)
  kept.heldUntil = until
  add(state.queue.held, [until, job.id])
  return claimOf(job, kept.token)
}

/** V8 takes ten times as long for a spread that is followed by another key. */
function claimOf({ id, workspace, group, due_at, priority }: Job, token: string): Claim {
  return priority === undefined
    ? { id, workspace, group, due_at, token }
    : { id, workspace, group, due_at, priority, token }
}

/** Takes a job out of the held jobs or, when the hold has lapsed, out of the waiting jobs of the group. */
function takeOut(state: State, kept: KeptJob): void {
  const { id, group } = kept.job
  if (remove(state.queue.held, [kept.heldUntil, id])) return
  const around = state.queue.groups.get(group)
  if (around !== undefined && remove(around.waiting, [rankOf(kept.job), id])) place(state, group)
}

/**
 * Files a group under its oldest waiting job, or under the end of its pause; forgets the group when it has no waiting
 * job and no pause.
 */
function place(state: State, name: string, { isServed } = { isServed: false }): void {
  const { queue } = state
  const group = groupOf(state, name)
  const before = group.head
  const head = headOf(name, group)
  if (before?.list === head?.list && before?.at === head?.at && before?.id === head?.id && !isServed) return
  if (before?.list === 'paused') remove(queue.paused, [before.at, before.id])
  if (head?.list === 'paused') add(queue.paused, [head.at, head.id])
  if (head === null) queue.groups.delete(name)
  group.head = head
  if (group.workspace === null) return
  const line = queue.lines.get(group.workspace) ?? newLine(state, group.workspace)
  if (before?.list === 'ready') remove(line.ready, [before.at, before.id])
  if (head?.list === 'ready') add(line.ready, [head.at, head.id])
  placeLine(state, group.workspace, line)
}

function newLine({ queue }: State, workspace: string): Line {
  const line: Line = { ready: sorted(), turn: -Infinity }
  queue.lines.set(workspace, line)
  return line
}

/** Files a line under the time of the line's next turn; forgets the line when no group is ready. */
function placeLine({ queue }: State, workspace: string, line: Line): void {
  const head = first(line.ready)
  const turn = head === undefined ? Infinity : Math.max(head[0], queue.served.get(workspace) ?? -Infinity)
  if (turn === line.turn) return
  remove(queue.turns, [line.turn, workspace])
  line.turn = turn
  if (head === undefined) queue.lines.delete(workspace)
  else add(queue.turns, [turn, workspace])
}

/** Notes which workspaces were served now. */
function serve({ queue }: State, claims: readonly Claim[], now: number): void {
  let last: string | undefined
  for (const { workspace } of claims) {
    if (workspace === last) continue
    last = workspace
    queue.served.delete(workspace) // so that it comes last
    queue.served.set(workspace, now)
  }
  if (now < queue.forgetAt) return
  queue.forgetAt = now + forgetEveryMs
  for (const [workspace, at] of queue.served) {
    if (at > now - servedForMs) break
    queue.served.delete(workspace)
  }
}

function headOf(name: string, group: Group): Group['head'] {
  if (group.pausedUntil > 0) return { list: 'paused', at: group.pausedUntil, id: name }
  const oldest = oldestWaiting(group)
  return oldest === undefined ? null : { list: 'ready', at: oldest[0], id: oldest[1] }
}

/** The waiting job that falls due first, whatever the priority: due time and id. */
function oldestWaiting({ waiting }: Group): Position | undefined {
  const usual = first(waiting)
  const low = firstFrom(waiting, lowRank)
  if (low === undefined) return usual
  const due: Position = [low[0] - lowRank, low[1]]
  return usual === undefined || usual[0] >= lowRank || compare(due, usual) < 0 ? due : usual
}

/** Lets jobs whose lease has ended wait again. Their tokens stay good until somebody takes them. */
function lapse(state: State, now: number): void {
  const { held, jobs } = state.queue
  for (let next = first(held); next !== undefined && next[0] <= now; next = first(held)) {
    remove(held, next)
    wait(state, jobs.get(next[1])!)
  }
}

/** Ends pauses whose time has come. */
function wake(state: State, now: number): void {
  const { paused, groups } = state.queue
  for (let next = first(paused); next !== undefined && next[0] <= now; next = first(paused)) {
    groups.get(next[1])!.pausedUntil = 0
    place(state, next[1])
  }
}
