import type { Claim, Job, Lease, Queue } from '../../src/contracts/queue.ts'
import { lowRank, rankOf } from '../../src/core/job-rank.ts'
import { chosen } from './claim.ts'
import { add, ascending, compare, first, firstFrom, type Position, remove, sorted, upTo } from './sorted.ts'
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
        const taken = chosen(state.queue, options)
        const claims = taken.map((kept) => hold(state, kept, now + leaseMs))
        serve(state, taken, now)
        for (const group of new Set(taken.map(({ group }) => group))) place(state, group)
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
          pauseUntil(state, group, Math.max(group.pausedUntil, until))
        }
      }),

    resume: (groups) =>
      access.write((state) => {
        for (const name of groups) {
          const group = state.queue.groups.get(name)
          if (group !== undefined) pauseUntil(state, group, 0)
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
        const waiting = queue.groups.get(group)?.waiting ?? sorted<KeptJob>()
        let due = 0
        for (const from of [0, lowRank]) {
          const jobs = upTo(waiting, now + from, from)
          while (due < maxCounted && jobs.next().done !== true) due++
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
          if (oldest !== null) consider(oldest.due_at)
        }
        for (const [until, id] of ascending(queue.held)) {
          if (until > now) break
          consider(queue.jobs.get(id)!.due_at)
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
          if (oldest !== null) times.push(Math.max(until, oldest.due_at))
        }
        for (const [until, id] of ascending(queue.held)) {
          const { due_at, group } = queue.jobs.get(id)!
          times.push(Math.max(until, due_at, group.pausedUntil))
        }
        return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
      }),

    ...(onAdded && { onAdded }),
  }
}

/** Adds jobs that are not known yet. Answers which of them are held with their leases. */
function addJobs(state: State, jobs: readonly Job[]): readonly string[] {
  const held: string[] = []
  for (const job of jobs) if (addJob(state, job, job.lease)) held.push(job.id)
  return held
}

/**
 * The same for a single job. Storage calls it in the steps in which it writes attempts. Answers whether the job is held with its
 * lease.
 */
export function addJob(state: State, { id, workspace, group: name, due_at, priority }: Job, lease?: Lease): boolean {
  if (state.queue.jobs.has(id)) return false
  const group = groupOf(state, name)
  const kept: KeptJob = { id, due_at, priority, group, token: null, heldUntil: -Infinity }
  state.queue.jobs.set(id, kept)
  group.jobs++
  if (group.line === null) joinLine(state, group, workspace)
  if (lease !== undefined && group.pausedUntil <= lease.from) {
    kept.token = lease.token
    kept.heldUntil = lease.until
    add(state.queue.held, [lease.until, id])
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
    if (kept !== undefined) forget(state, kept)
  }
}

/** Removes a job, held or not. */
export function removeJob(state: State, id: string): void {
  const kept = state.queue.jobs.get(id)
  if (kept !== undefined) forget(state, kept)
}

function forget(state: State, kept: KeptJob): void {
  takeOut(state, kept)
  state.queue.jobs.delete(kept.id)
  kept.group.jobs--
  tidy(state, kept.group)
}

function groupOf(state: State, name: string): Group {
  const there = state.queue.groups.get(name)
  if (there !== undefined) return there
  const group: Group = { name, line: null, waiting: sorted(), jobs: 0, pausedUntil: 0, head: null }
  state.queue.groups.set(name, group)
  return group
}

function joinLine({ queue }: State, group: Group, workspace: string): void {
  let line = queue.lines.get(workspace)
  if (line === undefined) {
    line = { id: workspace, head: null, others: null, turn: Infinity, served: -Infinity, groups: 0 }
    queue.lines.set(workspace, line)
  }
  if (line.groups++ === 0) queue.idle.delete(line)
  group.line = line
}

/** Forgets a group that has neither jobs nor a pause. */
function tidy({ queue }: State, { name, line, jobs, pausedUntil }: Group): void {
  if (jobs > 0 || pausedUntil > 0) return
  queue.groups.delete(name)
  if (line === null || --line.groups > 0) return
  if (line.served === -Infinity) queue.lines.delete(line.id)
  else queue.idle.add(line)
}

/** The job, if this claim's token is the last it was taken with. */
function heldBy(state: State, claim: Claim): KeptJob | undefined {
  const kept = state.queue.jobs.get(claim.id)
  return kept !== undefined && kept.token === claim.token ? kept : undefined
}

function wait(state: State, kept: KeptJob): void {
  const { group } = kept
  const rank = rankOf(kept)
  add(group.waiting, [rank, kept])
  // Most jobs come behind the job that their group is filed under.
  const { head } = group
  if (head === null || rank >= lowRank || compare([head.due_at, head], [rank, kept]) > 0) place(state, group)
}

function hold(state: State, kept: KeptJob, until: number): Claim {
  remove(kept.group.waiting, [rankOf(kept), kept])
  kept.token = String(++state.token)
  kept.heldUntil = until
  add(state.queue.held, [until, kept.id])
  return claimOf(kept, kept.token)
}

/** V8 takes ten times as long for a spread that is followed by another key. */
function claimOf({ id, due_at, priority, group: { name: group, line } }: KeptJob, token: string): Claim {
  const workspace = line!.id // it has a job
  return priority === undefined
    ? { id, workspace, group, due_at, token }
    : { id, workspace, group, due_at, priority, token }
}

/** Takes a job out of the held jobs or, when the hold has lapsed, out of the waiting jobs of the group. */
function takeOut(state: State, kept: KeptJob): void {
  const { id, group } = kept
  if (remove(state.queue.held, [kept.heldUntil, id])) return
  if (remove(group.waiting, [rankOf(kept), kept])) place(state, group)
}

/** Pauses a group until a time, or ends the pause with 0. */
function pauseUntil(state: State, group: Group, until: number): void {
  const { paused } = state.queue
  if (group.pausedUntil > 0) remove(paused, [group.pausedUntil, group.name])
  if (until > 0) add(paused, [until, group.name])
  group.pausedUntil = until
  place(state, group)
}

/**
 * Files a group in its line under its oldest waiting job, unless it is paused; forgets the group when it has neither jobs nor a
 * pause.
 */
function place(state: State, group: Group): void {
  const { line, head: before } = group
  const head = group.pausedUntil > 0 ? null : oldestWaiting(group)
  group.head = head
  if (line !== null) {
    if (before !== head && before !== null) leaveLine(line, before)
    if (before !== head && head !== null) enterLine(line, head)
    placeLine(state, line)
  }
  tidy(state, group)
}

function enterLine(line: Line, job: KeptJob): void {
  const { head } = line
  if (head === null) {
    line.head = job
    return
  }
  const isFirst = compare([job.due_at, job], [head.due_at, head]) < 0
  if (isFirst) line.head = job
  const other = isFirst ? head : job
  line.others ??= sorted()
  add(line.others, [other.due_at, other])
}

function leaveLine(line: Line, job: KeptJob): void {
  const { others } = line
  if (line.head !== job) {
    remove(others!, [job.due_at, job]) // where a job is that is not the head
    return
  }
  const next = others === null ? undefined : first(others)
  line.head = next?.[1] ?? null
  if (next !== undefined) remove(others!, next)
}

/** Files a line under the time of the line's next turn. */
function placeLine({ queue }: State, line: Line): void {
  const turn = line.head === null ? Infinity : Math.max(line.head.due_at, line.served)
  if (turn === line.turn) return
  if (line.turn < Infinity) remove(queue.turns, [line.turn, line])
  line.turn = turn
  if (turn < Infinity) add(queue.turns, [turn, line])
}

/** Notes which workspaces were served now. */
function serve({ queue }: State, taken: readonly KeptJob[], now: number): void {
  for (const { group } of taken) group.line!.served = now // it has a job
  if (now < queue.forgetAt) return
  queue.forgetAt = now + forgetEveryMs
  for (const line of queue.idle) {
    if (line.served > now - servedForMs) break
    queue.idle.delete(line)
    queue.lines.delete(line.id)
  }
}

/** The waiting job that falls due first, whatever the priority. */
function oldestWaiting({ waiting }: Group): KeptJob | null {
  const usual = first(waiting)
  const low = firstFrom(waiting, lowRank)
  if (low === undefined) return usual?.[1] ?? null
  const due: Position<KeptJob> = [low[0] - lowRank, low[1]]
  return usual === undefined || usual[0] >= lowRank || compare(due, usual) < 0 ? low[1] : usual[1]
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
    pauseUntil(state, groups.get(next[1])!, 0) // it has a pause
  }
}
